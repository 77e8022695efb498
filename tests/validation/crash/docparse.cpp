#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>

class Arena {
public:
    void *alloc(size_t n) {
        n = (n + 15) & ~static_cast<size_t>(15);
        if (used_ + n > sizeof(mem_))
            throw std::bad_alloc();
        void *p = mem_ + used_;
        used_ += n;
        return p;
    }

    char *copy(const char *s, size_t n) {
        char *p = static_cast<char *>(alloc(n + 1));
        std::memcpy(p, s, n);
        p[n] = 0;
        return p;
    }

    void reset() {
        used_ = 0;
    }

private:
    alignas(16) char mem_[8192];
    size_t used_ = 0;
};

struct Attr {
    char *key;
    char *value;
    Attr *next;
};

struct Node {
    explicit Node(char *n)
        : name(n), child(nullptr), next(nullptr) {
    }
    char *name;
    Node *child;
    Node *next;
    Attr *attrs;
};

class Parser {
public:
    explicit Parser(Arena &arena)
        : arena_(arena) {
    }

    Node *parse(const char *text) {
        p_ = arena_.copy(text, std::strlen(text));
        return parse_node();
    }

private:
    char *word() {
        const char *from = p_;
        while (std::isalnum(static_cast<unsigned char>(*p_)))
            p_++;
        return arena_.copy(from, p_ - from);
    }

    bool accept(char c) {
        if (*p_ != c)
            return false;
        p_++;
        return true;
    }

    Attr *parse_attrs() {
        Attr *head = nullptr;
        while (*p_ != ']' && *p_ != 0) {
            void *mem = arena_.alloc(sizeof(Attr));
            Attr *a = new (mem) Attr();
            a->key = word();
            accept('=');
            a->value = word();
            a->next = head;
            head = a;
            accept(',');
        }
        accept(']');
        return head;
    }

    Node *parse_node() {
        char *name = word();
        void *mem = arena_.alloc(sizeof(Node));
        Node *n = new (mem) Node(name);
        if (accept('['))
            n->attrs = parse_attrs();
        if (accept('{')) {
            Node **tail = &n->child;
            while (*p_ != '}' && *p_ != 0) {
                *tail = parse_node();
                tail = &(*tail)->next;
                accept(' ');
            }
            accept('}');
        }
        return n;
    }

    Arena &arena_;
    const char *p_ = nullptr;
};

struct Stats {
    int nodes = 0;
    int attrs = 0;
    size_t bytes = 0;
};

static void count_attrs(const Attr *a, Stats &st) {
    for (; a != nullptr; a = a->next) {
        st.attrs++;
        st.bytes += std::strlen(a->key);
        st.bytes += std::strlen(a->value);
    }
}

static void walk(const Node *n, Stats &st) {
    for (; n != nullptr; n = n->next) {
        st.nodes++;
        st.bytes += std::strlen(n->name);
        count_attrs(n->attrs, st);
        walk(n->child, st);
    }
}

static Stats measure(Arena &arena, const char *text) {
    Stats st;
    arena.reset();
    Parser parser(arena);
    Node *root = parser.parse(text);
    walk(root, st);
    return st;
}

int main() {
    static Arena arena;
    static const char *docs[] = {
        "html{head body{p p p}}",
        "page[lang=en,title=changelog]{menu[id=top,class=navigation]"
        "{item[href=index] item[href=downloads] item[href=contact]}"
        " body[class=wide]{section[id=introduction,level=first] "
        "section[id=installation,level=second] section[id=usage]}}",
        "feed{entry[id=a] entry[id=b] entry[id=c]}",
    };
    int nodes = 0;
    int attrs = 0;

    for (const char *text : docs) {
        Stats st = measure(arena, text);
        nodes += st.nodes;
        attrs += st.attrs;
        std::printf("%d nodes, %d attrs\n", st.nodes, st.attrs);
        std::fflush(stdout);
    }
    std::printf("total %d nodes, %d attrs\n", nodes, attrs);
    return 0;
}
