#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kReaders = 2;
constexpr int kTables = 5;

struct RouteTable {
    const int *weights = nullptr;
    int entries = 0;
    int generation = 0;
};

const int weights_even[4] = {2, 4, 6, 8};
const int weights_odd[4] = {1, 3, 5, 7};

class HazardSlots {
public:
    void set(int slot, RouteTable *t) { slots_[slot].store(t); }
    void clear(int slot) { slots_[slot].store(nullptr); }

    bool held(const RouteTable *t) const
    {
        for (const auto &s : slots_)
            if (s.load() == t)
                return true;
        return false;
    }

private:
    std::atomic<RouteTable *> slots_[kReaders] = {};
};

class Router {
public:
    Router() { current_.store(build(0)); }

    long route(int slot, unsigned key)
    {
        RouteTable *t = current_.load();
        hazards_.set(slot, t);
        long w = t->weights[key % t->entries];
        hazards_.clear(slot);
        lookups_.fetch_add(1, std::memory_order_relaxed);
        return w;
    }

    void reload(int generation)
    {
        RouteTable *old = current_.exchange(build(generation));
        retired_.push_back(old);
        scan();
    }

    long lookups() const { return lookups_.load(std::memory_order_relaxed); }
    int recycled() const { return recycled_; }

private:
    RouteTable *build(int generation)
    {
        RouteTable *t = &pool_[generation % kTables];
        t->weights = generation % 2 ? weights_odd : weights_even;
        t->entries = 4;
        t->generation = generation;
        return t;
    }

    void scan()
    {
        for (size_t i = 0; i < retired_.size();) {
            if (hazards_.held(retired_[i])) {
                i++;
                continue;
            }
            recycle(retired_[i]);
            retired_.erase(retired_.begin() + i);
        }
    }

    void recycle(RouteTable *t)
    {
        t->weights = nullptr;
        t->entries = 0;
        recycled_++;
    }

    RouteTable pool_[kTables];
    std::atomic<RouteTable *> current_{nullptr};
    HazardSlots hazards_;
    std::vector<RouteTable *> retired_;
    std::atomic<long> lookups_{0};
    int recycled_ = 0;
};

} // namespace

int main()
{
    Router router;
    long sums[kReaders] = {};
    std::vector<std::thread> readers;
    for (int r = 0; r < kReaders; r++)
        readers.emplace_back([&router, &sums, r] {
            for (unsigned key = 0; key < 8; key++)
                sums[r] += router.route(r, key * 3 + r);
        });
    for (int g = 1; g < kTables; g++)
        router.reload(g);
    for (std::thread &t : readers)
        t.join();
    std::printf("%ld lookups, %d tables recycled, %s\n", router.lookups(), router.recycled(),
                sums[0] + sums[1] > 0 ? "ok" : "no weights");
    return 0;
}
