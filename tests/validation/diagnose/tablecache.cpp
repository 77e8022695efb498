// Cache of open table files shared by reader threads of a storage engine.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Env {
 public:
  int Open(uint64_t number) {
    std::lock_guard<std::mutex> l(mu_);
    open_[next_fd_] = "/db/" + std::to_string(number) + ".ldb";
    return next_fd_++;
  }
  void Close(int fd) {
    std::lock_guard<std::mutex> l(mu_);
    open_.erase(fd);
  }
  size_t OpenFiles() {
    std::lock_guard<std::mutex> l(mu_);
    return open_.size();
  }

 private:
  std::mutex mu_;
  int next_fd_ = 3;
  std::map<int, std::string> open_;
};

struct Table {
  uint64_t number;
  int fd;
  uint64_t Get(uint64_t key) const { return key * 31 + number; }
};

class TableCache {
 public:
  explicit TableCache(Env* env) : env_(env) {}

  std::shared_ptr<Table> FindTable(uint64_t number) {
    std::shared_ptr<Table> t = Lookup(number);
    if (!t) {
      t = std::make_shared<Table>();
      t->number = number;
      t->fd = env_->Open(number);
      Insert(t);
    }
    return t;
  }

  void EvictAll() {
    std::lock_guard<std::mutex> l(mu_);
    for (auto& e : tables_) env_->Close(e.second->fd);
    tables_.clear();
  }

  long hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<Table> Lookup(uint64_t number) {
    std::lock_guard<std::mutex> l(mu_);
    auto it = tables_.find(number);
    if (it == tables_.end()) return nullptr;
    hits_.fetch_add(1, std::memory_order_relaxed);
    return it->second;
  }

  void Insert(std::shared_ptr<Table> t) {
    std::lock_guard<std::mutex> l(mu_);
    tables_[t->number] = std::move(t);
  }

  Env* const env_;
  std::mutex mu_;
  std::map<uint64_t, std::shared_ptr<Table>> tables_;
  std::atomic<long> hits_{0};
};

struct Result {
  uint64_t sum = 0;
};

static void ReaderMain(TableCache* cache, int first, Result* out) {
  std::vector<uint64_t> keys;
  for (uint64_t k = 0; k < 4; k++) keys.push_back(k);
  for (int i = 0; i < 6; i++) {
    std::shared_ptr<Table> t = cache->FindTable(1 + (first + i) % 6);
    for (uint64_t k : keys) out->sum += t->Get(k);
  }
}

int main() {
  Env env;
  TableCache cache(&env);
  const int kReaders = 3;
  std::vector<Result> results(kReaders);
  std::vector<std::thread> readers;

  for (uint64_t n = 1; n <= 5; n++) cache.FindTable(n);
  for (int i = 0; i < kReaders; i++)
    readers.emplace_back(ReaderMain, &cache, 5 - 2 * i, &results[i]);
  for (auto& t : readers) t.join();

  for (int i = 1; i < kReaders; i++) {
    if (results[i].sum != results[0].sum) {
      fprintf(stderr, "reader %d got a different answer\n", i);
      return 1;
    }
  }
  printf("sum %llu hits %ld\n", (unsigned long long)results[0].sum, cache.hits());
  cache.EvictAll();
  if (env.OpenFiles() != 0) {
    fprintf(stderr, "%zu file descriptors leaked\n", env.OpenFiles());
    return 1;
  }
  return 0;
}
