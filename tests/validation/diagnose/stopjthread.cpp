#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <latch>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

class Mailbox {
public:
    bool put(int letter)
    {
        {
            std::lock_guard<std::mutex> g(lock_);
            if (closed_)
                return false;
            letters_.push_back(letter);
        }
        filled_.notify_one();
        return true;
    }

    std::optional<int> take(std::stop_token stop)
    {
        std::unique_lock<std::mutex> g(lock_);
        if (!filled_.wait(g, stop, [this] { return !letters_.empty(); }))
            return std::nullopt;
        int letter = letters_.front();
        letters_.pop_front();
        return letter;
    }

    std::deque<int> close()
    {
        std::lock_guard<std::mutex> g(lock_);
        closed_ = true;
        return std::move(letters_);
    }

private:
    std::mutex lock_;
    std::condition_variable_any filled_;
    std::deque<int> letters_;
    bool closed_ = false;
};

struct Totals {
    std::atomic<long> delivered{0};
    std::atomic<long> accepted{0};
    std::atomic<int> stopped{0};
};

void carrier(std::stop_token stop, Mailbox &box, std::latch &started, Totals &totals)
{
    std::stop_callback on_stop(stop, [&totals] { totals.stopped.fetch_add(1); });
    started.count_down();
    while (std::optional<int> letter = box.take(stop))
        totals.delivered.fetch_add(*letter, std::memory_order_relaxed);
}

void writer(Mailbox &box, Totals &totals, int first)
{
    for (int letter = first; letter < first + 6; letter++)
        if (box.put(letter))
            totals.accepted.fetch_add(letter, std::memory_order_relaxed);
}

} // namespace

int main()
{
    constexpr int kCarriers = 2;
    Mailbox box;
    Totals totals;
    std::latch started(kCarriers);
    long returned = 0;
    {
        std::vector<std::jthread> carriers;
        for (int i = 0; i < kCarriers; i++)
            carriers.emplace_back(carrier, std::ref(box), std::ref(started), std::ref(totals));
        started.wait();
        std::jthread first(writer, std::ref(box), std::ref(totals), 1);
        std::jthread second(writer, std::ref(box), std::ref(totals), 100);
        first.join();
        for (std::jthread &c : carriers)
            c.request_stop();
    }
    for (int letter : box.close())
        returned += letter;
    long delivered = totals.delivered.load();
    std::printf("%d carriers, %s\n", totals.stopped.load(), box.put(7) ? "open" : "closed");
    return delivered + returned != totals.accepted.load() || totals.stopped.load() != kCarriers;
}
