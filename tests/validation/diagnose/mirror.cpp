// Settings of a browser: one thread changes them, mirrors in other threads
// follow the changes from the moment on when they are made.
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

class Settings {
public:
    using Listener = std::function<void(long)>;

    // Returns how many changes there were before.
    long subscribe(Listener listener)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        listeners_.push_back(std::move(listener));
        return changes_;
    }

    void change(long value)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        value_ = value;
        changes_++;
        for (const Listener &listener : listeners_)
            listener(value_);
    }

    long changes()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        return changes_;
    }

private:
    std::mutex mutex_;
    std::vector<Listener> listeners_;
    long value_ = 0;
    long changes_ = 0;
};

std::atomic<long> notified{0};

class Mirror {
public:
    explicit Mirror(Settings &settings)
        : settings_(settings),
          since_(settings.subscribe([this](long value) { changed(value); })),
          updates_(0),
          last_(-1)
    {
    }

    Mirror(const Mirror &) = delete;
    Mirror &operator=(const Mirror &) = delete;

    // Has it seen all changes since it was made?
    bool complete() const { return updates_ == settings_.changes() - since_; }

    long last() const { return last_; }

private:
    void changed(long value)
    {
        updates_++;
        last_ = value;
        notified.fetch_add(1, std::memory_order_relaxed);
    }

    Settings &settings_;
    long since_;
    long updates_;
    long last_;
};

constexpr int kTabs = 3;
constexpr int kMirrors = 3;
constexpr int kChanges = 6;

struct Tab {
    std::vector<std::unique_ptr<Mirror>> mirrors;
};

void openTab(Settings &settings, Tab &tab)
{
    for (int i = 0; i < kMirrors; i++)
        tab.mirrors.push_back(std::make_unique<Mirror>(settings));
}

void edit(Settings &settings)
{
    for (int i = 1; i <= kChanges; i++)
        settings.change(10 * i);
}

} // namespace

int main()
{
    Settings settings;
    Tab tabs[kTabs];
    std::vector<std::thread> threads;
    int incomplete = 0;
    long last = -1;

    threads.emplace_back(edit, std::ref(settings));
    for (Tab &tab : tabs)
        threads.emplace_back(openTab, std::ref(settings), std::ref(tab));
    for (std::thread &t : threads)
        t.join();
    for (const Tab &tab : tabs)
        for (const auto &mirror : tab.mirrors) {
            incomplete += !mirror->complete();
            last = mirror->last() > last ? mirror->last() : last;
        }
    std::printf("%ld changes, %ld notified, last seen %ld\n", settings.changes(), notified.load(), last);
    if (incomplete) {
        std::fprintf(stderr, "%d mirrors are not up to date\n", incomplete);
        return 1;
    }
    return 0;
}
