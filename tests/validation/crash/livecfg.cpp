// Rate limiter whose limits can be reloaded while requests are served.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Limits {
    int version;
    std::vector<std::pair<std::string, int>> per_path;

    explicit Limits(int v) : version(v)
    {
        per_path.emplace_back("/login", 5 + v);
        per_path.emplace_back("/search", 20 + v);
        per_path.emplace_back("/static/a/rather/long/path", 500 + v);
    }

    int limit_for(const std::string &path) const
    {
        for (const auto &p : per_path)
            if (p.first == path)
                return p.second;
        return 10;
    }
};

std::unique_ptr<Limits> read_limits(int version)
{
    return std::unique_ptr<Limits>(new Limits(version));
}

class Limiter {
public:
    Limiter() : limits_(read_limits(1)) {}

    bool admit(const std::string &path, int seen)
    {
        std::shared_ptr<const Limits> now = limits_;
        bool ok = seen < now->limit_for(path);

        std::lock_guard<std::mutex> g(lock_);
        if (ok)
            admitted_++;
        else
            refused_++;
        return ok;
    }

    void reload(int version)
    {
        std::shared_ptr<const Limits> fresh = read_limits(version);
        std::lock_guard<std::mutex> g(lock_);
        limits_ = std::move(fresh);
        reloads_++;
    }

    void print()
    {
        std::lock_guard<std::mutex> g(lock_);
        std::printf("admitted %d, refused %d, reloads %d\n", admitted_, refused_,
                    reloads_);
    }

private:
    std::mutex lock_;
    std::shared_ptr<const Limits> limits_;
    int admitted_ = 0;
    int refused_ = 0;
    int reloads_ = 0;
};

} // namespace

int main()
{
    const std::string paths[] = {"/login", "/search", "/other"};
    Limiter limiter;
    std::vector<std::thread> servers;

    for (int t = 0; t < 2; t++)
        servers.emplace_back([&limiter, &paths, t] {
            for (int i = 0; i < 10; i++)
                limiter.admit(paths[(t + i) % 3], i + 3);
        });
    std::thread admin([&limiter] {
        for (int v = 2; v < 4; v++)
            limiter.reload(v);
    });
    for (auto &s : servers)
        s.join();
    admin.join();
    limiter.print();
    return 0;
}
