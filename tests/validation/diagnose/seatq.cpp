// A bounded buffer between a loader and renderers, one tile each, with one condition variable
// for "not full" and "not empty".
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Tile {
    int x, y;
    unsigned cost;
};

class TileQueue {
public:
    explicit TileQueue(size_t limit) : limit_(limit) {}

    void put(const Tile &t)
    {
        std::unique_lock<std::mutex> g(mutex_);
        while (tiles_.size() >= limit_) {
            blocked_puts_++;
            changed_.wait(g);
        }
        tiles_.push_back(t);
        changed_.notify_one();
    }

    Tile get()
    {
        std::unique_lock<std::mutex> g(mutex_);
        while (tiles_.empty()) {
            blocked_gets_++;
            changed_.wait(g);
        }
        Tile t = tiles_.front();
        tiles_.pop_front();
        changed_.notify_one();
        return t;
    }

    size_t size()
    {
        std::lock_guard<std::mutex> g(mutex_);
        return tiles_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Tile> tiles_;
    size_t limit_;
    long blocked_puts_ = 0, blocked_gets_ = 0;
};

static std::atomic<long> cost_in{0}, cost_out{0};
static const int kRenderers = 4;

static unsigned estimate(int x, int y)
{
    unsigned h = 17;

    for (int i = 0; i < 8; i++)
        h = h * 31 + static_cast<unsigned>(x * 7 + y * 3 + i);
    return h % 1000;
}

static void loader(TileQueue *q, int tiles)
{
    for (int i = 0; i < tiles; i++) {
        Tile t = {i % 2, i / 2, estimate(i % 2, i / 2)};

        cost_in.fetch_add(t.cost, std::memory_order_relaxed);
        q->put(t);
    }
}

static void renderer(TileQueue *q)
{
    Tile t = q->get();

    cost_out.fetch_add(t.cost, std::memory_order_relaxed);
}

int main()
{
    TileQueue q(2);
    std::vector<std::thread> threads;

    threads.emplace_back(loader, &q, kRenderers);
    for (int i = 0; i < kRenderers; i++)
        threads.emplace_back(renderer, &q);
    for (std::thread &t : threads)
        t.join();
    std::printf("cost %ld, %zu left\n", cost_in.load(), q.size());
    return cost_in.load() == cost_out.load() && q.size() == 0 ? 0 : 1;
}
