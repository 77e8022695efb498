#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

class Node {
public:
    explicit Node(std::string id)
        : id_(std::move(id)) {
    }

    virtual ~Node() {}

    virtual size_t weight() const = 0;

    void ref() {
        refs_++;
    }

    void deref() {
        refs_--;
        if (refs_ == 0)
            delete this;
    }

    const std::string &id() const {
        return id_;
    }

private:
    int refs_ = 1;
    std::string id_;
};

class Text : public Node {
public:
    Text(std::string id, std::string data)
        : Node(std::move(id)), data_(std::move(data)) {
    }

    size_t weight() const override {
        return data_.size();
    }

private:
    std::string data_;
};

class Image : public Node {
public:
    Image(std::string id, int w, int h)
        : Node(std::move(id)), w_(w), h_(h) {
    }

    size_t weight() const override {
        return static_cast<size_t>(w_) * h_;
    }

private:
    int w_;
    int h_;
};

class Ref {
public:
    Ref() {}

    explicit Ref(Node *n)
        : n_(n) {
        if (n_)
            n_->ref();
    }

    Ref(const Ref &o)
        : Ref(o.n_) {
    }

    Ref(Ref &&o)
        : n_(std::exchange(o.n_, nullptr)) {
    }

    ~Ref() {
        if (n_)
            n_->deref();
    }

    Ref &operator=(Ref o) {
        std::swap(n_, o.n_);
        return *this;
    }

    Node *operator->() const {
        return n_;
    }

    explicit operator bool() const {
        return n_ != nullptr;
    }

    Node *get() const {
        return n_;
    }

    static Ref adopt(Node *n) {
        Ref r;
        r.n_ = n;
        return r;
    }

private:
    Node *n_ = nullptr;
};

class Document {
public:
    void append(Ref n) {
        by_id_[n->id()] = n.get();
        children_.push_back(std::move(n));
    }

    Ref by_id(const std::string &id) const {
        auto it = by_id_.find(id);
        if (it == by_id_.end())
            return Ref();
        return Ref::adopt(it->second);
    }

    const std::vector<Ref> &children() const {
        return children_;
    }

private:
    std::vector<Ref> children_;
    std::map<std::string, Node *> by_id_;
};

static size_t query(const Document &doc, const std::string &id) {
    Ref hit = doc.by_id(id);
    if (!hit)
        return 0;
    return hit->weight();
}

static size_t layout(const Document &doc) {
    size_t total = 0;
    for (const auto &child : doc.children())
        total += child->weight();
    return total;
}

static void build(Document &doc) {
    doc.append(Ref::adopt(new Text("title", "Release notes")));
    doc.append(Ref::adopt(new Image("logo", 32, 16)));
    doc.append(Ref::adopt(new Text("intro", "Fixes and changes")));
}

int main() {
    Document doc;
    size_t found = 0;

    build(doc);
    std::printf("before: %zu\n", layout(doc));
    std::fflush(stdout);
    found += query(doc, "footer");
    found += query(doc, "logo");
    std::printf("found %zu\n", found);
    std::printf("after: %zu\n", layout(doc));
    return 0;
}
