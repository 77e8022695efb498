// Parcels go through a bounded multi-producer multi-consumer queue to two
// loaders, each with a work-stealing deque; whoever is idle steals.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kSenders = 2;
constexpr int kLoaders = 2;
constexpr int kEach = 150;
constexpr int kAll = kSenders * kEach;

// Ring with a sequence number in every cell (after D. Vyukov).
class Belt {
public:
    Belt()
    {
        for (std::size_t i = 0; i < kCap; i++)
            cell_[i].seq.store(i, std::memory_order_relaxed);
    }

    bool put(int v)
    {
        std::size_t pos = in_.load(std::memory_order_relaxed);
        for (;;) {
            Cell &c = cell_[pos % kCap];
            auto dif = static_cast<std::intptr_t>(
                c.seq.load(std::memory_order_acquire) - pos);
            if (dif < 0)
                return false;
            if (dif > 0)
                pos = in_.load(std::memory_order_relaxed);
            else if (in_.compare_exchange_weak(pos, pos + 1,
                                               std::memory_order_relaxed)) {
                c.value = v;
                c.seq.store(pos + 1, std::memory_order_release);
                return true;
            }
        }
    }

    bool get(int &v)
    {
        std::size_t pos = out_.load(std::memory_order_relaxed);
        for (;;) {
            Cell &c = cell_[pos % kCap];
            auto dif = static_cast<std::intptr_t>(
                c.seq.load(std::memory_order_acquire) - (pos + 1));
            if (dif < 0)
                return false;
            if (dif > 0)
                pos = out_.load(std::memory_order_relaxed);
            else if (out_.compare_exchange_weak(pos, pos + 1,
                                                std::memory_order_relaxed)) {
                v = c.value;
                c.seq.store(pos + kCap, std::memory_order_release);
                return true;
            }
        }
    }

private:
    static constexpr std::size_t kCap = 16;
    struct Cell {
        std::atomic<std::size_t> seq;
        int value = 0;
    };
    Cell cell_[kCap];
    alignas(64) std::atomic<std::size_t> in_{0};
    alignas(64) std::atomic<std::size_t> out_{0};
};

// Chase-Lev deque of fixed size with the fences of Le, Pop, Cohen and
// Zappa Nardelli (PPoPP 2013).
class Deque {
public:
    bool push(int v) // owner
    {
        long b = bottom_.load(std::memory_order_relaxed);
        long t = top_.load(std::memory_order_acquire);
        if (b - t >= kCap)
            return false;
        buf_[b % kCap].store(v, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bottom_.store(b + 1, std::memory_order_relaxed);
        return true;
    }

    bool take(int &v) // owner
    {
        long b = bottom_.load(std::memory_order_relaxed) - 1;
        bottom_.store(b, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        long t = top_.load(std::memory_order_relaxed);
        if (t > b) {
            bottom_.store(b + 1, std::memory_order_relaxed);
            return false;
        }
        v = buf_[b % kCap].load(std::memory_order_relaxed);
        if (t < b)
            return true;
        bool won = top_.compare_exchange_strong(t, t + 1,
                                                std::memory_order_seq_cst,
                                                std::memory_order_relaxed);
        bottom_.store(b + 1, std::memory_order_relaxed);
        return won;
    }

    bool steal(int &v) // anybody
    {
        long t = top_.load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        long b = bottom_.load(std::memory_order_acquire);
        if (t >= b)
            return false;
        v = buf_[t % kCap].load(std::memory_order_relaxed);
        return top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                            std::memory_order_relaxed);
    }

private:
    static constexpr long kCap = 32;
    alignas(64) std::atomic<long> top_{0};
    alignas(64) std::atomic<long> bottom_{0};
    std::atomic<int> buf_[kCap] = {};
};

Belt belt;
Deque deque_of[kLoaders];
std::atomic<int> times[kAll];
std::atomic<int> delivered{0};

void deliver(int v)
{
    times[v].fetch_add(1, std::memory_order_relaxed);
    delivered.fetch_add(1, std::memory_order_release);
}

void loader(int me)
{
    int v;

    while (delivered.load(std::memory_order_acquire) < kAll) {
        bool busy = false;
        for (int i = 0; i < 5 && belt.get(v); i++) {
            busy = true;
            if (!deque_of[me].push(v))
                deliver(v); // no room, at once then
        }
        for (int i = 0; i < 3 && deque_of[me].take(v); i++) {
            busy = true;
            deliver(v);
        }
        if (!busy && deque_of[(me + 1) % kLoaders].steal(v)) {
            busy = true;
            deliver(v);
        }
        if (!busy)
            std::this_thread::yield();
    }
}

} // namespace

int main()
{
    std::vector<std::thread> crew;

    for (int me = 0; me < kLoaders; me++)
        crew.emplace_back(loader, me);
    for (int s = 0; s < kSenders; s++)
        crew.emplace_back([s] {
            for (int i = 0; i < kEach; i++)
                while (!belt.put(s * kEach + i))
                    std::this_thread::yield();
        });
    crew.emplace_back([] { // only steals
        int v;
        while (delivered.load(std::memory_order_acquire) < kAll) {
            bool got = false;
            for (auto &d : deque_of)
                if (d.steal(v)) {
                    deliver(v);
                    got = true;
                }
            if (!got)
                std::this_thread::yield();
        }
    });
    for (auto &t : crew)
        t.join();
    int bad = 0;
    for (auto &t : times)
        bad += t.load() != 1;
    std::printf("delivered %d of %d, wrong %d\n", delivered.load(), kAll, bad);
    return delivered.load() == kAll && bad == 0 ? 0 : 1;
}
