// Key-value store: memtable, one sorted table, iterators at a sequence number.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Version {
  uint64_t seq;
  int value;
};

// All versions of each key, newest last.
using Table = std::map<std::string, std::vector<Version>>;

class MemTable {
 public:
  void Add(const std::string& key, uint64_t seq, int value) {
    std::lock_guard<std::mutex> l(mu_);
    table_[key].push_back({seq, value});
  }
  Table Copy() const {
    std::lock_guard<std::mutex> l(mu_);
    return table_;
  }
  bool Get(const std::string& key, uint64_t seq, int* value) const {
    std::lock_guard<std::mutex> l(mu_);
    return Find(table_, key, seq, value);
  }
  static bool Find(const Table& t, const std::string& key, uint64_t seq, int* value) {
    auto it = t.find(key);
    if (it == t.end()) return false;
    for (auto v = it->second.rbegin(); v != it->second.rend(); ++v) {
      if (v->seq <= seq) {
        *value = v->value;
        return true;
      }
    }
    return false;
  }

 private:
  mutable std::mutex mu_;
  Table table_;
};

struct SuperVersion {
  std::shared_ptr<MemTable> mem;
  std::shared_ptr<const Table> sst;
};

class Iterator {
 public:
  Iterator(std::shared_ptr<const SuperVersion> sv, uint64_t seq) : sv_(std::move(sv)), seq_(seq) {}
  bool Get(const std::string& key, int* value) const {
    return sv_->mem->Get(key, seq_, value) || MemTable::Find(*sv_->sst, key, seq_, value);
  }

 private:
  const std::shared_ptr<const SuperVersion> sv_;
  const uint64_t seq_;
};

class DB {
 public:
  DB() {
    auto sv = std::make_shared<SuperVersion>();
    sv->mem = std::make_shared<MemTable>();
    sv->sst = std::make_shared<Table>();
    super_version_ = sv;
  }

  void Put(const std::string& key, int value) {
    std::lock_guard<std::mutex> l(mutex_);
    uint64_t seq = last_sequence_.load() + 1;
    super_version_->mem->Add(key, seq, value);
    last_sequence_.store(seq);
  }

  // Iterators keep the tables they were made from, so only the newest version
  // of a key needs to go to the new table.
  void Flush() {
    std::lock_guard<std::mutex> l(mutex_);
    auto sst = std::make_shared<Table>(*super_version_->sst);
    for (const auto& entry : super_version_->mem->Copy())
      (*sst)[entry.first] = {entry.second.back()};
    auto sv = std::make_shared<SuperVersion>();
    sv->mem = std::make_shared<MemTable>();
    sv->sst = sst;
    super_version_ = sv;
    flushes_.fetch_add(1, std::memory_order_relaxed);
  }

  Iterator NewIterator() {
    uint64_t seq = LatestSequence();
    return Iterator(GetSuperVersion(), seq);
  }

  int flushes() const { return flushes_.load(std::memory_order_relaxed); }
  uint64_t LatestSequence() const { return last_sequence_.load(); }

 private:
  std::shared_ptr<const SuperVersion> GetSuperVersion() {
    std::lock_guard<std::mutex> l(mutex_);
    return super_version_;
  }

  std::mutex mutex_;
  std::shared_ptr<const SuperVersion> super_version_;
  std::atomic<uint64_t> last_sequence_{0};
  std::atomic<int> flushes_{0};
};

const char* const kKeys[] = {"apple", "berry", "cherry"};

void Writer(DB* db) {
  for (int i = 1; i <= 6; i++) {
    db->Put(kKeys[i % 3], i);
    if (i % 2 == 0) db->Flush();
  }
}

void Reader(DB* db, std::atomic<int>* missing, std::atomic<long>* sum) {
  for (int i = 0; i < 5; i++) {
    Iterator it = db->NewIterator();
    for (const char* key : kKeys) {
      int value = 0;
      if (!it.Get(key, &value)) missing->fetch_add(1);
      sum->fetch_add(value, std::memory_order_relaxed);
    }
  }
}

}  // namespace

int main() {
  DB db;
  std::atomic<int> missing{0};
  std::atomic<long> sum{0};

  for (const char* key : kKeys) db.Put(key, 0);
  db.Flush();

  std::vector<std::thread> threads;
  threads.emplace_back(Reader, &db, &missing, &sum);
  threads.emplace_back(Writer, &db);
  threads.emplace_back(Reader, &db, &missing, &sum);
  for (auto& t : threads) t.join();

  std::printf("%d flushes, sequence %llu\n", db.flushes(),
              static_cast<unsigned long long>(db.LatestSequence()));
  if (missing.load() != 0) {
    std::fprintf(stderr, "%d keys missing\n", missing.load());
    return 1;
  }
  return 0;
}
