// Subchannel of an RPC library: a connection that comes and goes, watched by
// health checks and used by calls.
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

enum class State { Idle, Connecting, Ready };

class Transport {
public:
    explicit Transport(int generation) : generation_(generation) {}

    int startStream()
    {
        streams_++;
        return generation_;
    }

    int streams() const { return streams_; }

private:
    int generation_;
    std::atomic<int> streams_{0};
};

class Subchannel {
public:
    State state()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        return state_;
    }

    std::shared_ptr<Transport> transport()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        return transport_;
    }

    void connecting()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        state_ = State::Connecting;
        attempts_++;
    }

    void connected(int generation)
    {
        auto transport = std::make_shared<Transport>(generation);
        std::lock_guard<std::mutex> lock(mutex_);
        transport_ = std::move(transport);
        state_ = State::Ready;
    }

    void disconnected()
    {
        std::shared_ptr<Transport> old;
        std::lock_guard<std::mutex> lock(mutex_);
        old.swap(transport_);
        state_ = State::Idle;
    }

    int attempts()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        return attempts_;
    }

private:
    std::mutex mutex_;
    State state_ = State::Idle;
    std::shared_ptr<Transport> transport_;
    int attempts_ = 0;
};

constexpr int kChecks = 6;
constexpr int kCalls = 6;
constexpr int kConnections = 4;

std::atomic<long> checks{0}, skipped{0}, calls{0};

// Only when the subchannel is ready there is somebody to ask.
void checkHealth(Subchannel &subchannel, long &generations)
{
    if (subchannel.state() != State::Ready) {
        skipped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    std::shared_ptr<Transport> transport = subchannel.transport();
    generations += transport->startStream();
    checks.fetch_add(1, std::memory_order_relaxed);
}

void healthMain(Subchannel &subchannel, long &generations)
{
    for (int i = 0; i < kChecks; i++)
        checkHealth(subchannel, generations);
}

void callMain(Subchannel &subchannel)
{
    for (int i = 0; i < kCalls; i++) {
        std::shared_ptr<Transport> transport = subchannel.transport();
        if (!transport)
            continue;           // the call waits in the queue of the channel
        transport->startStream();
        calls.fetch_add(1, std::memory_order_relaxed);
    }
}

void connectMain(Subchannel &subchannel)
{
    for (int i = 1; i <= kConnections; i++) {
        subchannel.connecting();
        subchannel.connected(i);
        if (i < kConnections)
            subchannel.disconnected();
    }
}

} // namespace

int main()
{
    Subchannel subchannel;
    long generations[2] = {0, 0};
    std::vector<std::thread> threads;

    subchannel.connected(0);
    threads.emplace_back(connectMain, std::ref(subchannel));
    threads.emplace_back(healthMain, std::ref(subchannel), std::ref(generations[0]));
    threads.emplace_back(healthMain, std::ref(subchannel), std::ref(generations[1]));
    threads.emplace_back(callMain, std::ref(subchannel));
    for (std::thread &t : threads)
        t.join();
    std::printf("%ld checks, %ld skipped, %ld calls, %d attempts\n", checks.load(), skipped.load(),
                calls.load(), subchannel.attempts());
    return checks + skipped == 2 * kChecks ? 0 : 1;
}
