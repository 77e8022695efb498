#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Frame {
    std::atomic<int> page{-1};
    std::atomic<int> pins{0};
    int loads = 0;
};

class BufferPool {
public:
    static constexpr int frames = 3;

    BufferPool()
    {
        for (int i = 0; i < frames; i++)
            frames_[std::size_t(i)].page = i;
    }

    Frame *pin(int page)
    {
        for (auto &frame : frames_)
            if (frame.page.load() == page) {
                frame.pins.fetch_add(1);
                hits_.fetch_add(1, std::memory_order_relaxed);
                return &frame;
            }
        return nullptr;
    }

    void unpin(Frame *frame)
    {
        frame->pins.fetch_sub(1);
    }

    bool replace(int page)
    {
        std::lock_guard<std::mutex> hold(clock_);
        for (int n = 0; n < frames; n++) {
            Frame &frame = frames_[std::size_t(hand_)];
            hand_ = (hand_ + 1) % frames;
            if (frame.pins.load() == 0) {
                frame.loads++;
                frame.page.store(page);
                return true;
            }
        }
        return false;
    }

    int loads()
    {
        std::lock_guard<std::mutex> hold(clock_);
        int n = 0;
        for (auto &frame : frames_)
            n += frame.loads;
        return n;
    }

    int hits() const { return hits_.load(std::memory_order_relaxed); }

private:
    std::array<Frame, frames> frames_;
    std::mutex clock_;
    int hand_ = 0;
    std::atomic<int> hits_{0};
};

class Reader {
public:
    Reader(BufferPool &pool, int first) : pool_(pool), first_(first) {}

    void run()
    {
        for (int i = 0; i < 4; i++) {
            int page = (first_ + i) % 4;
            Frame *frame = pool_.pin(page);
            if (frame == nullptr) {
                missed_++;
                continue;
            }
            assert(frame->page.load() == page);
            read_ += page;
            pool_.unpin(frame);
        }
    }

    int missed() const { return missed_; }

private:
    BufferPool &pool_;
    int first_;
    int missed_ = 0;
    int read_ = 0;
};

int main()
{
    BufferPool pool;
    Reader a(pool, 0), b(pool, 2);
    std::thread ta([&] { a.run(); });
    std::thread tb([&] { b.run(); });
    int replaced = 0;
    for (int page = 3; page < 6; page++)
        replaced += pool.replace(page);
    ta.join();
    tb.join();
    std::printf("%d replaced, %d hits and misses\n", replaced, pool.hits() + a.missed() + b.missed());
    return pool.hits() + a.missed() + b.missed() != 8 || pool.loads() != replaced;
}
