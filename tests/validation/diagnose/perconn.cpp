#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Totals {
    unsigned long bytes = 0;
    unsigned long requests = 0;
    std::atomic<unsigned long> errors{0};
};

class Connection {
public:
    Connection(Totals &totals, int id) : totals_(totals), id_(id) {}

    bool handle(const std::string &line)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        if (line.empty()) {
            totals_.errors.fetch_add(1);
            return false;
        }
        backlog_.push_back(line);
        own_bytes_ += line.size();
        own_requests_++;
        totals_.bytes += line.size();
        totals_.requests++;
        return true;
    }

    std::size_t drain()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        std::size_t n = backlog_.size();
        backlog_.clear();
        drained_ += n;
        return n;
    }

    unsigned long bytes() const { return own_bytes_; }
    unsigned long requests() const { return own_requests_; }
    std::size_t drained() const { return drained_; }
    int id() const { return id_; }

private:
    Totals &totals_;
    std::mutex mutex_;
    int id_;
    std::vector<std::string> backlog_;
    unsigned long own_bytes_ = 0;
    unsigned long own_requests_ = 0;
    std::size_t drained_ = 0;
};

class Server {
public:
    explicit Server(int n)
    {
        for (int i = 0; i < n; i++)
            connections_.push_back(std::make_unique<Connection>(totals_, i));
    }

    void serve(int index)
    {
        Connection &c = *connections_[std::size_t(index)];
        for (int i = 0; i < 6; i++)
            c.handle(i == 3 ? "" : "get key" + std::to_string(c.id() * 10 + i));
    }

    void sweep()
    {
        for (auto &c : connections_)
            c->drain();
    }

    bool sound()
    {
        unsigned long bytes = 0, requests = 0;
        for (auto &c : connections_) {
            bytes += c->bytes();
            requests += c->requests();
        }
        std::printf("%lu of %lu bytes, %lu of %lu requests, %lu errors\n", totals_.bytes, bytes, totals_.requests,
                    requests, totals_.errors.load());
        return totals_.bytes == bytes && totals_.requests == requests &&
               totals_.errors.load() == connections_.size();
    }

private:
    Totals totals_;
    std::vector<std::unique_ptr<Connection>> connections_;
};

int main()
{
    Server server(3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&server, i] { server.serve(i); });
    server.sweep();
    for (auto &t : threads)
        t.join();
    server.sweep();
    return server.sound() ? 0 : 1;
}
