#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Connection {
    int id = 0;
    int uses = 0;
    bool inUse = false;
};

class ConnPool {
public:
    static const int kMax = 6;

    void seed(std::vector<Connection> &conns) {
        for (auto &c : conns)
            idle_[nidle_++] = &c;
    }

    Connection *take() {
        if (nidle_ == 0)
            return nullptr;
        int n = nidle_;
        Connection *c = idle_[n - 1];
        nidle_ = n - 1;
        assert(!c->inUse);
        c->inUse = true;
        c->uses++;
        return c;
    }

    void put(Connection *c) {
        c->inUse = false;
        int n = nidle_;
        idle_[n] = c;
        nidle_ = n + 1;
    }

    int idle() const {
        return nidle_;
    }

private:
    Connection *idle_[2 * kMax] = {};
    int nidle_ = 0;
};

class Share {
public:
    std::mutex dnsLock;
    std::mutex connLock;
    ConnPool pool;
    int dnsHits = 0;
};

class Multi {
public:
    explicit Multi(Share &s) : share_(s) {}

    void perform(int transfers) {
        for (int i = 0; i < transfers; i++) {
            resolve();
            Connection *c = attach();
            if (c) {
                transferred_ += 100 + i;
                detach(c);
            }
        }
    }

    long transferred() const {
        return transferred_;
    }

private:
    void resolve() {
        std::lock_guard<std::mutex> g(share_.dnsLock);
        share_.dnsHits++;
    }

    Connection *attach() {
        std::lock_guard<std::mutex> g(share_.connLock);
        return share_.pool.take();
    }

    void detach(Connection *c) {
        std::lock_guard<std::mutex> g(share_.connLock);
        share_.pool.put(c);
    }

    Share &share_;
    long transferred_ = 0;
};

static int reapIdle(Share &share, int rounds) {
    int probed = 0;
    for (int i = 0; i < rounds; i++) {
        std::lock_guard<std::mutex> g(share.dnsLock);
        Connection *c = share.pool.take();
        if (c) {
            probed++;
            share.pool.put(c);
        }
    }
    return probed;
}

int main() {
    Share share;
    std::vector<Connection> conns(ConnPool::kMax);
    for (int i = 0; i < ConnPool::kMax; i++)
        conns[i].id = i;
    share.pool.seed(conns);
    Multi multi(share);
    int probed = 0;
    std::thread worker([&] { multi.perform(6); });
    std::thread reaper([&] { probed = reapIdle(share, 6); });
    worker.join();
    reaper.join();
    int uses = 0;
    for (auto &c : conns)
        uses += c.uses;
    std::printf("%ld bytes, %d uses, %d idle\n", multi.transferred(), uses,
                share.pool.idle());
    return uses == 12 && share.pool.idle() == ConnPool::kMax ? 0 : 1;
}
