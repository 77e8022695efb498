#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class TokenSource {
public:
    explicit TokenSource(uint64_t seed) : state_(seed ? seed : 1) {}

    uint64_t next()
    {
        uint64_t x = state_;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state_ = x;
        return x * 0x2545F4914F6CDD1DULL;
    }

private:
    uint64_t state_;
};

struct Session {
    std::string user;
    unsigned opened = 0;
};

class SessionTable {
public:
    explicit SessionTable(uint64_t seed) : tokens_(seed) {}

    std::string open(const std::string &user)
    {
        std::string token = format(tokens_.next());
        std::lock_guard<std::mutex> g(lock_);
        Session &s = sessions_[token];
        if (s.opened++ > 0)
            clashes_++;
        s.user = user;
        opened_.fetch_add(1, std::memory_order_relaxed);
        return token;
    }

    std::string user(const std::string &token)
    {
        std::lock_guard<std::mutex> g(lock_);
        auto it = sessions_.find(token);
        return it == sessions_.end() ? std::string() : it->second.user;
    }

    unsigned clashes()
    {
        std::lock_guard<std::mutex> g(lock_);
        return clashes_;
    }

    size_t size()
    {
        std::lock_guard<std::mutex> g(lock_);
        return sessions_.size();
    }

    unsigned opened() const { return opened_.load(std::memory_order_relaxed); }

private:
    static std::string format(uint64_t n)
    {
        char text[24];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
        return text;
    }

    TokenSource tokens_;
    std::mutex lock_;
    std::map<std::string, Session> sessions_;
    unsigned clashes_ = 0;
    std::atomic<unsigned> opened_{0};
};

void front_end(SessionTable &table, const std::string &name, int &wrong)
{
    std::vector<std::pair<std::string, std::string>> mine;
    for (int i = 0; i < 5; i++) {
        std::string user = name + std::to_string(i);
        mine.emplace_back(table.open(user), user);
    }
    for (const auto &m : mine)
        if (table.user(m.first) != m.second)
            wrong++;
}

} // namespace

int main()
{
    SessionTable table(20100301);
    int wrong[2] = {0, 0};
    std::thread web(front_end, std::ref(table), "web", std::ref(wrong[0]));
    std::thread api(front_end, std::ref(table), "api", std::ref(wrong[1]));
    web.join();
    api.join();
    std::printf("%u sessions opened, %zu in the table\n", table.opened(), table.size());
    if (wrong[0] + wrong[1] + table.clashes() > 0) {
        std::fprintf(stderr, "%u tokens were issued twice\n", table.clashes());
        return 1;
    }
    return 0;
}
