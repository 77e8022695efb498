#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Route {
    std::string via;
    int metric;
};

struct Versioned {
    Route route;
    unsigned version;
};

class RouteTable {
public:
    Versioned read(const std::string &dst)
    {
        std::lock_guard<std::mutex> g(mu_);
        Versioned v;
        v.route = routes_[dst];
        v.version = versions_[dst];
        return v;
    }

    bool replace(const std::string &dst, const Route &r, unsigned seen)
    {
        std::lock_guard<std::mutex> g(mu_);
        unsigned &version = versions_[dst];
        if (version != seen) {
            conflicts_++;
            return false;
        }
        routes_[dst] = r;
        version++;
        return true;
    }

    int conflicts()
    {
        std::lock_guard<std::mutex> g(mu_);
        return conflicts_;
    }

private:
    std::mutex mu_;
    std::map<std::string, Route> routes_;
    std::map<std::string, unsigned> versions_;
    int conflicts_ = 0;
};

static Route reweigh(const Route &old, int delta)
{
    Route r = old;
    r.metric += delta;
    r.via = r.metric % 2 ? "eth1" : "eth0";
    return r;
}

class LinkMonitor {
public:
    LinkMonitor(RouteTable &table, std::vector<std::string> dsts)
        : table_(table), dsts_(std::move(dsts))
    {
    }

    void bump(const std::string &dst, int delta)
    {
        for (;;) {
            Versioned v = table_.read(dst);
            Route r = reweigh(v.route, delta);
            if (table_.replace(dst, r, v.version))
                break;
            retries_++;
        }
    }

    void run(int rounds)
    {
        for (int i = 0; i < rounds; i++) {
            for (const std::string &dst : dsts_)
                bump(dst, 1 + i % 2);
        }
    }

    int retries() const
    {
        return retries_;
    }

private:
    RouteTable &table_;
    std::vector<std::string> dsts_;
    int retries_ = 0;
};

int main()
{
    RouteTable table;
    LinkMonitor a(table, { "10/8", "172.16/12" });
    LinkMonitor b(table, { "172.16/12", "10/8" });
    LinkMonitor c(table, { "10/8" });
    std::thread ta([&a] { a.run(8); });
    std::thread tb([&b] { b.run(8); });
    std::thread tc([&c] { c.run(4); });
    ta.join();
    tb.join();
    tc.join();
    int m1 = table.read("10/8").route.metric;
    int m2 = table.read("172.16/12").route.metric;
    int retries = a.retries() + b.retries() + c.retries();
    printf("metrics %d %d\n", m1, m2);
    if (m1 != 30 || m2 != 24)
        return 1;
    return retries == table.conflicts() ? 0 : 1;
}
