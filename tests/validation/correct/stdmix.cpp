// std::async tasks, a shared_mutex with condition_variable_any, call_once
// and thread_local objects with destructors.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex totals_lock;
static long totals;
static int flushed;
static std::once_flag once;
static int inits;

struct Local {
    long sum = 0;
    int notes = 0;
    ~Local()
    {
        std::lock_guard<std::mutex> g(totals_lock);
        totals += sum;
        flushed++;
    }
};

static thread_local Local local;

class Table {
public:
    void Put(int k, std::string v)
    {
        {
            std::unique_lock<std::shared_mutex> g(lock_);
            map_[k] = std::move(v);
        }
        cond_.notify_all();
    }

    size_t Wait(int k)
    {
        std::shared_lock<std::shared_mutex> g(lock_);
        cond_.wait(g, [&] { return map_.count(k) != 0; });
        return map_.at(k).size();
    }

private:
    std::shared_mutex lock_;
    std::condition_variable_any cond_;
    std::map<int, std::string> map_;
};

static Table table;

static void Setup()
{
    inits++;
    table.Put(0, "zero");
}

static void Reader(int from, int to)
{
    std::call_once(once, Setup);
    for (int k = from; k <= to; k++) {
        local.sum += (long)table.Wait(k);
        local.notes++;
    }
}

static int Writer(int from, int to)
{
    int n = 0;
    std::call_once(once, Setup);
    for (int k = to; k >= from; k--, n++)
        table.Put(k, std::string((size_t)k, 'x'));
    return n;
}

int main()
{
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; i++)
        readers.emplace_back(Reader, 0, 20);
    std::future<int> a = std::async(std::launch::async, Writer, 1, 10);
    std::future<int> b = std::async(std::launch::async, Writer, 11, 20);
    std::future<int> d = std::async(std::launch::deferred, [] { return 5; });
    int n = a.get() + b.get() + d.get();
    for (auto &t : readers)
        t.join();
    std::lock_guard<std::mutex> g(totals_lock);
    std::printf("n %d, totals %ld, flushed %d, inits %d\n", n, totals, flushed, inits);
    return n == 25 && totals == 3 * 214 && flushed == 3 && inits == 1 ? 0 : 1;
}
