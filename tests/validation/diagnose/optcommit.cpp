// Versioned record with optimistic commit: a writer reads a snapshot, works on
// it unlocked, and commits only if the version is still the same.
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Snapshot {
    unsigned version;
    long value;
};

class Record {
  public:
    Snapshot read() const {
        std::lock_guard<std::mutex> g(mu_);
        return {version_, value_};
    }
    bool commit(const Snapshot &base, long value) {
        std::unique_lock<std::mutex> g(mu_);
        if (version_ != base.version)
            return false;
        value_ = value;
        ++version_;
        g.unlock();
        changed_.notify_all();
        return true;
    }
    long waitFor(unsigned version) {
        std::unique_lock<std::mutex> g(mu_);
        changed_.wait(g, [&] { return version_ >= version; });
        return value_;
    }

  private:
    mutable std::mutex mu_;
    std::condition_variable changed_;
    unsigned version_ = 0;
    long value_ = 0;
};

static long mix(long v, int step)
{
    volatile long spin = 0;
    for (int i = 0; i < 300; i++)
        spin = spin + i;
    return v + step;
}

static void writer(Record &r, int step, int times)
{
    for (int i = 0; i < times; i++) {
        for (;;) {
            Snapshot s = r.read();
            if (r.commit(s, mix(s.value, step)))
                break;
        }
    }
}

int main()
{
    auto rec = std::make_unique<Record>();
    long final_value = 0;
    std::vector<std::thread> ts;
    std::thread watcher([&] { final_value = rec->waitFor(60); });
    for (int w = 1; w <= 3; w++)
        ts.emplace_back(writer, std::ref(*rec), w * w, 20);
    for (auto &t : ts)
        t.join();
    watcher.join();
    std::string verdict = final_value == 280 ? "ok" : "wrong";
    std::printf("value %ld %s\n", final_value, verdict.c_str());
    return final_value == 280 ? 0 : 1;
}
