#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

class Image {
public:
    Image(int width, int height) : width_(width), height_(height)
    {
        pixels_ = new unsigned char[std::size_t(width * height)];
        std::memset(pixels_, 0, std::size_t(width * height));
    }

    ~Image()
    {
        delete[] pixels_;
    }

    void fill(unsigned char value)
    {
        std::memset(pixels_, value, std::size_t(width_ * height_));
    }

    unsigned long sum() const
    {
        unsigned long s = 0;
        for (int i = 0; i < width_ * height_; i++)
            s += pixels_[i];
        return s;
    }

    int width() const { return width_; }
    int height() const { return height_; }

private:
    int width_;
    int height_;
    unsigned char *pixels_ = nullptr;
};

class Atlas {
public:
    explicit Atlas(std::string name) : name_(std::move(name)) { pages_.reserve(2); }

    int add(int width, int height)
    {
        pages_.emplace_back(width, height);
        area_ += width * height;
        return int(pages_.size()) - 1;
    }

    Image &page(int index) { return pages_[std::size_t(index)]; }

    unsigned long checksum() const
    {
        unsigned long s = 0;
        for (const Image &page : pages_)
            s = s * 7 + page.sum();
        return s;
    }

    int pages() const { return int(pages_.size()); }
    int area() const { return area_; }
    const std::string &name() const { return name_; }

private:
    std::string name_;
    std::vector<Image> pages_;
    int area_ = 0;
};

static void load(Atlas &atlas, int count)
{
    for (int i = 0; i < count; i++) {
        int index = atlas.add(8 + i, 8);
        atlas.page(index).fill(static_cast<unsigned char>(i + 1));
    }
    std::printf("%s: %d pages, %d pixels\n", atlas.name().c_str(), atlas.pages(), atlas.area());
    std::fflush(stdout);
}

int main()
{
    {
        Atlas icons("icons");
        load(icons, 2);
        std::printf("%lu\n", icons.checksum());
        std::fflush(stdout);
    }
    {
        Atlas tiles("tiles");
        load(tiles, 3);
        std::printf("%d tiles\n", tiles.pages());
        std::fflush(stdout);
    }
    std::printf("done\n");
    return 0;
}
