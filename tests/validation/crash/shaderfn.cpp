#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct NativeFunction {
    int references = 0;
    int groupSize = 0;
    const char* source = nullptr;
};

static NativeFunction device[8];

static NativeFunction* createNative(const char* source, int groupSize)
{
    for (NativeFunction& f : device) {
        if (f.references == 0) {
            f.references = 1;
            f.groupSize = groupSize;
            f.source = source;
            return &f;
        }
    }
    std::abort();
}

static void retain(NativeFunction* f)
{
    if (f)
        f->references++;
}

static void release(NativeFunction* f)
{
    if (f && --f->references == 0) {
        f->groupSize = 0;
        f->source = nullptr;
    }
}

class ShaderFunction {
public:
    ShaderFunction() : native_(nullptr), uses_(0) {}
    explicit ShaderFunction(NativeFunction* f) : native_(f), uses_(0) {}
    ShaderFunction(const ShaderFunction& other) : native_(other.native_), uses_(other.uses_)
    {
        retain(native_);
    }
    ~ShaderFunction() { release(native_); }

    ShaderFunction& operator=(const ShaderFunction& other)
    {
        release(native_);
        native_ = other.native_;
        uses_ = other.uses_;
        retain(native_);
        return *this;
    }

    size_t codeSize() const { return std::strlen(native_->source); }
    int groupSize() const { return native_->groupSize; }
    bool empty() const { return native_ == nullptr; }
    void use() { uses_++; }
    int uses() const { return uses_; }

private:
    NativeFunction* native_;
    int uses_;
};

struct Pipeline {
    std::string name;
    ShaderFunction stage;
};

class PipelineCache {
public:
    explicit PipelineCache(size_t size) : entries_(size) {}

    void set(size_t at, const char* name, const ShaderFunction& f)
    {
        entries_[at].name = name;
        entries_[at].stage = f;
    }

    Pipeline& at(size_t i) { return entries_[i]; }

    void moveToFront(size_t i)
    {
        Pipeline hot = entries_[i];
        for (size_t k = i; k > 0; k--)
            entries_[k] = entries_[k - 1];
        entries_[0] = hot;
    }

    void compact()
    {
        size_t to = 0;
        for (size_t from = 0; from < entries_.size(); from++)
            if (!entries_[from].stage.empty())
                entries_[to++] = entries_[from];
        entries_.resize(to);
    }

    size_t totalCode() const
    {
        size_t total = 0;
        for (const Pipeline& p : entries_)
            total += p.stage.codeSize();
        return total;
    }

    size_t count() const { return entries_.size(); }

private:
    std::vector<Pipeline> entries_;
};

int main()
{
    PipelineCache cache(4);
    cache.set(0, "blur", ShaderFunction(createNative("kernel void blur()", 64)));
    cache.set(1, "tone", ShaderFunction(createNative("kernel void tone(float)", 32)));
    cache.set(2, "sky", ShaderFunction(createNative("kernel void sky(int, int)", 16)));
    cache.at(1).stage.use();
    cache.moveToFront(1);
    std::printf("%s first, group %d\n", cache.at(0).name.c_str(), cache.at(0).stage.groupSize());
    std::fflush(stdout);
    cache.compact();
    std::printf("%zu pipelines, %zu bytes of code\n", cache.count(), cache.totalCode());
    return 0;
}
