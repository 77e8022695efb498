#include <array>
#include <barrier>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

class Collector {
public:
    void put(long value)
    {
        room_.acquire();
        slot_ = value;
        filled_.release();
    }

    long take()
    {
        filled_.acquire();
        long value = slot_;
        room_.release();
        return value;
    }

private:
    std::binary_semaphore room_{1};
    std::binary_semaphore filled_{0};
    long slot_ = 0;
};

class Lattice {
public:
    static constexpr int workers = 3;
    static constexpr int cells = 9;
    static constexpr int steps = 4;

    Lattice() : started_(workers), sync_(workers, Swap{this})
    {
        for (int i = 0; i < cells; i++)
            current_[std::size_t(i)] = i + 1;
    }

    long run()
    {
        std::vector<std::jthread> threads;
        for (int w = 0; w < workers; w++)
            threads.emplace_back([this, w] { work(w); });
        started_.wait();
        long sum = 0;
        for (int w = 0; w < workers; w++)
            sum += collector_.take();
        return sum;
    }

    int swaps() const { return swaps_; }

private:
    struct Swap {
        Lattice *lattice;
        void operator()() noexcept
        {
            lattice->current_.swap(lattice->next_);
            lattice->swaps_++;
        }
    };

    void work(int w)
    {
        started_.count_down();
        int first = w * cells / workers, last = (w + 1) * cells / workers;
        for (int step = 0; step < steps; step++) {
            for (int i = first; i < last; i++)
                next_[std::size_t(i)] = (current_[std::size_t((i + 1) % cells)] + 2 * current_[std::size_t(i)]) % 1009;
            sync_.arrive_and_wait();
        }
        long sum = 0;
        for (int i = first; i < last; i++)
            sum += current_[std::size_t(i)];
        collector_.put(sum);
    }

    std::array<long, cells> current_{};
    std::array<long, cells> next_{};
    std::latch started_;
    std::barrier<Swap> sync_;
    Collector collector_;
    int swaps_ = 0;
};

static long alone()
{
    std::array<long, Lattice::cells> a{}, b{};
    for (int i = 0; i < Lattice::cells; i++)
        a[std::size_t(i)] = i + 1;
    for (int step = 0; step < Lattice::steps; step++) {
        for (int i = 0; i < Lattice::cells; i++)
            b[std::size_t(i)] = (a[std::size_t((i + 1) % Lattice::cells)] + 2 * a[std::size_t(i)]) % 1009;
        a.swap(b);
    }
    long sum = 0;
    for (long v : a)
        sum += v;
    return sum;
}

int main()
{
    Lattice lattice;
    long sum = lattice.run();
    std::printf("sum %ld of %ld, %d swaps\n", sum, alone(), lattice.swaps());
    return sum != alone() || lattice.swaps() != Lattice::steps;
}
