#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Matrix {
    int tx = 0;
    int ty = 0;
};

class Node {
public:
    void move(int x, int y)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        x_ = x;
        y_ = y;
        dirty_ = true;
    }

    bool update()
    {
        int x, y;
        {
            std::lock_guard<std::mutex> hold(mutex_);
            if (!dirty_)
                return false;
            x = x_;
            y = y_;
        }
        Matrix m;
        m.tx = x * 16 + 8;
        m.ty = y * 16 + 8;
        {
            std::lock_guard<std::mutex> hold(mutex_);
            world_ = m;
            dirty_ = false;
        }
        return true;
    }

    bool shows(int x, int y)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return world_.tx == x * 16 + 8 && world_.ty == y * 16 + 8;
    }

private:
    std::mutex mutex_;
    int x_ = 0;
    int y_ = 0;
    bool dirty_ = true;
    Matrix world_;
};

class Scene {
public:
    explicit Scene(int n)
    {
        for (int i = 0; i < n; i++)
            nodes_.push_back(std::make_unique<Node>());
    }

    int frame()
    {
        int n = 0;
        for (auto &node : nodes_)
            n += node->update();
        frames_.fetch_add(1, std::memory_order_relaxed);
        return n;
    }

    void step(int tick)
    {
        for (std::size_t i = 0; i < nodes_.size(); i++)
            nodes_[i]->move(tick, int(i) + tick);
        last_tick_ = tick;
    }

    int stale(int tick)
    {
        int n = 0;
        for (std::size_t i = 0; i < nodes_.size(); i++)
            n += !nodes_[i]->shows(tick, int(i) + tick);
        return n;
    }

    int frames() const { return frames_.load(std::memory_order_relaxed); }

private:
    std::vector<std::unique_ptr<Node>> nodes_;
    std::atomic<int> frames_{0};
    int last_tick_ = 0;
};

int main()
{
    constexpr int ticks = 4;
    Scene scene(2);
    int computed = 0;
    std::thread game([&] {
        for (int tick = 1; tick <= ticks; tick++)
            scene.step(tick);
    });
    for (int i = 0; i < 4; i++)
        computed += scene.frame();
    game.join();
    computed += scene.frame();
    int stale = scene.stale(ticks);
    std::printf("%d frames, %d stale nodes, %d computed\n", scene.frames(), stale, computed >= 2);
    return stale != 0;
}
