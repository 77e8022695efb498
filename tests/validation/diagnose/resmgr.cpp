#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Variable {
public:
    explicit Variable(std::string name) : name_(std::move(name)) {}

    void accumulate(long v) {
        std::lock_guard<std::mutex> g(mu_);
        sum_ += v;
    }

    long sum() {
        std::lock_guard<std::mutex> g(mu_);
        return sum_;
    }

private:
    std::mutex mu_;
    std::string name_;
    long sum_ = 0;
};

class ResourceMgr {
public:
    std::shared_ptr<Variable> lookup(const std::string &name) {
        std::lock_guard<std::mutex> g(mu_);
        lookups_++;
        auto it = vars_.find(name);
        if (it == vars_.end())
            return nullptr;
        return it->second;
    }

    void create(const std::string &name, std::shared_ptr<Variable> v) {
        std::lock_guard<std::mutex> g(mu_);
        vars_[name] = std::move(v);
    }

    std::shared_ptr<Variable> lookupOrCreate(const std::string &name) {
        auto v = lookup(name);
        if (v)
            return v;
        v = std::make_shared<Variable>(name);
        create(name, v);
        return v;
    }

    size_t size() {
        std::lock_guard<std::mutex> g(mu_);
        return vars_.size();
    }

private:
    std::mutex mu_;
    std::map<std::string, std::shared_ptr<Variable>> vars_;
    long lookups_ = 0;
};

static long busy(long n) {
    long x = n;
    for (int i = 0; i < 3000; i++)
        x = (x * 37 + 11) % 1009;
    return x;
}

static void runStep(ResourceMgr &rm, const std::vector<std::string> &names, long step) {
    for (auto &n : names) {
        busy(step);
        rm.lookupOrCreate(n)->accumulate(step);
    }
}

int main() {
    ResourceMgr rm;
    std::vector<std::string> fwd = {"weights", "bias", "moment"};
    std::vector<std::string> bwd = {"moment", "bias", "weights"};
    std::thread a([&] { runStep(rm, fwd, 3); });
    std::thread b([&] { runStep(rm, bwd, 4); });
    a.join();
    b.join();
    int bad = 0;
    for (auto &n : fwd) {
        auto v = rm.lookup(n);
        std::printf("%s %ld\n", n.c_str(), v->sum());
        if (v->sum() != 7)
            bad++;
    }
    return bad == 0 && rm.size() == 3 ? 0 : 1;
}
