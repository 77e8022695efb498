#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static std::atomic<int> live_textures{ 0 };

class Texture {
public:
    Texture(std::string name, size_t side)
        : name_(std::move(name)), texels_(side * side, 7)
    {
        live_textures.fetch_add(1, std::memory_order_relaxed);
    }

    void ref()
    {
        refs_.fetch_add(1, std::memory_order_relaxed);
    }

    void unref()
    {
        if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

    long shade() const
    {
        long sum = 0;
        for (int t : texels_)
            sum += t;
        return sum;
    }

    const std::string &name() const
    {
        return name_;
    }

private:
    ~Texture()
    {
        live_textures.fetch_sub(1, std::memory_order_relaxed);
    }

    std::string name_;
    std::vector<int> texels_;
    std::atomic<int> refs_{ 1 };
};

class TextureCache {
public:
    Texture *acquire(const std::string &name)
    {
        std::lock_guard<std::mutex> g(mu_);
        auto it = map_.find(name);
        Texture *t = nullptr;
        if (it == map_.end()) {
            t = new Texture(name, 4);
            map_[name] = t;
        } else {
            t = it->second;
        }
        t->ref();
        return t;
    }

    void evict(const std::string &name)
    {
        Texture *t = nullptr;
        {
            std::lock_guard<std::mutex> g(mu_);
            auto it = map_.find(name);
            if (it == map_.end())
                return;
            t = it->second;
            map_.erase(it);
        }
        t->unref();
    }

    void clear()
    {
        std::unordered_map<std::string, Texture *> old;
        {
            std::lock_guard<std::mutex> g(mu_);
            old.swap(map_);
        }
        for (auto &e : old)
            e.second->unref();
    }

private:
    std::mutex mu_;
    std::unordered_map<std::string, Texture *> map_;
};

static const char *const names[] = { "brick", "grass", "water" };

static void draw(TextureCache &cache, int frames, long *out)
{
    for (int i = 0; i < frames; i++) {
        Texture *t = cache.acquire(names[i % 3]);
        *out += t->shade();
        t->unref();
    }
}

static void trim(TextureCache &cache, int rounds)
{
    for (int i = 0; i < rounds; i++)
        cache.evict(names[i % 3]);
}

int main()
{
    TextureCache cache;
    long a = 0;
    long b = 0;
    std::thread ta([&] { draw(cache, 15, &a); });
    std::thread tb([&] { draw(cache, 15, &b); });
    std::thread tc([&] { trim(cache, 9); });
    ta.join();
    tb.join();
    tc.join();
    cache.clear();
    printf("shaded %ld %ld\n", a, b);
    if (a != 15 * 112 || b != a)
        return 1;
    return live_textures.load() == 0 ? 0 : 1;
}
