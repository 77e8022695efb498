#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

enum class Feeder { None, Thread, Flush };

class TextBackend {
public:
    void consume(const std::string &record)
    {
        bytes_ += record.size() + 1;
        records_++;
    }
    size_t bytes() const { return bytes_; }
    int records() const { return records_; }

private:
    size_t bytes_ = 0;
    int records_ = 0;
};

class AsyncSink {
public:
    explicit AsyncSink(TextBackend &backend) : backend_(backend), thread_([this] { run(); }) {}

    ~AsyncSink()
    {
        {
            std::lock_guard<std::mutex> g(lock_);
            stop_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    void enqueue(std::string record)
    {
        {
            std::lock_guard<std::mutex> g(lock_);
            queue_.push_back(std::move(record));
            queued_++;
        }
        changed_.notify_all();
    }

    void flush()
    {
        std::unique_lock<std::mutex> g(lock_);
        if (feeder_ == Feeder::Thread) {
            unsigned long upto = queued_;
            changed_.wait(g, [&] { return fed_ >= upto; });
            return;
        }
        feeder_ = Feeder::Flush;
        while (!queue_.empty())
            feed_one(g);
        feeder_ = Feeder::None;
    }

private:
    void feed_one(std::unique_lock<std::mutex> &g)
    {
        std::string record = std::move(queue_.front());
        queue_.pop_front();
        g.unlock();
        backend_.consume(record);
        g.lock();
        fed_++;
        changed_.notify_all();
    }

    void run()
    {
        std::unique_lock<std::mutex> g(lock_);
        if (feeder_ != Feeder::None)
            throw std::logic_error("record feeding is already running");
        feeder_ = Feeder::Thread;
        for (;;) {
            changed_.wait(g, [this] { return stop_ || !queue_.empty(); });
            if (queue_.empty())
                break;
            feed_one(g);
        }
        feeder_ = Feeder::None;
    }

    TextBackend &backend_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::string> queue_;
    unsigned long queued_ = 0;
    unsigned long fed_ = 0;
    bool stop_ = false;
    Feeder feeder_ = Feeder::None;
    std::thread thread_;
};

} // namespace

int main()
{
    TextBackend backends[3];
    int total = 0;
    size_t bytes = 0;
    for (TextBackend &backend : backends) {
        AsyncSink sink(backend);
        sink.enqueue("starting");
        sink.flush();
        for (int i = 0; i < 4; i++)
            sink.enqueue("message " + std::to_string(i));
    }
    for (const TextBackend &backend : backends) {
        total += backend.records();
        bytes += backend.bytes();
    }
    std::printf("%d records, %zu bytes\n", total, bytes);
    return total != 15;
}
