// Deliveries by std::async, promise, shared_future and packaged_task; lost
// ones come back as exceptions, through the future or as exception_ptr.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Lost : std::runtime_error {
    Lost(int n) : std::runtime_error("parcel " + std::to_string(n)), no(n) {}
    int no;
};

int carry(int n)
{
    if (n % 5 == 3)
        throw Lost(n);
    int w = 0;
    for (int i = 0; i <= n; i++)
        w += i;
    return w;
}

class Depot {
public:
    std::future<int> post(int n)
    {
        std::packaged_task<int()> t([n] { return carry(n); });
        std::future<int> f = t.get_future();
        {
            std::lock_guard<std::mutex> g(m_);
            tasks_.push_back(std::move(t));
        }
        cv_.notify_one();
        return f;
    }

    void close()
    {
        std::lock_guard<std::mutex> g(m_);
        closed_ = true;
        cv_.notify_all();
    }

    void serve()
    {
        for (;;) {
            std::packaged_task<int()> t;
            {
                std::unique_lock<std::mutex> g(m_);
                cv_.wait(g, [this] { return closed_ || !tasks_.empty(); });
                if (tasks_.empty())
                    return;
                t = std::move(tasks_.front());
                tasks_.pop_front();
            }
            t();
        }
    }

private:
    std::mutex m_;
    std::condition_variable cv_;
    std::deque<std::packaged_task<int()>> tasks_;
    bool closed_ = false;
};

// Sum of what arrives; counts what is lost.
template <class F> void collect(F &f, long &sum, int &lost)
{
    try {
        sum += f.get();
    } catch (const Lost &l) {
        lost += l.no % 5 == 3 ? 1 : 100;
    }
}

} // namespace

int main()
{
    constexpr int kParcels = 20;
    long want = 0, sum_pool = 0, sum_async = 0, sum_start = 0;
    int want_lost = 0, lost_pool = 0, lost_async = 0, lost_ptr = 0;

    for (int n = 0; n < kParcels; n++) {
        if (n % 5 == 3)
            want_lost++;
        else
            want += n * (n + 1) / 2;
    }

    Depot depot;
    std::vector<std::thread> crew;
    for (int i = 0; i < 3; i++)
        crew.emplace_back([&] { depot.serve(); });
    std::vector<std::future<int>> due;
    for (int n = 0; n < kParcels; n++)
        due.push_back(depot.post(n));

    std::vector<std::future<int>> rides;
    for (int n = 0; n < kParcels; n++)
        rides.push_back(std::async(n % 2 ? std::launch::async
                                         : std::launch::deferred, carry, n));
    for (auto &f : rides)
        collect(f, sum_async, lost_async);
    for (auto &f : due)
        collect(f, sum_pool, lost_pool);
    depot.close();
    for (auto &t : crew)
        t.join();

    // One starting shot for all; failures are kept and looked at here.
    std::promise<int> shot;
    std::shared_future<int> start = shot.get_future().share();
    std::mutex m;
    std::vector<std::exception_ptr> failures;
    std::vector<std::thread> riders;
    for (int n = 0; n < 6; n++)
        riders.emplace_back([&, start, n] {
            try {
                int w = start.get() + carry(n);
                std::lock_guard<std::mutex> g(m);
                sum_start += w;
            } catch (...) {
                std::lock_guard<std::mutex> g(m);
                failures.push_back(std::current_exception());
            }
        });
    shot.set_value(7);
    for (auto &t : riders)
        t.join();
    for (auto &p : failures) {
        try {
            std::rethrow_exception(p);
        } catch (const Lost &l) {
            lost_ptr += l.no == 3;
        }
    }
    bool broken = false;
    std::future<int> orphan;
    {
        std::promise<int> dropped;
        orphan = dropped.get_future();
        std::thread([p = std::move(dropped)] {}).join();
    }
    try {
        orphan.get();
    } catch (const std::future_error &e) {
        broken = e.code() == std::future_errc::broken_promise;
    }
    std::printf("pool %ld/%d, async %ld/%d of %ld/%d, start %ld/%d\n", sum_pool,
                lost_pool, sum_async, lost_async, want, want_lost, sum_start,
                lost_ptr);
    return sum_pool == want && sum_async == want && lost_pool == want_lost &&
           lost_async == want_lost && sum_start == 5 * 7 + 0 + 1 + 3 + 10 + 15 &&
           lost_ptr == 1 && failures.size() == 1 && broken ? 0 : 1;
}
