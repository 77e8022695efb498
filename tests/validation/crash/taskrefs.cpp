#include <cassert>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Payload {
    std::string name;
    int cost;
};

class Task {
public:
    void open(const std::string &name, int cost) {
        payload_.reset(new Payload{name, cost});
        refs_ = 1;
    }

    void retain() {
        int r = refs_;
        refs_ = r + 1;
    }

    void release() {
        int r = refs_ - 1;
        refs_ = r;
        if (r == 0)
            payload_.reset();
    }

    int cost() const {
        return payload_->cost;
    }

    bool closed() const {
        return payload_ == nullptr;
    }

private:
    int refs_ = 0;
    std::unique_ptr<Payload> payload_;
};

struct Lane {
    std::mutex lock;
    std::vector<Task *> queue;
    long spent = 0;
};

static void schedule(Lane &lane, Task &t) {
    std::lock_guard<std::mutex> g(lane.lock);
    t.retain();
    lane.queue.push_back(&t);
}

static void drain(Lane &lane) {
    std::lock_guard<std::mutex> g(lane.lock);
    while (!lane.queue.empty()) {
        Task *t = lane.queue.back();
        lane.queue.pop_back();
        lane.spent += t->cost();
        t->release();
    }
}

static void lane_main(Lane &lane, std::vector<Task> &tasks) {
    for (int round = 0; round < 3; round++) {
        for (auto &t : tasks)
            schedule(lane, t);
        drain(lane);
    }
}

int main() {
    std::vector<Task> tasks(3);
    Lane fast, slow;
    for (size_t i = 0; i < tasks.size(); i++)
        tasks[i].open("task" + std::to_string(i), static_cast<int>(i) + 1);
    std::thread a([&] { lane_main(fast, tasks); });
    std::thread b([&] { lane_main(slow, tasks); });
    a.join();
    b.join();
    std::printf("spent %ld and %ld\n", fast.spent, slow.spent);
    for (auto &t : tasks) {
        t.release();
        assert(t.closed());
    }
    return fast.spent == 18 && slow.spent == 18 ? 0 : 1;
}
