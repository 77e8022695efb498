#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kMaxFormats = 32;
constexpr unsigned kPage = 4096;

struct FormatInfo {
    const char *text = nullptr;
    unsigned arguments = 0;
    unsigned width = 0;
};

struct Layout {
    unsigned width = 0;
    unsigned per_page = 0;
};

class Dictionary {
public:
    unsigned add(const char *text, unsigned arguments)
    {
        unsigned id = next_.fetch_add(1);
        FormatInfo info;
        info.text = text;
        info.arguments = arguments;
        info.width = 8 + 8 * arguments;
        std::lock_guard<std::mutex> g(lock_);
        infos_[id] = info;
        return id;
    }

    unsigned count() const { return next_.load(); }

    unsigned width(unsigned id)
    {
        std::lock_guard<std::mutex> g(lock_);
        return infos_[id].width;
    }

private:
    std::atomic<unsigned> next_{0};
    std::mutex lock_;
    FormatInfo infos_[kMaxFormats];
};

class Decoder {
public:
    explicit Decoder(Dictionary &d) : dictionary_(d) {}

    void refresh()
    {
        unsigned n = dictionary_.count();
        while (layouts_.size() < n) {
            Layout l;
            l.width = dictionary_.width(static_cast<unsigned>(layouts_.size()));
            layouts_.push_back(l);
        }
    }

    void plan()
    {
        for (Layout &l : layouts_)
            if (l.per_page == 0)
                l.per_page = kPage / l.width;
    }

    unsigned capacity() const
    {
        unsigned sum = 0;
        for (const Layout &l : layouts_)
            sum += l.per_page;
        return sum;
    }

    size_t formats() const { return layouts_.size(); }

private:
    Dictionary &dictionary_;
    std::vector<Layout> layouts_;
};

class Logger {
public:
    Logger(Dictionary &d, std::atomic<long> &records) : dictionary_(d), records_(records) {}

    void run(unsigned formats)
    {
        for (unsigned i = 0; i < formats; i++) {
            unsigned id = dictionary_.add("value {} of {}", i % 4);
            records_.fetch_add(id + 1, std::memory_order_relaxed);
        }
    }

private:
    Dictionary &dictionary_;
    std::atomic<long> &records_;
};

} // namespace

int main()
{
    Dictionary dictionary;
    Decoder decoder(dictionary);
    std::atomic<long> records{0};
    Logger request(dictionary, records), storage(dictionary, records);
    std::thread a([&] { request.run(4); });
    std::thread b([&] { storage.run(3); });
    std::thread d([&] {
        for (int pass = 0; pass < 4; pass++) {
            decoder.refresh();
            decoder.plan();
        }
    });
    a.join();
    b.join();
    d.join();
    decoder.refresh();
    decoder.plan();
    std::printf("%zu formats, %u records to a page set, %ld\n", decoder.formats(), decoder.capacity(),
                records.load());
    return 0;
}
