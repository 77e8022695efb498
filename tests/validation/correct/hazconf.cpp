#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

struct Config {
    int version;
    int limit;
    int checksum;
    explicit Config(int v) : version(v), limit(v * 10), checksum(v * 11) {}
    ~Config() { checksum = -1; }
};

class Domain {
public:
    static constexpr int slots = 3;

    void protect(int slot, const Config *p) { hazards_[std::size_t(slot)].store(p); }
    void clear(int slot) { hazards_[std::size_t(slot)].store(nullptr); }

    void retire(const Config *p)
    {
        retired_.push_back(p);
        scan();
    }

    void scan()
    {
        std::vector<const Config *> kept;
        for (const Config *p : retired_) {
            bool used = false;
            for (auto &h : hazards_)
                used = used || h.load() == p;
            if (used)
                kept.push_back(p);
            else
                delete p;
        }
        retired_.swap(kept);
    }

    std::size_t waiting() const { return retired_.size(); }

private:
    std::array<std::atomic<const Config *>, slots> hazards_{};
    std::vector<const Config *> retired_;
};

class Settings {
public:
    Settings() : current_(new Config(1)) {}
    ~Settings() { delete current_.load(); }

    const Config *acquire(int slot)
    {
        const Config *p = current_.load();
        for (;;) {
            domain_.protect(slot, p);
            const Config *again = current_.load();
            if (again == p)
                return p;
            p = again;
        }
    }

    void release(int slot) { domain_.clear(slot); }

    void publish(int version)
    {
        const Config *old = current_.exchange(new Config(version));
        domain_.retire(old);
    }

    std::size_t settle()
    {
        domain_.scan();
        return domain_.waiting();
    }

private:
    std::atomic<const Config *> current_;
    Domain domain_;
};

int main()
{
    Settings settings;
    std::array<int, 2> wrong{};
    std::vector<std::thread> readers;
    for (int r = 0; r < 2; r++)
        readers.emplace_back([&, r] {
            int last = 0;
            for (int i = 0; i < 5; i++) {
                const Config *c = settings.acquire(r);
                if (c->checksum != c->limit + c->version || c->version < last)
                    wrong[std::size_t(r)]++;
                last = c->version;
                settings.release(r);
            }
        });
    for (int version = 2; version <= 5; version++)
        settings.publish(version);
    for (auto &t : readers)
        t.join();
    std::size_t left = settings.settle();
    std::printf("%d wrong, %zu left\n", wrong[0] + wrong[1], left);
    return wrong[0] + wrong[1] != 0 || left != 0;
}
