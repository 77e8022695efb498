#include <atomic>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

enum State { Pending, Fulfilled, Rejected };

class Promise {
public:
    explicit Promise(std::function<void(State, int)> handler) : handler_(std::move(handler)) {}

    bool settle(State how, int value)
    {
        if (state_.load() != Pending)
            return false;
        state_.store(how);
        handler_(how, value);
        return true;
    }

    State state() const { return state_.load(std::memory_order_relaxed); }

private:
    std::atomic<State> state_{Pending};
    std::function<void(State, int)> handler_;
};

class Journal {
public:
    void add(State how, int value)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        (how == Fulfilled ? good_ : late_)++;
        sum_ += value;
    }

    int entries()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return good_ + late_;
    }

private:
    std::mutex mutex_;
    int good_ = 0;
    int late_ = 0;
    int sum_ = 0;
};

class Client {
public:
    explicit Client(int n)
    {
        for (int i = 0; i < n; i++)
            calls_.push_back(std::make_unique<Promise>([this](State how, int value) { journal_.add(how, value); }));
    }

    void replies()
    {
        for (std::size_t i = 0; i < calls_.size(); i++)
            if (calls_[i]->settle(Fulfilled, int(i)))
                answered_.fetch_add(1, std::memory_order_relaxed);
    }

    void expire()
    {
        for (std::size_t i = calls_.size(); i-- > 0;)
            if (i % 2 == 0 && calls_[i]->settle(Rejected, -1))
                expired_.fetch_add(1, std::memory_order_relaxed);
    }

    bool sound()
    {
        int pending = 0;
        for (auto &call : calls_)
            pending += call->state() == Pending;
        std::printf("%d answered, %d expired, %d entries, %d pending\n", answered_.load(), expired_.load(),
                    journal_.entries(), pending);
        return pending == 0 && journal_.entries() == int(calls_.size());
    }

private:
    std::vector<std::unique_ptr<Promise>> calls_;
    Journal journal_;
    std::atomic<int> answered_{0};
    std::atomic<int> expired_{0};
};

int main()
{
    Client client(5);
    std::thread reply([&] { client.replies(); });
    std::thread timer([&] { client.expire(); });
    reply.join();
    timer.join();
    return client.sound() ? 0 : 1;
}
