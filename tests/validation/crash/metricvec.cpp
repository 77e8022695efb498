#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Series {
    std::string name;
    long count = 0;
    long sum = 0;
};

struct Summary {
    long count = 0;
    long sum = 0;
};

class Registry {
public:
    Series &series(const std::string &name) {
        std::lock_guard<std::mutex> g(mu_);
        for (auto &s : all_) {
            if (s.name == name)
                return s;
        }
        all_.push_back(Series{name, 0, 0});
        return all_.back();
    }

    void add(Series &s, long value) {
        std::lock_guard<std::mutex> g(mu_);
        s.count++;
        s.sum += value;
    }

    Summary summary() {
        std::lock_guard<std::mutex> g(mu_);
        Summary out;
        for (const auto &s : all_) {
            out.count += s.count;
            out.sum += s.sum;
        }
        return out;
    }

    size_t size() {
        std::lock_guard<std::mutex> g(mu_);
        return all_.size();
    }

private:
    std::mutex mu_;
    std::vector<Series> all_;
};

struct Expected {
    long count = 0;
    long sum = 0;
};

class Handler {
public:
    Handler(Registry &reg, const char *prefix, int routes)
        : reg_(reg), prefix_(prefix), routes_(routes) {
    }

    void run(int requests) {
        for (int i = 0; i < requests; i++)
            serve(i % routes_, 10 + i);
    }

    const Expected &expected() const {
        return expected_;
    }

private:
    void serve(int route, long cost) {
        std::string name = prefix_;
        name += std::to_string(route);
        Series &s = reg_.series(name);
        reg_.add(s, cost);
        expected_.count++;
        expected_.sum += cost;
    }

    Registry &reg_;
    std::string prefix_;
    int routes_;
    Expected expected_;
};

static double mean(const Summary &s) {
    if (s.count == 0)
        return 0.0;
    return static_cast<double>(s.sum) / s.count;
}

static void verify(const Summary &s, const Expected &a,
                   const Expected &b) {
    long count = a.count + b.count;
    long sum = a.sum + b.sum;
    assert(s.count == count);
    assert(s.sum == sum);
}

int main() {
    Registry reg;
    Handler get(reg, "get.", 5);
    Handler put(reg, "put.", 4);

    std::thread t1([&] { get.run(20); });
    std::thread t2([&] { put.run(16); });
    t1.join();
    t2.join();

    Summary s = reg.summary();
    verify(s, get.expected(), put.expected());
    std::printf("%zu series, mean %.1f\n", reg.size(), mean(s));
    return 0;
}
