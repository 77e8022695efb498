// Work stealing: every worker has a deck with a lock, takes from its own end
// and steals from the other end of others'; ends when all work is counted.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

struct Deck {
    std::mutex mutex;
    std::deque<int> cards;
};

static const int kWorkers = 3, kCards = 60;
static std::vector<Deck> decks(kWorkers);
static std::atomic<int> left{0};
static std::atomic<long> total{0};
static std::once_flag announced;
static int announcements = 0;

static std::optional<int> take(int me)
{
    {
        std::lock_guard<std::mutex> g(decks[me].mutex);
        if (!decks[me].cards.empty()) {
            int c = decks[me].cards.back();

            decks[me].cards.pop_back();
            return c;
        }
    }
    for (int i = 1; i < kWorkers; i++) {
        Deck &d = decks[(me + i) % kWorkers];
        std::unique_lock<std::mutex> g(d.mutex, std::try_to_lock);

        if (g.owns_lock() && !d.cards.empty()) {
            int c = d.cards.front();

            d.cards.pop_front();
            return c;
        }
    }
    return std::nullopt;
}

static void worker(int me)
{
    std::call_once(announced, [] { announcements++; });
    while (left.load() > 0) {
        std::optional<int> c = take(me);

        if (!c) {
            std::this_thread::yield();
            continue;
        }
        if (*c % 10 == 0 && *c > 0) {           // makes one more
            left.fetch_add(1);
            std::lock_guard<std::mutex> g(decks[me].mutex);
            decks[me].cards.push_back(*c / 10 * 7 + 1000003);
        }
        total.fetch_add(*c);
        left.fetch_sub(1);
    }
}

int main()
{
    std::vector<std::thread> t;
    size_t remaining = 0;

    for (int i = 0; i < kCards; i++)
        decks[0].cards.push_back(i);
    left = kCards;
    for (int i = 0; i < kWorkers; i++)
        t.emplace_back(worker, i);
    for (std::thread &th : t)
        th.join();
    for (Deck &d : decks)
        remaining += d.cards.size();
    std::printf("total %ld, %zu remaining, %d announcement\n", total.load(), remaining,
                announcements);
    return remaining == 0 && announcements == 1 ? 0 : 1;
}
