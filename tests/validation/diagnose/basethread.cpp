#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Board {
public:
    void post(const std::string &name, int value)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        lines_.push_back(name + "=" + std::to_string(value));
        if (value < 20)
            bad_++;
    }

    int bad()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return bad_;
    }

    std::size_t lines()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return lines_.size();
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
    int bad_ = 0;
};

class Poller {
public:
    Poller(Board &board, std::string name)
        : board_(board), name_(std::move(name))
    {
        std::lock_guard<std::mutex> hold(start_);
        thread_ = std::thread([this] { run(); });
    }

    virtual ~Poller() = default;

    void finish()
    {
        thread_.join();
    }

    int rounds() const { return rounds_.load(); }

protected:
    virtual int sample() { return -1; }

private:
    void run()
    {
        {
            std::lock_guard<std::mutex> hold(start_);
            id_ = thread_.get_id();
        }
        std::this_thread::yield();
        for (int i = 0; i < 3; i++) {
            board_.post(name_, sample());
            rounds_.fetch_add(1);
        }
    }

    Board &board_;
    std::string name_;
    std::mutex start_;
    std::thread::id id_;
    std::atomic<int> rounds_{0};
    std::thread thread_;
};

class TemperaturePoller : public Poller {
public:
    TemperaturePoller(Board &board, int base)
        : Poller(board, "temp"), base_(base)
    {
    }

protected:
    int sample() override { return base_ + next_++; }

private:
    int base_ = 0;
    int next_ = 0;
};

class FanPoller : public Poller {
public:
    explicit FanPoller(Board &board, int speed)
        : Poller(board, "fan"), speed_(speed)
    {
    }

protected:
    int sample() override { return speed_ - 2 * next_++; }

private:
    int speed_ = 0;
    int next_ = 0;
};

int main()
{
    Board board;
    std::vector<std::unique_ptr<Poller>> pollers;
    pollers.push_back(std::make_unique<TemperaturePoller>(board, 36));
    pollers.push_back(std::make_unique<FanPoller>(board, 900));
    int rounds = 0;
    for (auto &p : pollers) {
        p->finish();
        rounds += p->rounds();
    }
    std::printf("%zu lines, %d bad\n", board.lines(), board.bad());
    return board.bad() != 0 || rounds != int(board.lines());
}
