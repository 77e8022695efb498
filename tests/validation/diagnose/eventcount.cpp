#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

class EventCount {
public:
    unsigned ticket() const { return epoch_.load(std::memory_order_acquire); }

    void wait(unsigned ticket) { epoch_.wait(ticket, std::memory_order_acquire); }

    void notify()
    {
        epoch_.fetch_add(1, std::memory_order_acq_rel);
        epoch_.notify_all();
    }

private:
    std::atomic<unsigned> epoch_{0};
};

class Mailbox {
public:
    void post(int value)
    {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            items_.push_back(value);
        }
        event_.notify();
    }

    void close()
    {
        closed_.store(true, std::memory_order_release);
        event_.notify();
    }

    std::optional<int> next()
    {
        for (;;) {
            if (auto value = pop())
                return value;
            if (closed_.load(std::memory_order_acquire) && empty())
                return std::nullopt;
            sleeps_++;
            unsigned ticket = event_.ticket();
            event_.wait(ticket);
        }
    }

    int sleeps() const { return sleeps_; }

private:
    std::optional<int> pop()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        if (items_.empty())
            return std::nullopt;
        int value = items_.front();
        items_.pop_front();
        return value;
    }

    bool empty()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return items_.empty();
    }

    std::mutex mutex_;
    std::deque<int> items_;
    std::atomic<bool> closed_{false};
    EventCount event_;
    int sleeps_ = 0;
};

class Source {
public:
    Source(Mailbox &box, int first, int n) : box_(box), first_(first), n_(n) {}

    void run()
    {
        for (int i = 0; i < n_; i++) {
            box_.post(first_ + i);
            posted_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    static int posted() { return posted_.load(std::memory_order_relaxed); }

private:
    static inline std::atomic<int> posted_{0};
    Mailbox &box_;
    int first_;
    int n_;
};

int main()
{
    Mailbox box;
    Source left(box, 100, 3), right(box, 200, 3);
    int got = 0, sum = 0;
    std::thread consumer([&] {
        while (auto value = box.next()) {
            got++;
            sum += *value;
        }
    });
    std::thread a([&] { left.run(); });
    std::thread b([&] { right.run(); });
    a.join();
    b.join();
    box.close();
    consumer.join();
    std::printf("%d of %d posted, sum %d, slept %s\n", got, Source::posted(), sum, box.sleeps() > 0 ? "yes" : "no");
    return got == 6 && sum == 906 ? 0 : 1;
}
