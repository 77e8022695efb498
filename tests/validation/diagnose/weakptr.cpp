// Strong and weak references to a document that views share.  The last strong
// reference closes the document, a weak one can be turned into a strong one.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Document {
    std::atomic<int> open{1};
    std::string title = "untitled";
    std::atomic<long> edits{0};
};

struct Control {
    std::atomic<int> strong{1};
    std::atomic<int> weak{1};
    Document *object;
    std::atomic<int> disposed{0};
};

class Strong {
public:
    explicit Strong(Control *c = nullptr) : c_(c) {}
    Strong(const Strong &) = delete;
    Strong(Strong &&o) noexcept : c_(o.c_) { o.c_ = nullptr; }
    ~Strong() { reset(); }
    explicit operator bool() const { return c_ != nullptr; }
    Document *operator->() const { return c_->object; }

    void reset()
    {
        if (!c_)
            return;
        if (c_->strong.fetch_sub(1) == 1) {
            c_->object->open.store(0);
            c_->disposed.fetch_add(1);
        }
        c_ = nullptr;
    }

private:
    Control *c_;
};

class Weak {
public:
    explicit Weak(Control *c) : c_(c) { c_->weak.fetch_add(1); }
    ~Weak() { c_->weak.fetch_sub(1); }
    Weak(const Weak &) = delete;

    Strong lock() const
    {
        if (c_->strong.load() == 0)
            return Strong();
        c_->strong.fetch_add(1);
        return Strong(c_);
    }

private:
    Control *c_;
};

static std::mutex log_mutex;
static std::vector<std::string> messages;

static void log_message(const char *who)
{
    std::lock_guard<std::mutex> g(log_mutex);
    messages.push_back(who);
}

static void view_thread(Control *c, const char *name)
{
    Weak w(c);

    for (int i = 0; i < 3; i++) {
        Strong s = w.lock();

        if (!s) {
            log_message(name);
            return;
        }
        if (!s->open.load()) {
            std::fprintf(stderr, "%s: document used after close\n", name);
            std::exit(1);
        }
        s->edits.fetch_add(1);
    }
    log_message(name);
}

static void owner_thread(Strong s)
{
    s->edits.fetch_add(10);
    log_message("owner");
    s.reset();
}

int main()
{
    Document doc;
    Control c;

    c.object = &doc;
    {
        Strong first(&c);
        std::thread v1(view_thread, &c, "outline");
        std::thread v2(view_thread, &c, "preview");
        std::thread o(owner_thread, std::move(first));

        v1.join();
        v2.join();
        o.join();
    }
    std::printf("%zu messages, %d references, closed %d times\n", messages.size(),
                c.strong.load(), c.disposed.load());
    return c.disposed.load() == 1 ? 0 : 1;
}
