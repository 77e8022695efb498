#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

struct Entry {
    int row;
    int col;
    double value;
};

struct Matrix {
    int rows = 0;
    int cols = 0;
    std::vector<std::unique_ptr<Entry>> storage;
    std::vector<Entry*> entries;
};

struct Compressed {
    std::vector<int> start;
    std::vector<int> index;
    std::vector<double> value;
};

static void insert(Matrix& m, int row, int col, double value)
{
    m.storage.push_back(std::make_unique<Entry>(Entry{row, col, value}));
    m.entries.push_back(m.storage.back().get());
    m.rows = std::max(m.rows, row + 1);
    m.cols = std::max(m.cols, col + 1);
}

static long position(const Matrix& m, const Entry* e)
{
    return static_cast<long>(e->row) * m.cols + e->col;
}

struct RowOrder {
    const Matrix& matrix;

    bool operator()(const Entry* a, const Entry* b) const
    {
        long left = position(matrix, a);
        long right = position(matrix, b);
        return left <= right;
    }
};

static Compressed compress(Matrix& m)
{
    Compressed c;
    std::sort(m.entries.begin(), m.entries.end(), RowOrder{m});
    c.start.assign(m.rows + 1, 0);
    for (const Entry* e : m.entries) {
        c.start[e->row + 1]++;
        c.index.push_back(e->col);
        c.value.push_back(e->value);
    }
    for (int r = 0; r < m.rows; r++)
        c.start[r + 1] += c.start[r];
    return c;
}

static std::vector<double> multiply(const Matrix& m, const Compressed& c, const std::vector<double>& x)
{
    std::vector<double> y(m.rows, 0.0);
    for (int r = 0; r < m.rows; r++)
        for (int k = c.start[r]; k < c.start[r + 1]; k++)
            y[r] += c.value[k] * x[c.index[k]];
    return y;
}

static Matrix stencil(int n)
{
    Matrix m;
    for (int i = 0; i < n; i++) {
        insert(m, i, i, 2.0);
        if (i > 0)
            insert(m, i, i - 1, -1.0);
        if (i + 1 < n)
            insert(m, i, i + 1, -1.0);
    }
    return m;
}

static Matrix assembled(int cells)
{
    Matrix m;
    for (int i = 0; i < cells; i++) {
        insert(m, 0, 0, 1.0 + i);
        insert(m, 1, 1, 0.5);
    }
    return m;
}

static double norm(Matrix m)
{
    Compressed c = compress(m);
    std::vector<double> y = multiply(m, c, std::vector<double>(m.cols, 1.0));
    double sum = 0.0;
    for (double v : y)
        sum += v * v;
    return sum;
}

int main()
{
    std::printf("stencil %.2f\n", norm(stencil(4)));
    std::printf("small %.2f\n", norm(assembled(4)));
    std::fflush(stdout);
    std::printf("large %.2f\n", norm(assembled(32)));
    return 0;
}
