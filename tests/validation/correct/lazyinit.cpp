// Lazily built services: a double-checked singleton on an atomic pointer,
// call_once, a shared_future that several threads wait for, packaged tasks,
// and thread_local statistics that are merged by their destructor.
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Dictionary {
    std::map<std::string, int> words;
    Dictionary()
    {
        const char *const w[] = {"north", "east", "south", "west"};
        for (int i = 0; i < 4; i++)
            words[w[i]] = i + 1;
    }
};

std::atomic<Dictionary *> dict_ptr{nullptr};
std::mutex dict_lock;
std::atomic<int> dict_built{0}, table_built{0};

const Dictionary &dictionary()
{
    Dictionary *d = dict_ptr.load(std::memory_order_acquire);
    if (!d) {
        std::lock_guard<std::mutex> g(dict_lock);
        d = dict_ptr.load(std::memory_order_relaxed);
        if (!d) {
            d = new Dictionary;
            dict_built++;
            dict_ptr.store(d, std::memory_order_release);
        }
    }
    return *d;
}

std::once_flag table_once;
int table[64];

int table_at(int i)
{
    std::call_once(table_once, [] {
        for (int k = 0; k < 64; k++)
            table[k] = k * 3;
        table_built++;
    });
    return table[i % 64];
}

struct Totals {
    std::mutex lock;
    long lookups = 0;
    int threads = 0;
};

Totals &totals()
{
    static Totals *t = new Totals;      // outlives every thread
    return *t;
}

struct Stats {
    long lookups = 0;
    ~Stats()
    {
        Totals &t = totals();
        std::lock_guard<std::mutex> g(t.lock);
        t.lookups += lookups;
        t.threads++;
    }
};

thread_local Stats stats;

int lookup(const std::string &w, int i)
{
    stats.lookups++;
    auto it = dictionary().words.find(w);
    return (it == dictionary().words.end() ? 0 : it->second) + table_at(i);
}

} // namespace

int main()
{
    const std::string keys[] = {"north", "west", "nowhere"};
    std::promise<int> offset;
    std::shared_future<int> base = offset.get_future().share();
    std::vector<std::thread> pool;
    std::vector<std::future<int>> answers;
    int sum = 0, want = 0;

    for (int t = 0; t < 4; t++) {
        std::packaged_task<int()> job([t, base, &keys] {
            int s = base.get();
            for (int i = 0; i < 30; i++)
                s += lookup(keys[(t + i) % 3], t + i);
            return s;
        });
        answers.push_back(job.get_future());
        pool.emplace_back(std::move(job));
    }
    auto side = std::async(std::launch::async, [&keys] { return lookup(keys[0], 5); });
    auto lazy = std::async(std::launch::deferred, [&keys] { return lookup(keys[1], 6); });
    offset.set_value(1000);
    for (auto &a : answers)
        sum += a.get();
    sum += side.get();
    sum += lazy.get();
    for (auto &t : pool)
        t.join();
    for (int t = 0; t < 4; t++) {
        want += 1000;
        for (int i = 0; i < 30; i++)
            want += ((t + i) % 3 == 0 ? 1 : (t + i) % 3 == 1 ? 4 : 0) + (t + i) % 64 * 3;
    }
    want += 1 + 15 + 4 + 18;
    // The thread behind "side" may still be running its destructors here:
    // only the joined ones are sure to have merged.
    long merged;
    int threads;
    {
        std::lock_guard<std::mutex> g(totals().lock);
        merged = totals().lookups;
        threads = totals().threads;
    }
    std::printf("sum %d of %d, built %d %d\n", sum, want, dict_built.load(),
                table_built.load());
    delete dict_ptr.exchange(nullptr);
    return sum == want && dict_built == 1 && table_built == 1 && threads >= 4 &&
           threads <= 5 && merged >= 120 && merged <= 121 ? 0 : 1;
}
