// Completion queue: events in a list with a lock of its own, and a count of
// events that are ready, with another, that pollers look at first.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Event {
    int tag;
    bool ok;
};

class CompletionQueue {
public:
    void begin_op() { pending_.fetch_add(1); }

    void end_op(int tag)
    {
        {
            std::lock_guard<std::mutex> g(count_mutex_);
            ready_++;
        }
        {
            std::lock_guard<std::mutex> g(list_mutex_);
            events_.push_back(Event{tag, true});
        }
        pending_.fetch_sub(1);
    }

    // False if nothing is ready.
    bool next(Event *ev)
    {
        {
            std::lock_guard<std::mutex> g(count_mutex_);
            if (ready_ == 0)
                return false;
            ready_--;
        }
        std::lock_guard<std::mutex> g(list_mutex_);
        if (events_.empty()) {
            std::fprintf(stderr, "completion queue: event promised but none there\n");
            std::exit(1);
        }
        *ev = events_.front();
        events_.pop_front();
        return true;
    }

    int pending() const { return pending_.load(); }

private:
    std::mutex count_mutex_;
    std::mutex list_mutex_;
    int ready_ = 0;
    std::deque<Event> events_;
    std::atomic<int> pending_{0};
};

struct Totals {
    std::mutex mutex;
    long tags = 0;
    int events = 0;
};

static void transport(CompletionQueue *cq, int id)
{
    for (int i = 0; i < 3; i++)
        cq->end_op(10 * id + i);
}

static void poller(CompletionQueue *cq, Totals *t)
{
    for (int idle = 0; idle < 6;) {
        Event ev;

        if (!cq->next(&ev)) {
            idle++;
            continue;
        }
        std::lock_guard<std::mutex> g(t->mutex);
        t->tags += ev.tag;
        t->events++;
    }
}

int main()
{
    CompletionQueue cq;
    Totals t;
    std::vector<std::thread> threads;
    Event ev;

    for (int i = 0; i < 6; i++)
        cq.begin_op();
    threads.emplace_back(transport, &cq, 1);
    threads.emplace_back(poller, &cq, &t);
    threads.emplace_back(transport, &cq, 2);
    threads.emplace_back(poller, &cq, &t);
    for (std::thread &th : threads)
        th.join();
    while (cq.next(&ev)) {
        t.tags += ev.tag;
        t.events++;
    }
    std::printf("%d events, tags %ld, %d pending\n", t.events, t.tags, cq.pending());
    return t.events == 6 && t.tags == 96 ? 0 : 1;
}
