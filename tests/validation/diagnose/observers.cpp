#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Observer {
public:
    explicit Observer(std::string name) : name_(std::move(name)) {}

    void onChange(int generation) {
        std::lock_guard<std::mutex> g(mu_);
        if (generation > last_)
            last_ = generation;
        calls_++;
    }

    int calls() {
        std::lock_guard<std::mutex> g(mu_);
        return calls_;
    }

private:
    std::mutex mu_;
    std::string name_;
    int last_ = 0;
    int calls_ = 0;
};

class ObserverList {
public:
    void add(Observer *o) {
        std::lock_guard<std::mutex> g(lock_);
        list_.push_back(o);
        peak_ = peak_ > list_.size() ? peak_ : list_.size();
    }

    void remove(Observer *o) {
        for (size_t i = 0; i < list_.size(); i++) {
            if (list_[i] == o) {
                list_.erase(list_.begin() + static_cast<long>(i));
                break;
            }
        }
    }

    void notify(int generation) {
        std::lock_guard<std::mutex> g(lock_);
        for (size_t i = 0; i < list_.size(); i++) {
            Observer *o = list_[i];
            o->onChange(generation);
        }
    }

    size_t size() {
        std::lock_guard<std::mutex> g(lock_);
        return list_.size();
    }

private:
    std::mutex lock_;
    std::vector<Observer *> list_;
    size_t peak_ = 0;
};

static void closeTab(ObserverList &list, Observer &tab) {
    list.remove(&tab);
}

int main() {
    ObserverList list;
    Observer tab("tab"), history("history"), sync("sync");
    list.add(&tab);
    list.add(&history);
    list.add(&sync);
    std::thread ui([&] { closeTab(list, tab); });
    for (int g = 1; g <= 4; g++)
        list.notify(g);
    ui.join();
    std::printf("history %d, sync %d, tab %d\n", history.calls(), sync.calls(), tab.calls());
    return history.calls() == 4 && sync.calls() == 4 && list.size() == 2 ? 0 : 1;
}
