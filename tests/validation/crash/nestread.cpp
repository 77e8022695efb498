#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class ReadWriteLock {
public:
    void lockRead()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        while (writing_ || wantWrite_ > 0)
            changed_.wait(guard);
        ++readers_;
    }

    void unlockRead()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        if (--readers_ == 0)
            changed_.notify_all();
    }

    void lockWrite()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        ++wantWrite_;
        while (writing_ || readers_ > 0)
            changed_.wait(guard);
        --wantWrite_;
        writing_ = true;
    }

    void unlockWrite()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        writing_ = false;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int readers_ = 0;
    int wantWrite_ = 0;
    bool writing_ = false;
};

struct Collection {
    std::string name;
    std::vector<int> documents;
};

class Catalog {
public:
    void create(const std::string& name)
    {
        lock_.lockWrite();
        Collection& c = collections_[name];
        c.name = name;
        lock_.unlockWrite();
    }

    void insert(const std::string& name, int key)
    {
        lock_.lockWrite();
        collections_[name].documents.push_back(key);
        lock_.unlockWrite();
    }

    size_t count(const std::string& name)
    {
        lock_.lockRead();
        auto it = collections_.find(name);
        size_t n = it == collections_.end() ? 0 : it->second.documents.size();
        lock_.unlockRead();
        return n;
    }

    size_t figures()
    {
        size_t total = 0;
        lock_.lockRead();
        for (const auto& entry : collections_)
            total += entry.first.size() + count(entry.first);
        lock_.unlockRead();
        return total;
    }

private:
    ReadWriteLock lock_;
    std::map<std::string, Collection> collections_;
};

static void statistics(Catalog& catalog, size_t& seen)
{
    for (int i = 0; i < 2; ++i)
        seen += catalog.figures();
}

static void loader(Catalog& catalog, int first)
{
    for (int i = 0; i < 3; ++i)
        catalog.insert(i % 2 ? "users" : "orders", first + i);
}

int main()
{
    Catalog catalog;
    size_t seen = 0;
    catalog.create("users");
    catalog.create("orders");
    std::thread stats(statistics, std::ref(catalog), std::ref(seen));
    std::thread load(loader, std::ref(catalog), 100);
    stats.join();
    load.join();
    std::printf("%zu users, %zu orders\n", catalog.count("users"), catalog.count("orders"));
    return seen > 0 && catalog.count("users") + catalog.count("orders") == 3 ? 0 : 1;
}
