// Stages of a render pipeline with the C++20 primitives: jthreads that stop
// by token, a latch for start-up, a barrier with a completion step for each
// frame, and a semaphore with a time-out that is expected to run out.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

constexpr int kPainters = 3;
constexpr int kFrames = 12;

struct Frame {
    int no = 0;
    long ink = 0;
};

class Presenter {
public:
    void show(Frame f)
    {
        {
            std::lock_guard<std::mutex> g(m_);
            queue_.push_back(f);
        }
        cv_.notify_one();
    }

    // Runs until asked to stop, and still shows what was queued before.
    void run(std::stop_token st)
    {
        std::unique_lock<std::mutex> g(m_);
        for (;;) {
            cv_.wait(g, st, [this] { return !queue_.empty(); });
            if (queue_.empty())
                return;
            ink_ += queue_.front().ink;
            queue_.pop_front();
            shown_++;
        }
    }

    int shown() const { return shown_; }
    long ink() const { return ink_; }

private:
    std::mutex m_;
    std::condition_variable_any cv_;
    std::deque<Frame> queue_;
    int shown_ = 0;
    long ink_ = 0;
};

Presenter presenter;
std::latch ready(kPainters + 1);
std::counting_semaphore<8> brushes(2);
std::binary_semaphore never(0);
long tile[kPainters];

struct EndOfFrame {
    int *no;
    void operator()() noexcept
    {
        Frame f;
        f.no = ++*no;
        for (long t : tile)
            f.ink += t;
        presenter.show(f);
    }
};

} // namespace

int main()
{
    using namespace std::chrono_literals;
    int frame_no = 0, timeouts = 0;
    std::atomic<int> held{0}, most{0};

    {
        std::jthread show([](std::stop_token st) { presenter.run(st); });
        std::barrier frame(kPainters, EndOfFrame{&frame_no});
        std::vector<std::jthread> painters;

        for (int p = 0; p < kPainters; p++)
            painters.emplace_back([&, p] {
                ready.arrive_and_wait();
                for (int f = 0; f < kFrames; f++) {
                    brushes.acquire();
                    int now = held.fetch_add(1) + 1, was = most.load();
                    while (was < now && !most.compare_exchange_weak(was, now)) {
                    }
                    tile[p] = (p + 1) * (f + 1);
                    held.fetch_sub(1);
                    brushes.release();
                    frame.arrive_and_wait();
                }
            });
        ready.arrive_and_wait();
        for (int i = 0; i < 2; i++)
            if (!never.try_acquire_for(3ms))
                timeouts++;
        for (auto &t : painters)
            t.join();
        show.request_stop();
    }
    long want = 0;
    for (int f = 1; f <= kFrames; f++)
        for (int p = 1; p <= kPainters; p++)
            want += p * f;
    std::printf("shown %d, ink %ld of %ld, time-outs %d\n", presenter.shown(),
                presenter.ink(), want, timeouts);
    return presenter.shown() == kFrames && presenter.ink() == want &&
           timeouts == 2 && most.load() <= 2 ? 0 : 1;
}
