// A lock on a canal: shared_mutex with condition_variable_any (gauges wait
// under a shared lock), jthreads stopped by token and stop_callback, a latch
// for the start and a barrier with completion for each tide.
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

constexpr int kGauges = 2;
constexpr int kGates = 3;
constexpr int kTides = 25;

class Water {
public:
    void rise(int by)
    {
        {
            std::unique_lock<std::shared_mutex> g(m_);
            upper_ += by;
            lower_ -= by;
            version_++;
        }
        changed_.notify_all();
    }

    // Waits for a version later than `seen`; false when asked to stop and
    // there is nothing newer.
    bool watch(std::stop_token st, int &seen, bool &balanced)
    {
        std::shared_lock<std::shared_mutex> g(m_);
        if (!changed_.wait(g, st, [&] { return version_ > seen; }))
            return false;
        balanced = upper_ + lower_ == 0;
        seen = version_;
        return true;
    }

    int version()
    {
        std::shared_lock<std::shared_mutex> g(m_);
        return version_;
    }

private:
    std::shared_mutex m_;
    std::condition_variable_any changed_;
    long upper_ = 0, lower_ = 0;
    int version_ = 0;
};

struct Gauge {
    int seen = 0;
    int looks = 0;
    bool wrong = false;
    int told = 0; // by the main thread
};

Water water;
std::latch opened(kGauges + kGates + 1);
int share[kGates];

} // namespace

int main()
{
    Gauge gauge[kGauges];
    int tides = 0;
    long moved = 0;

    auto end_of_tide = [&]() noexcept {
        tides++;
        for (int s : share)
            moved += s;
        water.rise(tides);
    };
    std::barrier tide(kGates, end_of_tide);
    {
        std::vector<std::jthread> watchers, gates;

        for (int i = 0; i < kGauges; i++)
            watchers.emplace_back([&g = gauge[i]](std::stop_token st) {
                opened.arrive_and_wait();
                bool balanced = true;
                while (water.watch(st, g.seen, balanced)) {
                    g.looks++;
                    g.wrong |= !balanced;
                }
            });
        for (int i = 0; i < kGates; i++)
            gates.emplace_back([&, i] {
                opened.arrive_and_wait();
                for (int t = 0; t < kTides; t++) {
                    share[i] = (i + 1) * (t + 1);
                    tide.arrive_and_wait();
                }
            });
        opened.arrive_and_wait();
        gates.clear(); // joins
        for (int i = 0; i < kGauges; i++) {
            // Runs here, inside request_stop; the watcher may be gone by then.
            std::stop_callback cb(watchers[i].get_stop_token(),
                                  [&g = gauge[i]] { g.told++; });
            watchers[i].request_stop();
        }
    }
    long want = 0;
    for (int t = 1; t <= kTides; t++)
        for (int i = 1; i <= kGates; i++)
            want += i * t;
    bool ok = tides == kTides && moved == want && water.version() == kTides;
    for (auto &g : gauge)
        ok = ok && !g.wrong && g.seen == kTides && g.looks >= 1 &&
             g.looks <= kTides && g.told == 1;
    std::printf("tides %d, moved %ld of %ld\n", tides, moved, want);
    return ok ? 0 : 1;
}
