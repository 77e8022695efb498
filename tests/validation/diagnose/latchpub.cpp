#include <atomic>
#include <cstdio>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

struct Chunk {
    int first;
    int last;
};

class Image {
public:
    explicit Image(int n)
    {
        for (int i = 0; i < n; i++)
            rows_.push_back(unsigned(i * i % 251));
    }

    unsigned row(int i) const { return rows_[std::size_t(i)]; }
    int rows() const { return int(rows_.size()); }

private:
    std::vector<unsigned> rows_;
};

class Progress {
public:
    void step(int n)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        done_ += n;
        shown_ = done_;
    }

    int done()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return done_;
    }

private:
    std::mutex mutex_;
    int done_ = 0;
    int shown_ = 0;
};

class Histogram {
public:
    Histogram(const Image &image, int chunks)
        : image_(image), results_(std::size_t(chunks)), finished_(chunks)
    {
        int per = image.rows() / chunks;
        for (int i = 0; i < chunks; i++)
            chunks_.push_back({i * per, i + 1 == chunks ? image.rows() : (i + 1) * per});
    }

    unsigned total()
    {
        std::vector<std::thread> workers;
        for (int i = 0; i < 2; i++)
            workers.emplace_back([this] { work(); });
        finished_.wait();
        unsigned sum = 0;
        for (unsigned part : results_)
            sum += part;
        for (auto &w : workers)
            w.join();
        return sum;
    }

    int progress() { return progress_.done(); }

private:
    unsigned run_chunk(const Chunk &chunk)
    {
        unsigned sum = 0;
        for (int i = chunk.first; i < chunk.last; i++)
            sum += image_.row(i);
        progress_.step(chunk.last - chunk.first);
        finished_.count_down();
        return sum;
    }

    void work()
    {
        for (;;) {
            std::size_t i = next_.fetch_add(1);
            if (i >= chunks_.size())
                break;
            results_[i] = run_chunk(chunks_[i]);
        }
    }

    const Image &image_;
    std::vector<Chunk> chunks_;
    std::vector<unsigned> results_;
    std::latch finished_;
    std::atomic<std::size_t> next_{0};
    Progress progress_;
};

int main()
{
    Image image(40);
    unsigned right = 0;
    for (int i = 0; i < image.rows(); i++)
        right += image.row(i);
    Histogram histogram(image, 4);
    unsigned total = histogram.total();
    std::printf("total %u of %u, %d rows\n", total, right, histogram.progress());
    return total != right;
}
