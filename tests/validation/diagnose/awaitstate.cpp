// Group commit of a key-value store: writers join a list without locks; the
// oldest leads and writes for all, the others wait for their state to change.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

enum State { Init = 1, Leader = 2, Completed = 4, LockedWaiting = 8 };

struct Writer {
    std::atomic<int> state{Init};
    std::mutex mutex;
    std::condition_variable condition;
    Writer *older = nullptr;
    Writer *newer = nullptr;
    long value = 0;
    long sequence = 0;
};

class WriteThread {
public:
    // Returns the state to go on with, Leader or Completed.
    int join(Writer *w)
    {
        Writer *newest = newest_.load(std::memory_order_relaxed);

        do {
            w->older = newest;
        } while (!newest_.compare_exchange_weak(newest, w));
        if (!newest) {
            w->state.store(Leader, std::memory_order_relaxed);
            return Leader;
        }
        return await(w, Leader | Completed);
    }

    // The last writer of the group that begins with the leader.
    Writer *enter(Writer *leader)
    {
        Writer *newest = newest_.load(std::memory_order_acquire);

        linkNewer(newest);
        (void)leader;
        return newest;
    }

    void exit(Writer *leader, Writer *last)
    {
        Writer *head = last;

        if (!newest_.compare_exchange_strong(head, nullptr)) {
            linkNewer(head);
            last->newer->older = nullptr;
            set(last->newer, Leader);
        }
        while (last != leader) {
            Writer *older = last->older;

            set(last, Completed);
            last = older;
        }
    }

    long blocked() const { return blocked_.load(std::memory_order_relaxed); }

private:
    static void linkNewer(Writer *head)
    {
        for (Writer *older = head->older; older && !older->newer; older = head->older) {
            older->newer = head;
            head = older;
        }
    }

    int await(Writer *w, int goal)
    {
        int state = w->state.load(std::memory_order_acquire);

        if (state & goal)
            return state;
        std::unique_lock<std::mutex> lock(w->mutex);
        state = w->state.load(std::memory_order_acquire);
        if (!(state & goal) && w->state.compare_exchange_strong(state, LockedWaiting)) {
            blocked_.fetch_add(1, std::memory_order_relaxed);
            w->condition.wait(lock, [w] { return w->state.load(std::memory_order_relaxed) != LockedWaiting; });
            state = w->state.load(std::memory_order_relaxed);
        }
        return state;
    }

    static void set(Writer *w, int next)
    {
        int state = w->state.load(std::memory_order_acquire);

        if (state != LockedWaiting && w->state.compare_exchange_strong(state, next))
            return;
        std::lock_guard<std::mutex> lock(w->mutex);
        w->state.store(next, std::memory_order_relaxed);
        w->condition.notify_one();
    }

    std::atomic<Writer *> newest_{nullptr};
    std::atomic<long> blocked_{0};
};

constexpr int kThreads = 4;
constexpr int kWrites = 4;

// Only the leader of the moment touches these.
struct Log {
    long sequence = 0;
    long sum = 0;
    long groups = 0;
};

WriteThread writeThread;
Log wal;

void put(Writer *w)
{
    if (writeThread.join(w) == Completed)
        return;
    Writer *last = writeThread.enter(w);
    for (Writer *each = w;; each = each->newer) {
        each->sequence = ++wal.sequence;
        wal.sum += each->value;
        if (each == last)
            break;
    }
    wal.groups++;
    writeThread.exit(w, last);
}

} // namespace

int main()
{
    std::vector<std::vector<Writer>> writers;
    std::vector<std::thread> threads;
    long expected = 0, sequences = 0;
    constexpr long kAll = kThreads * kWrites;

    for (int t = 0; t < kThreads; t++) {
        writers.emplace_back(kWrites);
        for (int i = 0; i < kWrites; i++)
            expected += writers[t][i].value = 10 * t + i;
    }
    for (int t = 0; t < kThreads; t++)
        threads.emplace_back([&writers, t] {
            for (Writer &w : writers[t])
                put(&w);
        });
    for (std::thread &t : threads)
        t.join();
    for (const auto &of : writers)
        for (const Writer &w : of)
            sequences += w.sequence;
    std::printf("%ld writes in %ld groups, %ld blocked\n", wal.sequence, wal.groups, writeThread.blocked());
    return wal.sum == expected && sequences == kAll * (kAll + 1) / 2 ? 0 : 1;
}
