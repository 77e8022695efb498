#include <cstdio>
#include <string>
#include <vector>

struct Edit {
    char text[24];
    int parent;
    int child;
    int cursor;
};

class UndoTree {
public:
    UndoTree() {
        nodes_.reserve(2);
        nodes_.push_back(make("", -1));
    }

    void apply(const std::string &text) {
        Edit &cur = nodes_[static_cast<size_t>(at_)];
        int id = static_cast<int>(nodes_.size());
        nodes_.push_back(make(text, at_));
        cur.child = id;
        at_ = id;
    }

    bool undo() {
        if (nodes_[static_cast<size_t>(at_)].parent < 0)
            return false;
        at_ = nodes_[static_cast<size_t>(at_)].parent;
        return true;
    }

    int redoTarget() const {
        return nodes_[static_cast<size_t>(at_)].child;
    }

    void jump(int id) {
        at_ = id;
    }

    const Edit &node(int id) const {
        return nodes_.at(static_cast<size_t>(id));
    }

    int current() const {
        return at_;
    }

private:
    static Edit make(const std::string &text, int parent) {
        Edit e = {};
        std::snprintf(e.text, sizeof e.text, "%s", text.c_str());
        e.parent = parent;
        e.child = -1;
        e.cursor = static_cast<int>(text.size());
        return e;
    }

    std::vector<Edit> nodes_;
    int at_ = 0;
};

class Editor {
public:
    void type(const std::string &s) {
        tree_.apply(s);
    }

    void undo(int n) {
        while (n-- > 0 && tree_.undo()) {
        }
    }

    std::string redo(int n) {
        std::string out;
        while (n-- > 0) {
            int target = tree_.redoTarget();
            const Edit &e = tree_.node(target);
            tree_.jump(target);
            out += e.text;
        }
        return out;
    }

private:
    UndoTree tree_;
};

int main() {
    Editor ed;
    ed.type("alpha ");
    ed.type("beta ");
    ed.type("gamma");
    ed.undo(3);
    std::string s = ed.redo(3);
    std::printf("%s\n", s.c_str());
    return s == "alpha beta gamma" ? 0 : 1;
}
