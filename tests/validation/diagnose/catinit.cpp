#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Catalog {
public:
    Catalog() {
        for (int i = 0; i < 8; i++)
            entries_.push_back("msg" + std::to_string(i));
    }

    const std::string &get(size_t i) const {
        return entries_[i % entries_.size()];
    }

private:
    std::vector<std::string> entries_;
};

class Locale {
public:
    ~Locale() {
        delete catalog_.load(std::memory_order_relaxed);
    }

    const Catalog &catalog() {
        Catalog *c = catalog_.load(std::memory_order_acquire);
        if (!c) {
            std::lock_guard<std::mutex> g(lock_);
            c = catalog_.load(std::memory_order_relaxed);
            if (!c) {
                c = new Catalog();
                loads_++;
                catalog_.store(c, std::memory_order_release);
            }
        }
        return *c;
    }

    int loads() const {
        return loads_;
    }

private:
    std::atomic<Catalog *> catalog_{nullptr};
    std::mutex lock_;
    int loads_ = 0;
};

static size_t translate(Locale &loc, int from, int n) {
    size_t len = 0;
    for (int i = 0; i < n; i++)
        len += loc.catalog().get(static_cast<size_t>(from + i)).size();
    return len;
}

int main() {
    Locale loc;
    size_t sums[3] = {0, 0, 0};
    std::vector<std::thread> ts;
    for (int i = 0; i < 3; i++)
        ts.emplace_back([&, i] { sums[i] = translate(loc, i, 10); });
    for (auto &t : ts)
        t.join();
    size_t all = sums[0] + sums[1] + sums[2];
    std::printf("%zu characters, loaded %d time(s)\n", all, loc.loads());
    return all == 120 && loc.loads() == 1 ? 0 : 1;
}
