// Memory quota shared by the transports of an RPC server.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class ResourceQuota {
 public:
  ResourceQuota(std::string name, int limit) : name_(std::move(name)), limit_(limit) {}

  bool TryReserve(int bytes) {
    int used = used_.load(std::memory_order_acquire);
    if (used + bytes > limit_) {
      rejected_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    int now = used_.fetch_add(bytes, std::memory_order_acq_rel) + bytes;
    NotePeak(now);
    return true;
  }

  void Release(int bytes) { used_.fetch_sub(bytes, std::memory_order_acq_rel); }

  int limit() const { return limit_; }
  int used() const { return used_.load(); }
  int peak() const { return peak_.load(); }
  int rejected() const { return rejected_.load(); }
  const std::string& name() const { return name_; }

 private:
  void NotePeak(int now) {
    int p = peak_.load(std::memory_order_relaxed);
    while (p < now && !peak_.compare_exchange_weak(p, now)) {
    }
  }

  const std::string name_;
  const int limit_;
  std::atomic<int> used_{0};
  std::atomic<int> peak_{0};
  std::atomic<int> rejected_{0};
};

class Trace {
 public:
  void Add(const std::string& line) {
    std::lock_guard<std::mutex> l(mu_);
    lines_.push_back(line);
  }
  size_t size() {
    std::lock_guard<std::mutex> l(mu_);
    return lines_.size();
  }

 private:
  std::mutex mu_;
  std::vector<std::string> lines_;
};

static void TransportMain(int id, ResourceQuota* quota, Trace* trace) {
  for (int i = 0; i < 4; i++) {
    const int frame = 600;
    if (!quota->TryReserve(frame)) {
      trace->Add("transport " + std::to_string(id) + " throttled");
      continue;
    }
    std::vector<char> buf(frame, static_cast<char>('a' + id));
    int sum = 0;
    for (char c : buf) sum += c;
    trace->Add("transport " + std::to_string(id) + " frame " + std::to_string(sum));
    quota->Release(frame);
  }
}

int main() {
  ResourceQuota quota("server", 1000);
  Trace trace;
  std::vector<std::thread> transports;

  for (int i = 0; i < 4; i++)
    transports.emplace_back(TransportMain, i, &quota, &trace);
  for (auto& t : transports) t.join();

  printf("%s: %zu trace lines, %d rejected, peak %d\n", quota.name().c_str(),
         trace.size(), quota.rejected(), quota.peak());
  if (quota.used() != 0) {
    fprintf(stderr, "quota leak: %d\n", quota.used());
    return 1;
  }
  if (quota.peak() > quota.limit()) {
    fprintf(stderr, "quota exceeded: peak %d limit %d\n", quota.peak(), quota.limit());
    return 1;
  }
  return 0;
}
