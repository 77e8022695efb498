// Lazily built type registry with per-type descriptors.
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Descriptor {
  std::string name;
  std::vector<int> field_offsets;
  int size = 0;
};

class Registry {
 public:
  static Registry* Get() {
    Registry* r = instance_.load(std::memory_order_acquire);
    if (r == nullptr) {
      std::lock_guard<std::mutex> l(init_mu_);
      r = instance_.load(std::memory_order_relaxed);
      if (r == nullptr) {
        r = new Registry();
        built_++;
        instance_.store(r, std::memory_order_release);
      }
    }
    return r;
  }

  static int built() {
    std::lock_guard<std::mutex> l(init_mu_);
    return built_;
  }

  const Descriptor* Find(const std::string& name) const {
    auto it = index_.find(name);
    return it == index_.end() ? nullptr : &types_[it->second];
  }

  const Descriptor* FindCached(int id) {
    const Descriptor* d = cached_[id].load(std::memory_order_acquire);
    if (d == nullptr) {
      Descriptor* fresh = new Descriptor();
      fresh->name = "dyn" + std::to_string(id);
      fresh->size = 8 * (id + 1);
      const Descriptor* expected = nullptr;
      if (cached_[id].compare_exchange_strong(expected, fresh, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
        d = fresh;
      } else {
        delete fresh;
        d = expected;
      }
    }
    hits_.fetch_add(1, std::memory_order_relaxed);
    return d;
  }

  long hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  Registry() {
    for (int i = 0; i < 6; i++) {
      Descriptor d;
      d.name = "type" + std::to_string(i);
      for (int k = 0; k <= i; k++) d.field_offsets.push_back(k * 8);
      d.size = 8 * (i + 1);
      index_[d.name] = static_cast<int>(types_.size());
      types_.push_back(d);
    }
    for (auto& c : cached_) c.store(nullptr, std::memory_order_relaxed);
  }

  static std::atomic<Registry*> instance_;
  static std::mutex init_mu_;
  static int built_;

  std::vector<Descriptor> types_;
  std::map<std::string, int> index_;
  std::atomic<const Descriptor*> cached_[4];
  std::atomic<long> hits_{0};
};

std::atomic<Registry*> Registry::instance_{nullptr};
std::mutex Registry::init_mu_;
int Registry::built_ = 0;

static void ClientMain(int id, int* total) {
  int sum = 0;
  for (int i = 0; i < 12; i++) {
    const Descriptor* d = Registry::Get()->Find("type" + std::to_string((i + id) % 6));
    sum += d->size + static_cast<int>(d->field_offsets.size());
    sum += Registry::Get()->FindCached(i % 4)->size;
  }
  *total = sum;
}

int main() {
  const int kClients = 4;
  std::vector<int> totals(kClients, 0);
  std::vector<std::thread> clients;

  for (int i = 0; i < kClients; i++) clients.emplace_back(ClientMain, i, &totals[i]);
  for (auto& t : clients) t.join();

  printf("total %d hits %ld\n", totals[0], Registry::Get()->hits());
  for (int i = 1; i < kClients; i++) {
    if (totals[i] != totals[0]) {
      fprintf(stderr, "client %d: %d\n", i, totals[i]);
      return 1;
    }
  }
  return Registry::built() == 1 ? 0 : 1;
}
