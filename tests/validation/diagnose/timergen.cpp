#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Timer {
public:
    Timer(unsigned period, std::function<void()> callback) : period_(period), callback_(std::move(callback)) {}
    const unsigned period_;
    const std::function<void()> callback_;
    unsigned due_ = 0;
};

using TimerPtr = std::shared_ptr<Timer>;

class TimerThread {
public:
    explicit TimerThread(unsigned ticks) : ticks_(ticks) {}

    void start() { thread_ = std::thread(&TimerThread::run, this); }
    void join() { thread_.join(); }

    void add(const TimerPtr &t)
    {
        std::lock_guard<std::mutex> g(lock_);
        t->due_ = now_ + t->period_;
        timers_.push_back(t);
    }

    void cancel(const TimerPtr &t)
    {
        std::unique_lock<std::mutex> g(lock_);
        idle_.wait(g, [&] { return firing_ != t; });
        for (size_t i = 0; i < timers_.size(); i++) {
            if (timers_[i] == t) {
                timers_.erase(timers_.begin() + i);
                break;
            }
        }
    }

    unsigned fired() const { return fired_; }

private:
    TimerPtr take_due()
    {
        std::lock_guard<std::mutex> g(lock_);
        for (size_t i = 0; i < timers_.size(); i++) {
            TimerPtr t = timers_[i];
            if (t->due_ <= now_) {
                timers_.erase(timers_.begin() + i);
                firing_ = t;
                return t;
            }
        }
        return nullptr;
    }

    void fire(const TimerPtr &t)
    {
        t->callback_();
        {
            std::lock_guard<std::mutex> g(lock_);
            firing_.reset();
            fired_++;
        }
        idle_.notify_all();
        add(t);
    }

    void run()
    {
        while (now_ < ticks_) {
            while (TimerPtr t = take_due())
                fire(t);
            std::lock_guard<std::mutex> g(lock_);
            now_++;
        }
    }

    const unsigned ticks_;
    unsigned now_ = 0;
    unsigned fired_ = 0;
    std::mutex lock_;
    std::condition_variable idle_;
    std::vector<TimerPtr> timers_;
    TimerPtr firing_;
    std::thread thread_;
};

class Document {
public:
    explicit Document(TimerThread &timers) : timers_(timers)
    {
        poll_ = std::make_shared<Timer>(2, [this] { on_poll(); });
        timers_.add(poll_);
    }

    void close()
    {
        timers_.cancel(poll_);
        std::lock_guard<std::mutex> g(lock_);
        closed_ = true;
    }

    int polls() const { return polls_; }

private:
    void on_poll()
    {
        std::lock_guard<std::mutex> g(lock_);
        if (closed_) {
            std::fprintf(stderr, "timer fired in a closed document\n");
            std::abort();
        }
        polls_++;
    }

    TimerThread &timers_;
    std::mutex lock_;
    bool closed_ = false;
    int polls_ = 0;
    TimerPtr poll_;
};

} // namespace

int main()
{
    TimerThread timers(12);
    Document page(timers), frame(timers);
    timers.start();
    page.close();
    frame.close();
    timers.join();
    std::printf("%u timers fired, %d and %d polls\n", timers.fired(), page.polls(), frame.polls());
    return 0;
}
