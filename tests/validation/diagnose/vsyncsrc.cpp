#include <atomic>
#include <cstdio>
#include <thread>

namespace {

struct DisplayMode {
    int hz;
    long interval;
};

const DisplayMode modes[] = {{60, 16667}, {144, 6944}, {90, 11111}, {120, 8333}};

class VSyncSource {
public:
    VSyncSource(long timebase, long interval) : timebase_(timebase), interval_(interval) {}

    void set_parameters(long timebase, long interval)
    {
        timebase_.store(timebase, std::memory_order_release);
        interval_.store(interval, std::memory_order_release);
        updates_.fetch_add(1, std::memory_order_relaxed);
    }

    long timebase() const { return timebase_.load(std::memory_order_acquire); }
    long interval() const { return interval_.load(std::memory_order_acquire); }
    int updates() const { return updates_.load(std::memory_order_relaxed); }

private:
    std::atomic<long> timebase_;
    std::atomic<long> interval_;
    std::atomic<int> updates_{0};
};

class FrameScheduler {
public:
    explicit FrameScheduler(const VSyncSource &source) : source_(source) {}

    long next_tick(long now)
    {
        long interval = source_.interval();
        long timebase = source_.timebase();
        long behind = now > timebase ? (now - timebase) % interval : 0;
        long tick = behind == 0 ? now : now + interval - behind;
        check(timebase, interval);
        frames_++;
        return tick;
    }

    int misaligned() const { return misaligned_; }
    int frames() const { return frames_; }

private:
    void check(long timebase, long interval)
    {
        if (timebase % interval != 0) {
            std::fprintf(stderr, "phase %ld does not belong to an interval of %ld\n", timebase % interval, interval);
            misaligned_++;
        }
    }

    const VSyncSource &source_;
    int frames_ = 0;
    int misaligned_ = 0;
};

class GpuProcess {
public:
    explicit GpuProcess(VSyncSource &source) : source_(source) {}

    void run()
    {
        long vblanks = 100;
        for (const DisplayMode &mode : modes) {
            switch_mode(mode, vblanks);
            vblanks += mode.hz;
        }
    }

private:
    void switch_mode(const DisplayMode &mode, long vblanks)
    {
        mode_hz_.store(mode.hz, std::memory_order_relaxed);
        source_.set_parameters(vblanks * mode.interval, mode.interval);
    }

    VSyncSource &source_;
    std::atomic<int> mode_hz_{0};
};

} // namespace

int main()
{
    VSyncSource source(10 * modes[0].interval, modes[0].interval);
    GpuProcess gpu(source);
    FrameScheduler first(source), second(source);
    long last = 0;
    std::thread updater(&GpuProcess::run, &gpu);
    std::thread compositor([&] {
        long now = 200000;
        for (int i = 0; i < 6; i++)
            now = first.next_tick(now + 1);
        last = now;
    });
    std::thread browser([&] {
        long now = 300000;
        for (int i = 0; i < 4; i++)
            now = second.next_tick(now + 2);
    });
    updater.join();
    compositor.join();
    browser.join();
    std::printf("%d frames, %d updates, last tick %ld\n", first.frames() + second.frames(), source.updates(), last);
    return first.misaligned() + second.misaligned() != 0;
}
