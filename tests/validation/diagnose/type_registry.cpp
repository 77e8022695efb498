#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct TypeInfo {
    int id;
    int parent;
    size_t instance_size;
};

struct TypeDef {
    const char *name;
    const TypeDef *parent;
    size_t extra;
};

class TypeTable {
public:
    int find(const std::string &name)
    {
        std::lock_guard<std::mutex> g(mu_);
        auto it = types_.find(name);
        if (it == types_.end())
            return 0;
        return it->second.id;
    }

    int add(const std::string &name, int parent, size_t size)
    {
        std::lock_guard<std::mutex> g(mu_);
        if (types_.count(name) != 0) {
            fprintf(stderr, "cannot register existing type\n");
            abort();
        }
        TypeInfo info;
        info.id = ++last_id_;
        info.parent = parent;
        info.instance_size = size;
        types_[name] = info;
        return info.id;
    }

    size_t count()
    {
        std::lock_guard<std::mutex> g(mu_);
        return types_.size();
    }

private:
    std::mutex mu_;
    std::map<std::string, TypeInfo> types_;
    int last_id_ = 0;
};

static TypeTable table;

static const TypeDef object_def = { "Object", nullptr, 24 };
static const TypeDef element_def = { "Element", &object_def, 64 };
static const TypeDef pad_def = { "Pad", &object_def, 48 };
static const TypeDef queue_def = { "Queue", &element_def, 96 };
static const TypeDef sink_def = { "Sink", &element_def, 32 };

static size_t total_size(const TypeDef *def)
{
    size_t n = 0;
    while (def) {
        n += def->extra;
        def = def->parent;
    }
    return n;
}

static int get_type(const TypeDef *def)
{
    int id = table.find(def->name);
    if (id == 0) {
        int parent = 0;
        if (def->parent)
            parent = get_type(def->parent);
        size_t size = total_size(def);
        id = table.add(def->name, parent, size);
    }
    return id;
}

class Pipeline {
public:
    explicit Pipeline(std::vector<const TypeDef *> defs)
        : defs_(std::move(defs))
    {
    }

    void build()
    {
        for (const TypeDef *def : defs_) {
            int id = get_type(def);
            ids_.push_back(id);
        }
    }

    size_t size() const
    {
        return ids_.size();
    }

private:
    std::vector<const TypeDef *> defs_;
    std::vector<int> ids_;
};

int main()
{
    Pipeline a({ &queue_def, &sink_def });
    Pipeline b({ &pad_def, &sink_def, &queue_def });
    std::thread ta([&a] { a.build(); });
    std::thread tb([&b] { b.build(); });
    ta.join();
    tb.join();
    printf("%zu types, %zu used\n", table.count(), a.size() + b.size());
    return table.count() == 5 ? 0 : 1;
}
