// Two ways to give memory back late: a stack whose nodes are protected by
// hazard pointers, and a table replaced under epochs (a small RCU).
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr int kItems = 120;
constexpr int kTables = 20;

std::atomic<int> alive{0}; // nodes and tables not yet deleted

struct Node {
    explicit Node(int v) : value(v) { alive.fetch_add(1); }
    ~Node() { value = -1; alive.fetch_sub(1); }
    int value;
    Node *next = nullptr;
};

class HazardStack {
public:
    void push(int v)
    {
        Node *n = new Node(v);
        n->next = head_.load();
        while (!head_.compare_exchange_weak(n->next, n)) {
        }
    }

    bool pop(int me, int &v)
    {
        Node *p;
        for (;;) {
            p = head_.load();
            hazard_[me].p.store(p);
            if (head_.load() != p)
                continue; // perhaps deleted already, announce again
            if (!p)
                return false;
            Node *next = p->next;
            if (head_.compare_exchange_strong(p, next))
                break;
        }
        v = p->value;
        hazard_[me].p.store(nullptr);
        retired_[me].push_back(p);
        if (retired_[me].size() >= 2 * kThreads)
            scan(me);
        return true;
    }

    // After all threads are gone.
    void drop_rest()
    {
        for (auto &list : retired_) {
            for (Node *n : list)
                delete n;
            list.clear();
        }
    }

private:
    void scan(int me)
    {
        std::vector<Node *> busy, keep;
        for (auto &h : hazard_)
            if (Node *p = h.p.load())
                busy.push_back(p);
        for (Node *n : retired_[me]) {
            if (std::find(busy.begin(), busy.end(), n) != busy.end())
                keep.push_back(n);
            else
                delete n;
        }
        retired_[me].swap(keep);
    }

    struct alignas(64) Slot { std::atomic<Node *> p{nullptr}; };
    std::atomic<Node *> head_{nullptr};
    Slot hazard_[kThreads];
    std::vector<Node *> retired_[kThreads]; // each used by its thread only
};

struct Table {
    explicit Table(int f) : first(f), last(f) { alive.fetch_add(1); }
    ~Table() { first = 0; last = -1; alive.fetch_sub(1); }
    int first, last;
};

class EpochTable {
public:
    EpochTable() : cur_(new Table(1)) {}
    ~EpochTable() { delete cur_.load(); }

    bool read(int me)
    {
        auto &slot = reader_[me].epoch;
        slot.store(epoch_.load());
        const Table *t = cur_.load();
        bool ok = t->first == t->last && t->first >= 1;
        slot.store(0);
        return ok;
    }

    // Must not be called from within a read.
    void replace(int me)
    {
        (void)me;
        std::lock_guard<std::mutex> g(writer_);
        Table *fresh = new Table(cur_.load()->first + 1);
        Table *old = cur_.exchange(fresh);
        unsigned long now = epoch_.fetch_add(1) + 1;
        for (auto &r : reader_)
            for (;;) {
                unsigned long e = r.epoch.load();
                if (e == 0 || e >= now)
                    break;
                std::this_thread::yield();
            }
        delete old;
    }

    int edition() const { return cur_.load()->first; }

private:
    struct alignas(64) Slot { std::atomic<unsigned long> epoch{0}; };
    std::atomic<Table *> cur_;
    std::atomic<unsigned long> epoch_{1};
    Slot reader_[kThreads];
    std::mutex writer_;
};

} // namespace

int main()
{
    HazardStack stack;
    std::atomic<long> sum{0};
    std::atomic<int> popped{0}, torn{0};
    int edition = 0;

    {
        EpochTable table;
        std::vector<std::thread> crew;
        for (int me = 0; me < kThreads; me++)
            crew.emplace_back([&, me] {
                int v;
                for (int i = 0; i < kItems; i++) {
                    stack.push(me * kItems + i);
                    if (!table.read(me))
                        torn.fetch_add(1);
                    if (i % (kItems / kTables) == me)
                        table.replace(me);
                    if (i % 3 != 0 && stack.pop(me, v)) {
                        sum.fetch_add(v);
                        popped.fetch_add(1);
                    }
                }
                while (stack.pop(me, v)) {
                    sum.fetch_add(v);
                    popped.fetch_add(1);
                }
            });
        for (auto &t : crew)
            t.join();
        edition = table.edition();
    }
    stack.drop_rest();
    long n = kThreads * kItems, want = n * (n - 1) / 2;
    std::printf("popped %d, sum %ld of %ld, edition %d, alive %d\n",
                popped.load(), sum.load(), want, edition, alive.load());
    return popped.load() == n && sum.load() == want && torn.load() == 0 &&
           edition == 1 + kThreads * kTables && alive.load() == 0 ? 0 : 1;
}
