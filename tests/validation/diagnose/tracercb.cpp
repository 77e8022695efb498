#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Registry {
public:
    using Gauge = std::function<int()>;

    void add(const std::string &name, Gauge gauge)
    {
        std::scoped_lock hold(mutex_);
        gauges_[name] = std::move(gauge);
    }

    int collect()
    {
        std::scoped_lock hold(mutex_);
        int sum = 0;
        scrapes_++;
        for (auto &[name, gauge] : gauges_) {
            sum += gauge();
        }
        return sum;
    }

    int scrapes()
    {
        std::scoped_lock hold(mutex_);
        return scrapes_;
    }

    std::size_t size()
    {
        std::scoped_lock hold(mutex_);
        return gauges_.size();
    }

private:
    std::mutex mutex_;
    std::map<std::string, Gauge> gauges_;
    int scrapes_ = 0;
};

class Pool {
public:
    Pool(Registry &registry, std::string name) : registry_(registry), name_(std::move(name))
    {
        registry_.add(name_ + ".used", [this] { return used(); });
    }

    void take(int n)
    {
        std::scoped_lock hold(mutex_);
        while (used_ + n > int(segments_.size()) * 4)
            grow();
        used_ += n;
    }

    void give(int n)
    {
        std::scoped_lock hold(mutex_);
        used_ -= n;
    }

    int used()
    {
        std::scoped_lock hold(mutex_);
        return used_;
    }

    std::size_t segments()
    {
        std::scoped_lock hold(mutex_);
        return segments_.size();
    }

private:
    void grow()
    {
        std::size_t index = segments_.size();
        segments_.emplace_back(64, 'x');
        registry_.add(name_ + ".segment" + std::to_string(index),
                      [] { return 64; });
    }

    Registry &registry_;
    std::string name_;
    std::mutex mutex_;
    std::vector<std::string> segments_;
    int used_ = 0;
};

int main()
{
    Registry registry;
    Pool buffers(registry, "buffers");
    Pool sessions(registry, "sessions");
    std::thread exporter([&] {
        for (int i = 0; i < 3; i++)
            registry.collect();
    });
    std::thread worker([&] {
        for (int i = 0; i < 4; i++) {
            buffers.take(3);
            if (i % 2)
                buffers.give(2);
        }
    });
    sessions.take(2);
    sessions.give(2);
    worker.join();
    exporter.join();
    int used = registry.collect();
    std::printf("%d used, %zu gauges, %zu segments, %d scrapes\n", used, registry.size(),
                buffers.segments() + sessions.segments(), registry.scrapes());
    return used == 8 + 4 * 64 && registry.scrapes() == 4 ? 0 : 1;
}
