#include <atomic>
#include <cstdio>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

class Arena {
public:
    static constexpr int count = 3;

    int take()
    {
        permits_.acquire();
        std::lock_guard<std::mutex> hold(mutex_);
        for (int i = 0; i < count; i++)
            if (!used_[i]) {
                used_[i] = true;
                return i;
            }
        return -1;
    }

    void give(int index)
    {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            used_[index] = false;
        }
        permits_.release();
    }

    std::vector<int> &buffer(int index) { return buffers_[index]; }

private:
    std::counting_semaphore<count> permits_{count};
    std::mutex mutex_;
    bool used_[count] = {};
    std::vector<int> buffers_[count] = {std::vector<int>(8), std::vector<int>(8), std::vector<int>(8)};
};

class Encoder {
public:
    Encoder(Arena &arena, int id) : arena_(arena), id_(id) {}

    void encode(int frame)
    {
        int source = arena_.take();
        load(arena_.buffer(source), frame);
        int target = arena_.take();
        transform(arena_.buffer(source), arena_.buffer(target));
        for (int v : arena_.buffer(target))
            sum_ += v;
        arena_.give(target);
        arena_.give(source);
        frames_.fetch_add(1, std::memory_order_relaxed);
    }

    void preview(int frame)
    {
        int only = arena_.take();
        load(arena_.buffer(only), frame);
        arena_.give(only);
        previews_++;
    }

    long sum() const { return sum_; }
    static int frames() { return frames_.load(std::memory_order_relaxed); }

private:
    void load(std::vector<int> &buffer, int frame) const
    {
        for (std::size_t i = 0; i < buffer.size(); i++)
            buffer[i] = frame * 10 + int(i) + id_;
    }

    static void transform(const std::vector<int> &from, std::vector<int> &to)
    {
        for (std::size_t i = 0; i < from.size(); i++)
            to[i] = from[i] + from[from.size() - 1 - i];
    }

    static inline std::atomic<int> frames_{0};
    Arena &arena_;
    int id_;
    long sum_ = 0;
    int previews_ = 0;
};

int main()
{
    Arena arena;
    std::vector<Encoder> encoders;
    for (int i = 0; i < 3; i++)
        encoders.emplace_back(arena, i);
    std::vector<std::thread> threads;
    for (auto &e : encoders)
        threads.emplace_back([&e] {
            e.preview(0);
            for (int frame = 0; frame < 2; frame++)
                e.encode(frame);
        });
    for (auto &t : threads)
        t.join();
    long sum = 0, right = 0;
    for (int i = 0; i < 3; i++) {
        sum += encoders[std::size_t(i)].sum();
        for (int frame = 0; frame < 2; frame++)
            right += 8L * (2 * (frame * 10 + i) + 7);
    }
    std::printf("%d frames, sum %ld of %ld\n", Encoder::frames(), sum, right);
    return sum != right;
}
