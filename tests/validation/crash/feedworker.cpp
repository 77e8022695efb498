#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct Packet {
    int seq = 0;
    std::string body;
};

class Channel {
public:
    void push(Packet p) {
        std::lock_guard<std::mutex> g(mu_);
        q_.push_back(std::move(p));
        cv_.notify_one();
    }

    bool pop(Packet &out) {
        std::unique_lock<std::mutex> g(mu_);
        while (q_.empty() && !closed_)
            cv_.wait(g);
        if (q_.empty())
            return false;
        out = std::move(q_.front());
        q_.pop_front();
        return true;
    }

    void close() {
        std::lock_guard<std::mutex> g(mu_);
        closed_ = true;
        cv_.notify_all();
    }

private:
    std::mutex mu_;
    std::condition_variable cv_;
    std::deque<Packet> q_;
    bool closed_ = false;
};

class Worker {
public:
    explicit Worker(Channel &in)
        : in_(in) {
        thread_ = std::thread([this] { loop(); });
    }

    virtual ~Worker() {}

    void join() {
        if (thread_.joinable())
            thread_.join();
    }

    int handled() const {
        return handled_;
    }

protected:
    virtual void on_packet(const Packet &p) = 0;

private:
    void loop() {
        Packet p;
        while (in_.pop(p)) {
            on_packet(p);
            handled_++;
        }
    }

    Channel &in_;
    int handled_ = 0;
    std::thread thread_;
};

class ByteCounter : public Worker {
public:
    explicit ByteCounter(Channel &in)
        : Worker(in), last_(0) {
    }

    void report() const {
        std::printf("bytes: %d packets, last %d\n",
                    handled(), last_);
    }

protected:
    void on_packet(const Packet &p) override {
        last_ = static_cast<int>(p.body.size());
    }

private:
    int last_;
};

class Framer : public Worker {
public:
    Framer(Channel &in, Channel &out)
        : Worker(in), out_(&out) {
    }

protected:
    void on_packet(const Packet &p) override {
        Packet framed;
        framed.seq = p.seq;
        framed.body = "[" + p.body + "]";
        out_->push(std::move(framed));
    }

private:
    Channel *out_;
};

static void feed(Channel &ch, int n) {
    std::deque<Packet> batch;
    for (int i = 0; i < n; i++) {
        Packet p;
        p.seq = i;
        p.body = std::string(20 + i % 5, 'x');
        batch.push_back(std::move(p));
    }
    for (auto &p : batch)
        ch.push(std::move(p));
    ch.close();
}

int main() {
    const int total = 400;
    Channel raw;
    Channel framed;

    auto counter = std::make_unique<ByteCounter>(framed);
    std::thread source([&] { feed(raw, total); });
    auto framer = std::make_unique<Framer>(raw, framed);

    source.join();
    framer->join();
    framed.close();
    counter->join();

    assert(framer->handled() == total);
    assert(counter->handled() == total);
    counter->report();
    return 0;
}
