#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Frame {
    std::atomic<bool> returned{true};
    std::atomic<int> owners{0};
    int pts = 0;
};

class FramePool {
public:
    explicit FramePool(std::vector<Frame> &frames) {
        for (auto &f : frames)
            free_.push_back(&f);
    }

    Frame *get() {
        std::lock_guard<std::mutex> g(lock_);
        if (free_.empty())
            return nullptr;
        Frame *f = free_.back();
        free_.pop_back();
        f->returned = false;
        return f;
    }

    void put(Frame *f) {
        std::lock_guard<std::mutex> g(lock_);
        free_.push_back(f);
    }

    size_t available() {
        std::lock_guard<std::mutex> g(lock_);
        return free_.size();
    }

private:
    std::mutex lock_;
    std::vector<Frame *> free_;
};

struct Request {
    Frame *frame;
};

static void finish(FramePool &pool, Request &r) {
    if (!r.frame->returned.load()) {
        r.frame->returned.store(true);
        pool.put(r.frame);
    }
}

static int compose(FramePool &pool) {
    Request a = {pool.get()};
    Request b = {pool.get()};
    a.frame->owners++;
    b.frame->owners++;
    assert(a.frame->owners == 1);
    a.frame->pts = 1;
    b.frame->pts = 2;
    int sum = a.frame->pts + b.frame->pts;
    a.frame->owners--;
    b.frame->owners--;
    finish(pool, a);
    finish(pool, b);
    return sum;
}

int main() {
    std::vector<Frame> frames(3);
    FramePool pool(frames);
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        Request r = {pool.get()};
        std::thread decoder([&] { finish(pool, r); });
        if (i > 0)
            finish(pool, r);
        decoder.join();
        sum += compose(pool);
    }
    std::printf("sum %d, %zu frames\n", sum, pool.available());
    return sum == 9 && pool.available() == 3 ? 0 : 1;
}
