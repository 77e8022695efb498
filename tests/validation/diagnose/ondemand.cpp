#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

class OnDemandPool {
public:
    explicit OnDemandPool(unsigned max) : max_(max) {}

    ~OnDemandPool()
    {
        for (std::thread &t : threads_)
            t.join();
    }

    void submit(std::function<void()> task)
    {
        std::lock_guard<std::mutex> g(lock_);
        queue_.push_back(std::move(task));
        submitted_++;
        if (active_ < max_ && active_ < queue_.size()) {
            active_++;
            most_ = active_ > most_ ? active_ : most_;
            threads_.emplace_back(&OnDemandPool::work, this);
        }
    }

    void drain()
    {
        std::unique_lock<std::mutex> g(lock_);
        idle_.wait(g, [this] { return active_ == 0; });
    }

    size_t left()
    {
        std::lock_guard<std::mutex> g(lock_);
        return queue_.size();
    }

    unsigned most() const { return most_; }

private:
    bool take(std::function<void()> &task)
    {
        std::lock_guard<std::mutex> g(lock_);
        if (queue_.empty())
            return false;
        task = std::move(queue_.front());
        queue_.pop_front();
        return true;
    }

    void retire()
    {
        std::lock_guard<std::mutex> g(lock_);
        if (--active_ == 0)
            idle_.notify_all();
    }

    void work()
    {
        std::function<void()> task;
        while (take(task))
            task();
        retire();
    }

    const unsigned max_;
    unsigned active_ = 0;
    unsigned most_ = 0;
    unsigned long submitted_ = 0;
    std::mutex lock_;
    std::condition_variable idle_;
    std::deque<std::function<void()>> queue_;
    std::vector<std::thread> threads_;
};

struct Client {
    OnDemandPool &pool;
    std::atomic<int> &executed;
    int requests;

    void operator()()
    {
        for (int i = 0; i < requests; i++)
            pool.submit([this] { executed.fetch_add(1, std::memory_order_relaxed); });
    }
};

} // namespace

int main()
{
    std::atomic<int> executed{0};
    OnDemandPool pool(1);
    Client a{pool, executed, 2}, b{pool, executed, 3};
    std::thread ta(std::ref(a)), tb(std::ref(b));
    ta.join();
    tb.join();
    pool.drain();
    std::printf("%d requests executed, %zu left in the queue, at most %u threads\n", executed.load(), pool.left(),
                pool.most());
    return executed.load() != 5;
}
