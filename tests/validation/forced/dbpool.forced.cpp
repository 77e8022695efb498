// Connection pool of an application server: idle connections are reused,
// otherwise a new one is opened.
#include <unistd.h>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Connection {
    int serial;
    int uses = 0;
    Connection *next_idle = nullptr;
    explicit Connection(int s) : serial(s) {}
};

class Pool {
  public:
    ~Pool() {
        while (idle_) {
            Connection *c = idle_;
            idle_ = c->next_idle;
            delete c;
        }
    }
    bool hasIdle() {
        std::lock_guard<std::mutex> g(mu_);
        return idle_ != nullptr;
    }
    Connection *takeIdle() {
        std::lock_guard<std::mutex> g(mu_);
        Connection *c = idle_;
        idle_ = c->next_idle;
        c->next_idle = nullptr;
        return c;
    }
    void giveBack(Connection *c) {
        std::lock_guard<std::mutex> g(mu_);
        c->next_idle = idle_;
        idle_ = c;
        ++returned_;
    }
    Connection *open() {
        std::lock_guard<std::mutex> g(mu_);
        return new Connection(++opened_);
    }
    Connection *acquire() {
        if (hasIdle())
 { usleep(20000);
            return takeIdle();
 }
        return open();
    }
    int returned() {
        std::lock_guard<std::mutex> g(mu_);
        return returned_;
    }

  private:
    std::mutex mu_;
    Connection *idle_ = nullptr;
    int opened_ = 0;
    int returned_ = 0;
};

static int query(Connection *c, const std::string &sql)
{
    int v = 0;
    c->uses++;
 usleep(40000);
    for (char ch : sql)
        v = (v * 7 + ch) % 1009;
    return v;
}

int main()
{
    Pool pool;
    pool.giveBack(new Connection(0));

    const std::vector<std::string> work = {
        "SELECT 1", "SELECT name FROM users", "DELETE FROM cart WHERE id=3"
    };
    std::vector<int> res(work.size());
    std::vector<std::thread> ts;
    for (size_t i = 0; i < work.size(); i++)
        ts.emplace_back([&, i] {
            for (int k = 0; k < 2; k++) {
                Connection *c = pool.acquire();
                res[i] += query(c, work[i]);
                pool.giveBack(c);
            }
        });
    for (auto &t : ts)
        t.join();
    int sum = 0;
    for (int r : res)
        sum += r;
    std::printf("queries %d checksum %d\n", pool.returned() - 1, sum);
    return 0;
}
