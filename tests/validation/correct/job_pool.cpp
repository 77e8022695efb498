#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    Pool(size_t threads, size_t limit)
        : limit_(limit)
    {
        for (size_t i = 0; i < threads; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        {
            std::lock_guard<std::mutex> g(mu_);
            closing_ = true;
        }
        not_empty_.notify_all();
        for (std::thread &t : threads_)
            t.join();
    }

    std::future<long> submit(std::function<long()> fn)
    {
        auto task = std::make_shared<std::packaged_task<long()>>(std::move(fn));
        std::future<long> result = task->get_future();
        {
            std::unique_lock<std::mutex> g(mu_);
            not_full_.wait(g, [this] { return jobs_.size() < limit_; });
            jobs_.push_back([task] { (*task)(); });
        }
        not_empty_.notify_one();
        return result;
    }

    unsigned long done()
    {
        std::lock_guard<std::mutex> g(mu_);
        return done_;
    }

private:
    void work()
    {
        std::unique_lock<std::mutex> g(mu_);
        for (;;) {
            not_empty_.wait(g, [this] { return closing_ || !jobs_.empty(); });
            if (jobs_.empty())
                return;
            std::function<void()> job = std::move(jobs_.front());
            jobs_.pop_front();
            done_++;
            g.unlock();
            not_full_.notify_one();
            job();
            g.lock();
        }
    }

    const size_t limit_;
    std::mutex mu_;
    std::condition_variable not_empty_;
    std::condition_variable not_full_;
    std::deque<std::function<void()>> jobs_;
    bool closing_ = false;
    unsigned long done_ = 0;
    std::vector<std::thread> threads_;
};

static long digest(int from, int to)
{
    long h = 1;
    for (int i = from; i < to; i++)
        h = (h * 33 + i) % 1000003;
    return h;
}

static long run_batch(Pool &pool, int base)
{
    std::vector<std::future<long>> parts;
    for (int i = 0; i < 6; i++) {
        int from = base + i * 10;
        parts.push_back(pool.submit([from] { return digest(from, from + 10); }));
    }
    long total = 0;
    for (auto &p : parts)
        total += p.get();
    return total;
}

static long expected(int base)
{
    long total = 0;
    for (int i = 0; i < 6; i++)
        total += digest(base + i * 10, base + i * 10 + 10);
    return total;
}

int main()
{
    long a = 0;
    long b = 0;
    unsigned long done = 0;
    {
        Pool pool(2, 3);
        std::thread other([&] { b = run_batch(pool, 500); });
        a = run_batch(pool, 0);
        other.join();
        done = pool.done();
    }
    printf("%lu jobs, %ld %ld\n", done, a, b);
    if (a != expected(0) || b != expected(500))
        return 1;
    return done == 12 ? 0 : 1;
}
