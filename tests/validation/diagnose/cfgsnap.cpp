#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

class Config {
public:
    Config(int epoch, int nodes) : alive_(1), epoch_(epoch), nodes_(nodes), refs_(1) {
        for (int i = 0; i < nodes; i++)
            weights_.push_back(epoch * 10 + i);
    }

    void ref() {
        int old = refs_.fetch_add(1);
        assert(old > 0);
    }

    void unref() {
        if (refs_.fetch_sub(1) == 1) {
            alive_ = 0;
            delete this;
        }
    }

    int weight(size_t i) const {
        assert(alive_ == 1);
        return weights_[i % static_cast<size_t>(nodes_)] + epoch_;
    }

private:
    ~Config() {}

    volatile long alive_;
    int epoch_;
    int nodes_;
    std::atomic<int> refs_;
    std::vector<int> weights_;
};

class Monitor {
public:
    Monitor() : current_(new Config(1, 4)) {}

    ~Monitor() {
        current_.load()->unref();
    }

    Config *current() {
        Config *c = current_.load();
        c->ref();
        return c;
    }

    void publish(int epoch) {
        Config *next = new Config(epoch, 3 + epoch % 2);
        std::lock_guard<std::mutex> g(publishLock_);
        Config *old = current_.exchange(next);
        old->unref();
        published_++;
    }

    int published() {
        std::lock_guard<std::mutex> g(publishLock_);
        return published_;
    }

private:
    std::mutex publishLock_;
    std::atomic<Config *> current_;
    int published_ = 0;
};

static long route(Monitor &m, int requests) {
    long sum = 0;
    for (int i = 0; i < requests; i++) {
        Config *cfg = m.current();
        sum += cfg->weight(static_cast<size_t>(i)) > 0;
        cfg->unref();
    }
    return sum;
}

int main() {
    Monitor m;
    long routed = 0;
    std::thread client([&] { routed = route(m, 20); });
    for (int e = 2; e <= 6; e++) {
        m.publish(e);
    }
    client.join();
    std::printf("%ld routed, %d published\n", routed, m.published());
    return routed == 20 && m.published() == 5 ? 0 : 1;
}
