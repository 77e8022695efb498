// Background thread pool of a storage engine: flush and compaction jobs.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

class ThreadPool {
 public:
  explicit ThreadPool(int n) {
    for (int i = 0; i < n; i++) threads_.emplace_back([this] { BackgroundThread(); });
  }
  ~ThreadPool() { JoinAll(); }

  void Schedule(std::function<void()> fn) {
    std::lock_guard<std::mutex> l(mu_);
    queue_.push_back(std::move(fn));
    queue_len_.store(static_cast<unsigned>(queue_.size()), std::memory_order_relaxed);
    cv_.notify_one();
  }

  unsigned QueueLen() const { return queue_len_.load(std::memory_order_relaxed); }

  void JoinAll() {
    exit_all_.store(true);
    cv_.notify_all();
    for (auto& t : threads_)
      if (t.joinable()) t.join();
    threads_.clear();
  }

 private:
  void BackgroundThread() {
    for (;;) {
      std::function<void()> fn;
      {
        std::unique_lock<std::mutex> l(mu_);
        while (queue_.empty()) {
          if (exit_all_.load())
            return;
          cv_.wait(l);
        }
        fn = std::move(queue_.front());
        queue_.pop_front();
        queue_len_.store(static_cast<unsigned>(queue_.size()), std::memory_order_relaxed);
      }
      fn();
    }
  }

  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<std::function<void()>> queue_;
  std::atomic<unsigned> queue_len_{0};
  std::atomic<bool> exit_all_{false};
  std::vector<std::thread> threads_;
};

class JobLog {
 public:
  void Record(int level, int bytes) {
    std::lock_guard<std::mutex> l(mu_);
    jobs_++;
    bytes_ += bytes;
    if (level > max_level_) max_level_ = level;
  }
  int jobs() {
    std::lock_guard<std::mutex> l(mu_);
    return jobs_;
  }
  long bytes() {
    std::lock_guard<std::mutex> l(mu_);
    return bytes_;
  }

 private:
  std::mutex mu_;
  int jobs_ = 0;
  int max_level_ = 0;
  long bytes_ = 0;
};

int main() {
  JobLog log;
  const int kJobs = 10;
  unsigned seen = 0;
  {
    ThreadPool pool(2);
    for (int i = 0; i < kJobs; i++) {
      pool.Schedule([&log, i] {
        int bytes = 0;
        for (int k = 0; k < 2000; k++) bytes += (k * (i + 1)) & 7;
        log.Record(i % 3, bytes);
      });
      if (pool.QueueLen() > seen) seen = pool.QueueLen();
    }
    pool.JoinAll();
  }
  printf("%d jobs, %ld bytes, deepest queue %u\n", log.jobs(), log.bytes(), seen);
  return log.jobs() == kJobs ? 0 : 1;
}
