#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Server {
    std::string name;
    unsigned weight;
    bool up;
    unsigned long served;
};

class Backend {
public:
    void add(const std::string &name, unsigned weight) {
        servers_.push_back(Server{name, weight, false, 0});
    }

    void setUp(size_t i) {
        {
            std::lock_guard<std::mutex> g(lock_);
            servers_[i].up = true;
            active_++;
        }
        recount();
    }

    void setDown(size_t i) {
        {
            std::lock_guard<std::mutex> g(lock_);
            servers_[i].up = false;
            active_--;
        }
        recount();
    }

    int pick(unsigned long seq) {
        std::lock_guard<std::mutex> g(lock_);
        if (active_ == 0) {
            queued_++;
            return -1;
        }
        unsigned pos = seq % totalWeight_;
        for (size_t i = 0; i < servers_.size(); i++) {
            if (!servers_[i].up)
                continue;
            if (pos < servers_[i].weight) {
                servers_[i].served++;
                return static_cast<int>(i);
            }
            pos -= servers_[i].weight;
        }
        return -1;
    }

    unsigned long served() const {
        unsigned long n = 0;
        for (auto &s : servers_)
            n += s.served;
        return n + queued_;
    }

private:
    void recount() {
        std::lock_guard<std::mutex> g(lock_);
        unsigned w = 0;
        for (auto &s : servers_)
            if (s.up)
                w += s.weight;
        totalWeight_ = w;
    }

    std::mutex lock_;
    std::deque<Server> servers_;
    unsigned active_ = 0;
    unsigned totalWeight_ = 0;
    unsigned long queued_ = 0;
};

static void healthChecks(Backend &be) {
    be.setUp(0);
    be.setUp(1);
    be.setDown(0);
}

int main() {
    Backend be;
    be.add("web1", 10);
    be.add("web2", 30);
    std::thread checker([&] { healthChecks(be); });
    int assigned = 0;
    for (unsigned long seq = 0; seq < 12; seq++) {
        if (be.pick(seq * 7) >= 0)
            assigned++;
    }
    checker.join();
    std::printf("%d assigned, %lu in all\n", assigned, be.served());
    return be.served() >= static_cast<unsigned long>(assigned) ? 0 : 1;
}
