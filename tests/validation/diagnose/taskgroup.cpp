// Worker pool with task groups; tasks may add tasks to their own group.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Pool {
 public:
  explicit Pool(int n) {
    for (int i = 0; i < n; i++) threads_.emplace_back([this] { Run(); });
  }

  ~Pool() {
    {
      std::lock_guard<std::mutex> l(mu_);
      stop_ = true;
    }
    work_.notify_all();
    for (auto& t : threads_) t.join();
  }

  void Submit(std::function<void()> task) {
    bool wake;
    {
      std::lock_guard<std::mutex> l(mu_);
      tasks_.push_back(std::move(task));
      wake = idle_ > 0;
    }
    // Without an idle worker somebody looks at the queue before it sleeps.
    if (wake) work_.notify_one();
  }

  // Returns when the queue is empty and no task is under way.
  void Wait() {
    std::unique_lock<std::mutex> l(mu_);
    done_.wait(l, [this] { return tasks_.empty() && active_ == 0; });
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> l(mu_);
    for (;;) {
      idle_++;
      work_.wait(l, [this] { return stop_ || !tasks_.empty(); });
      idle_--;
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      active_++;
      l.unlock();
      task();
      task = nullptr;
      l.lock();
      if (--active_ == 0 && tasks_.empty()) done_.notify_all();
    }
  }

  std::mutex mu_;
  std::condition_variable work_, done_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  int idle_ = 0;
  int active_ = 0;
  bool stop_ = false;
};

struct Node {
  long sum = 0;
  std::atomic<int> pending{0};
  Node* parent = nullptr;
  std::vector<long> parts;
};

// Adds up what the children left; the last child to finish does it.
void Finish(Node* node) {
  while (node != nullptr) {
    if (node->pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    for (long part : node->parts) node->sum += part;
    node = node->parent;
  }
}

}  // namespace

int main() {
  std::atomic<int> executed{0};
  Node root;
  std::vector<Node> groups(3);

  root.pending.store(3, std::memory_order_relaxed);
  root.parts.assign(3, 0);
  {
    Pool pool(3);
    for (size_t g = 0; g < groups.size(); g++) {
      Node* node = &groups[g];
      node->parent = &root;
      node->parts.assign(4, 0);
      node->pending.store(4, std::memory_order_relaxed);
      pool.Submit([&, node, g] {
        executed.fetch_add(1, std::memory_order_relaxed);
        for (int i = 0; i < 4; i++) {
          pool.Submit([&, node, g, i] {
            node->parts[i] = static_cast<long>(g * 10 + i);
            if (i == 0) root.parts[g] = 1;
            executed.fetch_add(1, std::memory_order_relaxed);
            Finish(node);
          });
        }
      });
    }
    pool.Wait();
    if (executed.load() != 15) {
      std::fprintf(stderr, "%d tasks done\n", executed.load());
      return 1;
    }
  }
  long total = 0;
  for (const Node& n : groups) total += n.sum;
  std::printf("%d tasks, total %ld, groups %ld\n", executed.load(), total, root.sum);
  return total == 138 && root.sum == 3 ? 0 : 1;
}
