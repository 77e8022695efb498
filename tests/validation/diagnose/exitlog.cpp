// A log writer with a background thread.  shutdown() tells the thread to stop
// and takes the sink away.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct Sink {
    std::string name = "main.log";
    std::atomic<long> lines{0};
    long bytes = 0;
};

class LogWriter {
public:
    LogWriter() : sink_(new Sink) { thread_ = std::thread(&LogWriter::run, this); }

    void post(std::string text)
    {
        std::lock_guard<std::mutex> g(mutex_);
        queue_.push_back(std::move(text));
        wake_.notify_one();
        posted_++;
    }

    // Returns when everything that was posted has been taken.
    void flush()
    {
        std::unique_lock<std::mutex> g(mutex_);
        drained_.wait(g, [this] { return queue_.empty(); });
    }

    long shutdown()
    {
        long lines;

        flush();
        lines = sink_->lines.load();
        delete sink_.exchange(nullptr, "shutdown");
        {
            std::lock_guard<std::mutex> g(mutex_);
            stop_ = true;
            wake_.notify_one();
        }
        thread_.join();
        return lines;
    }

    long posted() const { return posted_; }

private:
    struct Holder {
        explicit Holder(Sink *s) : p(s) {}
        Sink *exchange(Sink *s, const char *) { return p.exchange(s); }
        Sink *operator->() const { return p.load(); }
        Sink *get() const { return p.load(); }
        std::atomic<Sink *> p;
    };

    void write(const std::string &text)
    {
        Sink *s = sink_.get();

        s->bytes += static_cast<long>(text.size());
        s->lines.fetch_add(1);
    }

    void run()
    {
        for (;;) {
            std::string text;
            {
                std::unique_lock<std::mutex> g(mutex_);
                wake_.wait(g, [this] { return stop_ || !queue_.empty(); });
                if (queue_.empty())
                    return;
                text = std::move(queue_.front());
                queue_.pop_front();
                if (queue_.empty())
                    drained_.notify_all();
            }
            write(text);
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, drained_;
    std::deque<std::string> queue_;
    bool stop_ = false;
    long posted_ = 0;
    Holder sink_;
    std::thread thread_;
};

static void client(LogWriter *log, int id)
{
    for (int i = 0; i < 3; i++)
        log->post("client " + std::to_string(id) + " line " + std::to_string(i));
}

int main()
{
    LogWriter log;
    std::thread a(client, &log, 1), b(client, &log, 2);
    long seed = 1;

    a.join();
    b.join();
    for (int i = 0; i < 100000; i++)     // the rest of the work of main
        seed = (seed * 48271) % 2147483647;
    log.shutdown();
    std::printf("%ld posted, seed %ld\n", log.posted(), seed);
    return log.posted() == 6 ? 0 : 1;
}
