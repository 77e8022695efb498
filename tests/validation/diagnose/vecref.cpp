#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Account {
    int id;
    long bytes;
    long packets;
    char name[16];
};

class Ledger {
public:
    int open(const std::string &name)
    {
        Account a{};
        std::snprintf(a.name, sizeof a.name, "%s", name.c_str());
        std::lock_guard<std::mutex> hold(mutex_);
        a.id = int(accounts_.size());
        accounts_.push_back(a);
        return a.id;
    }

    Account &account(int id)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return accounts_[std::size_t(id)];
    }

    long bytes(int id)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return accounts_[std::size_t(id)].bytes;
    }

    std::size_t size()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return accounts_.size();
    }

private:
    std::mutex mutex_;
    std::vector<Account> accounts_;
};

class Meter {
public:
    Meter(Ledger &ledger, const std::string &name) : ledger_(ledger), id_(ledger.open(name)) {}

    void burst(int n)
    {
        Account &a = ledger_.account(id_);
        for (int i = 0; i < n; i++) {
            a.bytes += 100;
            a.packets++;
        }
        metered_.fetch_add(n, std::memory_order_relaxed);
    }

    void run()
    {
        for (int i = 0; i < 3; i++)
            burst(3);
    }

    int id() const { return id_; }
    static int metered() { return metered_.load(std::memory_order_relaxed); }

private:
    static inline std::atomic<int> metered_{0};
    Ledger &ledger_;
    int id_;
};

int main()
{
    Ledger ledger;
    Meter lan(ledger, "lan"), wan(ledger, "wan");
    std::thread a([&] { lan.run(); });
    std::thread b([&] { wan.run(); });
    for (int i = 0; i < 3; i++)
        ledger.open("guest" + std::to_string(i));
    a.join();
    b.join();
    long bytes = ledger.bytes(lan.id()) + ledger.bytes(wan.id());
    std::printf("%zu accounts, %d packets, %ld bytes\n", ledger.size(), Meter::metered(), bytes);
    return bytes != 100L * Meter::metered();
}
