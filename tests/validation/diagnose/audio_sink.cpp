#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

struct Chunk {
    explicit Chunk(size_t n, int step)
    {
        samples.resize(n);
        for (size_t i = 0; i < n; i++)
            samples[i] = static_cast<int16_t>(step * static_cast<int>(i));
    }

    std::vector<int16_t> samples;
};

class RingBuffer {
public:
    void setData(const Chunk *c)
    {
        std::lock_guard<std::mutex> g(mu_);
        data_ = c;
    }

    void setFrames(size_t n)
    {
        std::lock_guard<std::mutex> g(mu_);
        frames_ = n;
    }

    const Chunk *acquire(size_t *n)
    {
        std::lock_guard<std::mutex> g(mu_);
        *n = frames_;
        return data_;
    }

private:
    std::mutex mu_;
    const Chunk *data_ = nullptr;
    size_t frames_ = 0;
};

class AudioSink {
public:
    explicit AudioSink(RingBuffer &ring)
        : ring_(ring)
    {
    }

    void render()
    {
        size_t n = 0;
        const Chunk *c = ring_.acquire(&n);
        if (n > c->samples.size()) {
            fprintf(stderr, "read past end of chunk\n");
            abort();
        }
        long level = 0;
        for (size_t i = 0; i < n; i++)
            level += c->samples[i];
        peak_ = level > peak_ ? level : peak_;
        rendered_ += n;
    }

    void run(int periods)
    {
        for (int i = 0; i < periods; i++)
            render();
    }

    size_t rendered() const
    {
        return rendered_;
    }

    long peak() const
    {
        return peak_;
    }

private:
    RingBuffer &ring_;
    size_t rendered_ = 0;
    long peak_ = 0;
};

class Negotiator {
public:
    explicit Negotiator(RingBuffer &ring)
        : ring_(ring)
    {
        pool_.emplace_back(48, 3);
        pool_.emplace_back(32, 5);
        pool_.emplace_back(16, 7);
    }

    void apply(size_t idx)
    {
        const Chunk &c = pool_[idx % pool_.size()];
        ring_.setData(&c);
        ring_.setFrames(c.samples.size());
        applied_++;
    }

    void renegotiate()
    {
        apply(1);
        apply(2);
    }

    int applied() const
    {
        return applied_;
    }

private:
    RingBuffer &ring_;
    std::vector<Chunk> pool_;
    int applied_ = 0;
};

int main()
{
    RingBuffer ring;
    AudioSink sink(ring);
    Negotiator caps(ring);
    caps.apply(0);
    std::thread out([&sink] { sink.run(10); });
    std::thread ctl([&caps] { caps.renegotiate(); });
    out.join();
    ctl.join();
    printf("%zu frames, peak %ld\n", sink.rendered(), sink.peak());
    return caps.applied() == 3 ? 0 : 1;
}
