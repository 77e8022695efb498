#include <functional>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Callback = std::function<void(const std::string &, int)>;

class Store;

struct Watch {
    std::string key;
    Callback fn;
};

class Hub {
public:
    void emit(const std::string &key, int value);
    void attach(Store &store, const std::string &key, Callback fn);
    void detach(const std::string &key);
    int delivered();

private:
    std::mutex mu_;
    std::vector<Watch> watches_;
    int delivered_ = 0;
};

class Store {
public:
    explicit Store(Hub &hub)
        : hub_(hub) {
    }

    void set(const std::string &key, int value) {
        std::lock_guard<std::mutex> g(mu_);
        auto it = values_.find(key);
        if (it != values_.end() && it->second == value)
            return;
        values_[key] = value;
        version_++;
        hub_.emit(key, value);
    }

    int get(const std::string &key) {
        std::lock_guard<std::mutex> g(mu_);
        auto it = values_.find(key);
        if (it == values_.end())
            return 0;
        return it->second;
    }

    int version() {
        std::lock_guard<std::mutex> g(mu_);
        return version_;
    }

private:
    Hub &hub_;
    std::mutex mu_;
    std::map<std::string, int> values_;
    int version_ = 0;
};

void Hub::emit(const std::string &key, int value) {
    std::lock_guard<std::mutex> g(mu_);
    for (auto &w : watches_) {
        if (w.key != key)
            continue;
        w.fn(key, value);
        delivered_++;
    }
}

void Hub::attach(Store &store, const std::string &key, Callback fn) {
    std::lock_guard<std::mutex> g(mu_);
    watches_.push_back(Watch{key, fn});
    int now = store.get(key);
    fn(key, now);
    delivered_++;
}

void Hub::detach(const std::string &key) {
    std::lock_guard<std::mutex> g(mu_);
    std::vector<Watch> kept;
    for (auto &w : watches_) {
        if (w.key != key)
            kept.push_back(w);
    }
    watches_.swap(kept);
}

int Hub::delivered() {
    std::lock_guard<std::mutex> g(mu_);
    return delivered_;
}

static void run_backend(Store &store) {
    const char *keys[] = {"volume", "balance", "mute"};
    for (int i = 0; i < 9; i++)
        store.set(keys[i % 3], i);
}

struct Panel {
    std::map<std::string, int> labels;
};

static void run_panel(Hub &hub, Store &store, Panel &panel) {
    const char *keys[] = {"volume", "mute"};
    for (int i = 0; i < 4; i++) {
        std::string key = keys[i % 2];
        Callback fn = [&panel](const std::string &k, int v) {
            panel.labels[k] = v;
        };
        hub.attach(store, key, fn);
        hub.detach(key);
    }
}

int main() {
    Hub hub;
    Store store(hub);
    Panel panel;

    store.set("volume", 40);
    store.set("mute", 1);

    std::thread backend([&] { run_backend(store); });
    std::thread ui([&] { run_panel(hub, store, panel); });
    backend.join();
    ui.join();

    std::printf("version %d, delivered %d, labels %zu\n",
                store.version(), hub.delivered(),
                panel.labels.size());
    return 0;
}
