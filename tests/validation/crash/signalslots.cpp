#include <cstdio>
#include <functional>
#include <list>
#include <string>
#include <vector>

class Signal {
public:
    using Slot = std::function<void(int)>;
    using Handle = std::list<Slot>::iterator;

    Handle connect(Slot s) {
        return slots_.insert(slots_.end(), std::move(s));
    }

    void disconnect(Handle h) {
        slots_.erase(h);
    }

    void emit(int v) {
        for (auto it = slots_.begin(); it != slots_.end(); ++it)
            (*it)(v);
    }

    size_t size() const {
        return slots_.size();
    }

private:
    std::list<Slot> slots_;
};

class Player {
public:
    Signal positionChanged;

    void advance(int seconds) {
        position_ += seconds;
        positionChanged.emit(position_);
    }

private:
    int position_ = 0;
};

class SleepTimer {
public:
    SleepTimer(Player &p, int limit) : player_(p), limit_(limit) {
        handle_ = player_.positionChanged.connect([this](int pos) { tick(pos); });
    }

    bool expired() const {
        return expired_;
    }

private:
    void tick(int pos) {
        if (!expired_ && pos >= limit_) {
            expired_ = true;
            player_.positionChanged.disconnect(handle_);
        }
    }

    Player &player_;
    Signal::Handle handle_;
    int limit_;
    bool expired_ = false;
};

class Display {
public:
    explicit Display(Player &p) {
        p.positionChanged.connect([this](int pos) { shown_.push_back(pos); });
    }

    size_t updates() const {
        return shown_.size();
    }

private:
    std::vector<int> shown_;
};

int main() {
    Player player;
    Display lyrics(player);
    SleepTimer timer(player, 60);
    Display bar(player);
    for (int i = 0; i < 4; i++)
        player.advance(25);
    std::printf("expired %d, %zu and %zu updates, %zu slots\n", timer.expired(),
                lyrics.updates(), bar.updates(), player.positionChanged.size());
    return bar.updates() == 4 ? 0 : 1;
}
