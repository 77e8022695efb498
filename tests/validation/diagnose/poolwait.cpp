// Thread pool: wait() returns when all tasks that were given to it are done.
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

class ThreadPool {
public:
    explicit ThreadPool(int threads)
    {
        for (int i = 0; i < threads; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~ThreadPool()
    {
        {
            std::lock_guard<std::mutex> lock(queueLock_);
            enabled_ = false;
        }
        queueCondition_.notify_all();
        for (std::thread &t : threads_)
            t.join();
    }

    void async(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> lock(queueLock_);
            tasks_.push_back(std::move(task));
        }
        submitted_.fetch_add(1, std::memory_order_relaxed);
        queueCondition_.notify_one();
    }

    void wait()
    {
        std::unique_lock<std::mutex> lock(completionLock_);
        completionCondition_.wait(lock, [this] { return queueEmpty() && active_ == 0; });
    }

    long submitted() const { return submitted_.load(std::memory_order_relaxed); }

private:
    bool queueEmpty()
    {
        std::lock_guard<std::mutex> lock(queueLock_);
        return tasks_.empty();
    }

    bool nextTask(std::function<void()> &task)
    {
        std::unique_lock<std::mutex> lock(queueLock_);
        queueCondition_.wait(lock, [this] { return !enabled_ || !tasks_.empty(); });
        if (tasks_.empty())
            return false;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        return true;
    }

    void work()
    {
        std::function<void()> task;

        while (nextTask(task)) {
            {
                std::lock_guard<std::mutex> lock(completionLock_);
                active_++;
            }
            task();
            {
                std::lock_guard<std::mutex> lock(completionLock_);
                active_--;
            }
            completionCondition_.notify_all();
        }
    }

    std::mutex queueLock_;
    std::condition_variable queueCondition_;
    std::deque<std::function<void()>> tasks_;
    bool enabled_ = true;

    std::mutex completionLock_;
    std::condition_variable completionCondition_;
    int active_ = 0;

    std::atomic<long> submitted_{0};
    std::vector<std::thread> threads_;
};

constexpr int kFunctions = 6;
constexpr int kThreads = 3;

// Size of the code of a function, as the back end would make it.
long codegen(int function)
{
    long size = 0;

    for (int i = 0; i <= function; i++)
        size += 16 + 3 * i;
    return size;
}

} // namespace

int main()
{
    std::vector<std::atomic<long>> sizes(kFunctions);
    long total = 0, expected = 0, tasks = 0;

    {
        ThreadPool pool(kThreads);

        for (int i = 0; i < kFunctions; i++)
            pool.async([&sizes, i] { sizes[i].store(codegen(i)); });
        pool.wait();
        for (std::atomic<long> &size : sizes)
            total += size.load();
        tasks = pool.submitted();
    }
    for (int i = 0; i < kFunctions; i++)
        expected += codegen(i);
    std::printf("%ld tasks, %ld bytes of code\n", tasks, total);
    return total == expected ? 0 : 1;
}
