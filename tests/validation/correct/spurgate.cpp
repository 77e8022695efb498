#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

class Lanes {
public:
    void put(size_t lane, int v) {
        std::lock_guard<std::mutex> g(m_);
        lanes_[lane].push_back(v);
        cv_.notify_all();
    }

    int get(size_t lane) {
        std::unique_lock<std::mutex> l(m_);
        while (lanes_[lane].empty()) {
            wakeups_++;
            cv_.wait(l);
        }
        int v = lanes_[lane].front();
        lanes_[lane].pop_front();
        return v;
    }

    void nudge() {
        cv_.notify_all();
        cv_.notify_one();
    }

    long wakeups() {
        std::lock_guard<std::mutex> g(m_);
        return wakeups_;
    }

private:
    std::mutex m_;
    std::condition_variable cv_;
    std::deque<int> lanes_[2];
    long wakeups_ = 0;
};

static void consume(Lanes &lanes, size_t lane, int n, long &sum) {
    while (n-- > 0)
        sum += lanes.get(lane);
}

static void disturb(Lanes &lanes) {
    for (int i = 0; i < 20; i++) {
        lanes.nudge();
        std::this_thread::yield();
    }
}

int main() {
    Lanes lanes;
    long sums[2] = {0, 0};
    std::thread a([&] { consume(lanes, 0, 10, sums[0]); });
    std::thread b([&] { consume(lanes, 1, 10, sums[1]); });
    std::thread c([&] { disturb(lanes); });
    for (int i = 0; i < 20; i++)
        lanes.put(static_cast<size_t>(i % 2), i);
    a.join();
    b.join();
    c.join();
    std::printf("%ld and %ld\n", sums[0], sums[1]);
    return sums[0] == 90 && sums[1] == 100 && lanes.wakeups() >= 0 ? 0 : 1;
}
