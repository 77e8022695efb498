// Messages of a program in the user's language. The catalog is one object that
// is made when the first message is looked up, and shared by all threads from
// then on. Request handlers put their answers together from its messages.
#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../pause.h"

namespace {

struct Message {
    const char *key;
    const char *text;
};

constexpr std::array<Message, 8> german = {{
    {"greeting", "Guten Tag"},
    {"found", "gefunden"},
    {"missing", "nicht gefunden"},
    {"one-file", "eine Datei"},
    {"files", "Dateien"},
    {"empty", "leer"},
    {"total", "zusammen"},
    {"farewell", "Auf Wiedersehen"},
}};

class Catalog {
public:
    static Catalog *instance();
    const std::string &text(const std::string &key) const;
    static void discard();

private:
    void load();

    std::vector<std::string> keys_;
    std::vector<std::string> texts_;
    std::size_t size_ = 0;

    static Catalog *instance_;
    static std::mutex lock_;
};

Catalog *Catalog::instance_ = nullptr;
std::mutex Catalog::lock_;

// The lock is only taken until the catalog exists.
Catalog *Catalog::instance()
{
    if (instance_ == nullptr) {
        std::lock_guard<std::mutex> guard(lock_);
        if (instance_ == nullptr) {
            instance_ = new Catalog; PAUSE(60);
            instance_->load();
        }
    }
    return instance_;
}

void Catalog::load()
{
    keys_.reserve(german.size());
    texts_.reserve(german.size());
    for (const Message &m : german) {
        keys_.emplace_back(m.key);
        texts_.emplace_back(m.text);
    }
    size_ = german.size();
}

const std::string &Catalog::text(const std::string &key) const
{
    const std::size_t size = size_;
    for (std::size_t i = 0; i < size; i++)
        if (keys_[i] == key)
            return texts_[i];
    throw std::out_of_range("no message " + key);
}

void Catalog::discard()
{
    delete instance_;
    instance_ = nullptr;
}

// Reads the request and says how many files it asks for. Requests get longer
// in the course of the day.
int parse_request(int number)
{
    std::uint32_t h = 2166136261u;
    for (int i = 0; i < 4000 + 32000 * number; i++)
        h = (h ^ static_cast<std::uint32_t>(number + i)) * 16777619u;
    return static_cast<int>(h % 4);
}

std::string answer(int files)
{
    const Catalog *c = Catalog::instance();
    if (files == 0)
        return c->text("missing");
    if (files == 1)
        return c->text("one-file") + " " + c->text("found");
    return std::to_string(files) + " " + c->text("files") + " " + c->text("found");
}

class Handler {
public:
    Handler(int first, int count) : first_(first), count_(count) {}

    void run()
    {
        for (int i = 0; i < count_; i++) {
            int files = parse_request(first_ + i); PAUSE(first_ * 5);
            answers_.push_back(answer(files));
        }
    }

    void print() const
    {
        for (const std::string &a : answers_)
            std::printf("%s\n", a.c_str());
    }

private:
    int first_;
    int count_;
    std::vector<std::string> answers_;
};

} // namespace

int main()
{
    std::array<Handler, 2> handlers = {{Handler(0, 4), Handler(4, 4)}};
    std::vector<std::thread> threads;

    for (Handler &h : handlers)
        threads.emplace_back(&Handler::run, &h);
    for (std::thread &t : threads)
        t.join();
    for (const Handler &h : handlers)
        h.print();
    std::printf("%s\n", Catalog::instance()->text("farewell").c_str());
    Catalog::discard();
    return 0;
}
