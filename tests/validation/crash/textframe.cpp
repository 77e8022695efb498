// Layout engine: the reflow thread moves a frame to another part of the
// text, the paint thread measures and paints the part the frame shows.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class TextFrame {
public:
    explicit TextFrame(std::string text)
        : text_(std::move(text)), offset_(0), length_(0), dirty_(false) {}

    void SetContentOffset(size_t n)
    {
        std::lock_guard<std::mutex> g(lock_);
        offset_ = n;
        dirty_ = true;
    }

    void SetContentLength(size_t n)
    {
        std::lock_guard<std::mutex> g(lock_);
        length_ = n;
        dirty_ = true;
    }

    size_t ContentOffset() const
    {
        std::lock_guard<std::mutex> g(lock_);
        return offset_;
    }

    size_t ContentLength() const
    {
        std::lock_guard<std::mutex> g(lock_);
        return length_;
    }

    const std::string &Text() const { return text_; }

private:
    const std::string text_;
    mutable std::mutex lock_;
    size_t offset_;
    size_t length_;
    bool dirty_;
};

struct GlyphRun {
    std::vector<char> glyphs;
    unsigned width = 0;
};

static unsigned Advance(char c)
{
    switch (c) {
    case 'i': case 'l': case '.': return 3;
    case 'm': case 'w': return 9;
    case ' ': return 4;
    default: return 6;
    }
}

static void PaintFrame(const TextFrame &f, GlyphRun &run)
{
    size_t off = f.ContentOffset();
    size_t len = f.ContentLength();

    assert(off + len <= f.Text().size());
    run.glyphs.clear();
    run.width = 0;
    for (size_t i = off; i < off + len; i++) {
        run.glyphs.push_back(f.Text()[i]);
        run.width += Advance(f.Text()[i]);
    }
}

static void Reflow(TextFrame &f, size_t first, size_t count)
{
    f.SetContentOffset(first);
    f.SetContentLength(count);
}

int main()
{
    TextFrame frame("the quick brown fox jumps over the lazy dog while it rains.");
    Reflow(frame, 0, 44);

    GlyphRun run;
    std::thread paint([&] {
        for (int i = 0; i < 3; i++)
            PaintFrame(frame, run);
    });
    std::thread reflow([&] {
        unsigned used = 0;
        size_t n = 0;
        while (n < frame.Text().size() && used < 240)
            used += Advance(frame.Text()[n++]);
        Reflow(frame, n, frame.Text().size() - n);
    });
    paint.join();
    reflow.join();

    PaintFrame(frame, run);
    std::printf("%zu glyphs, width %u\n", run.glyphs.size(), run.width);
    return 0;
}
