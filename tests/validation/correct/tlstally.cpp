#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Totals {
public:
    void merge(const std::map<std::string, long> &part) {
        std::lock_guard<std::mutex> g(lock_);
        for (auto &kv : part)
            sum_[kv.first] += kv.second;
        merges_++;
    }

    long get(const std::string &key) {
        std::lock_guard<std::mutex> g(lock_);
        return sum_[key];
    }

    int merges() {
        std::lock_guard<std::mutex> g(lock_);
        return merges_;
    }

private:
    std::mutex lock_;
    std::map<std::string, long> sum_;
    int merges_ = 0;
};

static Totals totals;

class LocalTally {
public:
    ~LocalTally() {
        if (!part_.empty())
            totals.merge(part_);
    }

    void add(const std::string &key, long n) {
        part_[key] += n;
    }

private:
    std::map<std::string, long> part_;
};

static thread_local LocalTally tally;

static void handle(int id, int requests) {
    for (int i = 0; i < requests; i++) {
        tally.add("requests", 1);
        tally.add(i % 2 ? "odd" : "even", id);
    }
}

int main() {
    std::vector<std::thread> ts;
    for (int id = 1; id <= 4; id++)
        ts.emplace_back(handle, id, 10);
    for (auto &t : ts)
        t.join();
    long req = totals.get("requests");
    long odd = totals.get("odd");
    long even = totals.get("even");
    std::printf("%ld requests, %ld odd, %ld even, %d merges\n", req, odd, even, totals.merges());
    return req == 40 && odd == 50 && even == 50 && totals.merges() == 4 ? 0 : 1;
}
