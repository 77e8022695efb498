// Builds a bounding-volume tree over a row of boxes, nodes kept in one
// vector and linked by index, then walks it.
#include <cassert>
#include <cstdio>
#include <vector>

struct Box {
    int lo, hi;
};

struct Node {
    Box bounds{0, 0};
    int first = 0;
    int count = 0;
    int left = -1;
    int right = -1;
};

struct Frame {
    int node;
    int depth;
};

class Tree {
public:
    explicit Tree(const std::vector<Box> &boxes) : boxes_(boxes)
    {
        nodes_.push_back(Node());
        nodes_[0].count = (int)boxes_.size();
        Build(0);
    }

    int Query(int x) const
    {
        std::vector<Frame> stack;
        int hits = 0;
        stack.push_back(Frame{0, 0});
        while (!stack.empty()) {
            Frame f = stack.back();
            stack.pop_back();
            assert(f.node >= 0 && f.node < (int)nodes_.size());
            const Node &n = nodes_[f.node];
            if (x < n.bounds.lo || x > n.bounds.hi)
                continue;
            if (n.count <= kLeaf) {
                for (int i = n.first; i < n.first + n.count; i++)
                    hits += x >= boxes_[i].lo && x <= boxes_[i].hi;
                continue;
            }
            stack.push_back(Frame{n.left, f.depth + 1});
            stack.push_back(Frame{n.right, f.depth + 1});
        }
        return hits;
    }

    size_t Size() const { return nodes_.size(); }

private:
    static const int kLeaf = 2;

    int AddNode(int first, int count)
    {
        Node n;
        n.first = first;
        n.count = count;
        nodes_.push_back(n);
        return (int)nodes_.size() - 1;
    }

    void Build(int index)
    {
        Node &node = nodes_[index];
        node.bounds = boxes_[node.first];
        for (int i = node.first; i < node.first + node.count; i++) {
            if (boxes_[i].lo < node.bounds.lo)
                node.bounds.lo = boxes_[i].lo;
            if (boxes_[i].hi > node.bounds.hi)
                node.bounds.hi = boxes_[i].hi;
        }
        if (node.count <= kLeaf)
            return;
        int first = node.first, count = node.count, half = count / 2;
        int l = AddNode(first, half);
        int r = AddNode(first + half, count - half);
        node.left = l;
        node.right = r;
        Build(l);
        Build(r);
    }

    const std::vector<Box> &boxes_;
    std::vector<Node> nodes_;
};

int main()
{
    std::vector<Box> boxes;
    for (int i = 0; i < 20; i++)
        boxes.push_back(Box{i * 10, i * 10 + 14});
    Tree tree(boxes);
    int sum = 0;
    for (int x = 0; x < 200; x += 25)
        sum += tree.Query(x);
    std::printf("%zu nodes, %d hits\n", tree.Size(), sum);
    return 0;
}
