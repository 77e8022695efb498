#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Kernel {
    std::string name;
    int width;
    int (*run)(int lanes);
};

static int runCopy(int lanes) { return lanes; }
static int runGemm(int lanes) { return lanes * lanes; }
static int runSoftmax(int lanes) { return lanes + 1; }

class Runtime {
public:
    Runtime()
    {
        kernels_["copy"] = new Kernel{"copy", 4, runCopy};
    }

    void add(const std::string& name, int width, int (*run)(int))
    {
        std::lock_guard<std::mutex> guard(mutex_);
        kernels_[name] = new Kernel{name, width, run};
    }

    const Kernel* find(const std::string& name)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto it = kernels_.find(name);
        return it == kernels_.end() ? nullptr : it->second;
    }

private:
    std::mutex mutex_;
    std::map<std::string, const Kernel*> kernels_;
};

template <class T>
class LazyInit {
public:
    T& get()
    {
        T* value = value_.load();
        if (value == nullptr) {
            value = new T();
            value_.store(value);
        }
        return *value;
    }

private:
    std::atomic<T*> value_{nullptr};
};

struct Launch {
    const Kernel* kernel;
    int blocks;
};

struct Stage {
    std::vector<Launch> launches;
    int order;
};

static LazyInit<Runtime> runtime;

static void loadBlas(int width)
{
    runtime.get().add("gemm", width, runGemm);
}

static int tune(int width)
{
    int best = width, cost = 1 << 30;
    for (int w = width; w <= 16 * width; w++) {
        int c = 0;
        for (int lane = 0; lane < 64; lane++)
            c += (lane * 37 + w * 11) % 101;
        if (c < cost) {
            cost = c;
            best = w;
        }
    }
    return best;
}

static void loadNn(int width)
{
    int best = tune(width);
    runtime.get().add("softmax", best, runSoftmax);
}

static Launch makeLaunch(const char* name, int blocks)
{
    return Launch{runtime.get().find(name), blocks};
}

static std::vector<Stage> plan()
{
    std::vector<Stage> stages;
    Stage first{{makeLaunch("copy", 2), makeLaunch("gemm", 8)}, 0};
    Stage second{{makeLaunch("softmax", 4)}, 1};
    stages.push_back(first);
    stages.push_back(second);
    return stages;
}

static int launch(const Launch& l)
{
    int lanes = l.blocks * l.kernel->width;
    return l.kernel->run(lanes);
}

static int execute(const std::vector<Stage>& stages)
{
    int sum = 0;
    for (const Stage& s : stages)
        for (const Launch& l : s.launches)
            sum += launch(l);
    return sum;
}

int main()
{
    std::thread blas(loadBlas, 16);
    std::thread nn(loadNn, 8);
    blas.join();
    nn.join();
    std::vector<Stage> stages = plan();
    std::printf("%zu stages, result %d\n", stages.size(), execute(stages));
    return 0;
}
