// Texts that are shared until one of the owners changes his: the buffer has a
// count of references.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

struct Rep {
    int refs;
    int length;
    bool alive;
    char text[32];
};

static std::mutex pool_mutex;
static std::vector<Rep *> pool;
static std::atomic<long> copies{0};

static Rep *rep_new(const char *s)
{
    Rep *r = nullptr;
    {
        std::lock_guard<std::mutex> g(pool_mutex);
        if (!pool.empty()) {
            r = pool.back();
            pool.pop_back();
        }
    }
    if (!r)
        r = new Rep;
    r->refs = 1;
    r->alive = true;
    r->length = static_cast<int>(std::strlen(s));
    std::strncpy(r->text, s, sizeof r->text - 1);
    r->text[sizeof r->text - 1] = 0;
    return r;
}

static void rep_free(Rep *r)
{
    assert(r->alive);
    r->alive = false;
    std::lock_guard<std::mutex> g(pool_mutex);
    pool.push_back(r);
}

class Text {
public:
    explicit Text(const char *s) : rep_(rep_new(s)) {}
    Text(const Text &o) : rep_(o.rep_)
    {
        rep_->refs++;
        copies.fetch_add(1, std::memory_order_relaxed);
    }
    Text &operator=(const Text &) = delete;
    ~Text()
    {
        if (--rep_->refs == 0)
            rep_free(rep_);
    }
    void append(char c)
    {
        if (rep_->refs > 1) {
            Rep *mine = rep_new(rep_->text);

            rep_->refs--;
            rep_ = mine;
        }
        if (rep_->length < static_cast<int>(sizeof rep_->text) - 1) {
            rep_->text[rep_->length++] = c;
            rep_->text[rep_->length] = 0;
        }
    }
    int length() const
    {
        assert(rep_->alive);
        return rep_->length;
    }

private:
    Rep *rep_;
};

static int shorten(Text t)
{
    return t.length() / 2;
}

static void editor(const Text *title, int *sum)
{
    for (int i = 0; i < 1500; i++)
        *sum += shorten(*title);
    Text own(*title);
    own.append('!');
    *sum += own.length();
}

int main()
{
    int sum[3] = {0, 0, 0};
    {
        Text title("the title of the document");
        std::vector<std::thread> th;

        for (int i = 0; i < 3; i++)
            th.emplace_back(editor, &title, &sum[i]);
        for (std::thread &t : th)
            t.join();
        assert(title.length() == 25);
    }
    std::printf("%d %d %d, %ld copies\n", sum[0], sum[1], sum[2], copies.load());
    return 0;
}
