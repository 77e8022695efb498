#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

class Worker {
public:
    explicit Worker(const char *name)
        : name_(name)
    {
        std::lock_guard<std::mutex> g(mu_);
        thread_ = std::thread([this] { main(); });
    }

    virtual ~Worker()
    {
    }

    void stop()
    {
        {
            std::lock_guard<std::mutex> g(mu_);
            stopping_ = true;
        }
        cv_.notify_all();
        if (thread_.joinable())
            thread_.join();
    }

    void post(int sample)
    {
        {
            std::lock_guard<std::mutex> g(mu_);
            queue_.push_back(sample);
        }
        cv_.notify_one();
    }

    const char *name() const
    {
        return name_;
    }

protected:
    virtual void started() = 0;
    virtual void handle(int sample) = 0;

private:
    bool next(int *sample)
    {
        std::unique_lock<std::mutex> g(mu_);
        while (queue_.empty() && !stopping_)
            cv_.wait(g);
        if (queue_.empty())
            return false;
        *sample = queue_.front();
        queue_.pop_front();
        return true;
    }

    void mark_alive()
    {
        std::lock_guard<std::mutex> g(mu_);
        alive_ = true;
    }

    void main()
    {
        int sample = 0;
        mark_alive();
        started();
        while (next(&sample))
            handle(sample);
    }

    const char *name_;
    std::mutex mu_;
    std::condition_variable cv_;
    std::deque<int> queue_;
    bool stopping_ = false;
    bool alive_ = false;
    std::thread thread_;
};

class Thermometer : public Worker {
public:
    explicit Thermometer(const char *name)
        : Worker(name)
    {
    }

    ~Thermometer() override
    {
        stop();
    }

    int count()
    {
        std::lock_guard<std::mutex> g(data_mu_);
        return count_;
    }

    long sum()
    {
        std::lock_guard<std::mutex> g(data_mu_);
        return sum_;
    }

protected:
    void started() override
    {
        std::lock_guard<std::mutex> g(data_mu_);
        running_ = true;
    }

    void handle(int sample) override
    {
        std::lock_guard<std::mutex> g(data_mu_);
        count_ += running_ ? 1 : 0;
        sum_ += sample;
    }

private:
    std::mutex data_mu_;
    bool running_ = false;
    int count_ = 0;
    long sum_ = 0;
};

int main()
{
    Thermometer dev("therm0");
    for (int i = 0; i < 8; i++)
        dev.post(20 + i);
    dev.stop();
    printf("%s: %d samples, sum %ld\n", dev.name(), dev.count(), dev.sum());
    return dev.count() == 8 ? 0 : 1;
}
