// Block chain tip shared by the validation thread and RPC handlers.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

static uint64_t BlockHash(int height) {
  uint64_t h = 0x9e3779b97f4a7c15ULL * static_cast<uint64_t>(height + 1);
  return h ^ (h >> 29);
}

struct Tip {
  int height;
  uint64_t hash;
};

class ChainState {
 public:
  ChainState() : height_(0), hash_(BlockHash(0)) {}

  void SetHeight(int height) {
    std::lock_guard<std::mutex> l(cs_main_);
    height_ = height;
  }
  void SetBestHash(uint64_t hash) {
    std::lock_guard<std::mutex> l(cs_main_);
    hash_ = hash;
  }
  Tip GetTip() {
    std::lock_guard<std::mutex> l(cs_main_);
    return Tip{height_, hash_};
  }

 private:
  std::mutex cs_main_;
  int height_;
  uint64_t hash_;
};

class BlockQueue {
 public:
  void Push(int height) {
    std::lock_guard<std::mutex> l(mu_);
    q_.push_back(height);
    cv_.notify_one();
  }
  int Pop() {
    std::unique_lock<std::mutex> l(mu_);
    cv_.wait(l, [this] { return !q_.empty(); });
    int h = q_.front();
    q_.pop_front();
    return h;
  }

 private:
  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<int> q_;
};

static ChainState g_chain;
static BlockQueue g_blocks;
static std::atomic<int> g_rpc_calls{0};
static std::atomic<int> g_bad_answers{0};

static void NetMain(int nblocks) {
  for (int h = 1; h <= nblocks; h++) g_blocks.Push(h);
  g_blocks.Push(-1);
}

static void ValidationMain() {
  for (;;) {
    int height = g_blocks.Pop();
    if (height < 0) return;
    uint64_t hash = BlockHash(height);
    g_chain.SetHeight(height);
    g_chain.SetBestHash(hash);
  }
}

static void RpcMain(int ncalls) {
  int last = 0;
  for (int i = 0; i < ncalls; i++) {
    Tip tip = g_chain.GetTip();
    g_rpc_calls.fetch_add(1, std::memory_order_relaxed);
    if (tip.hash != BlockHash(tip.height) || tip.height < last) {
      fprintf(stderr, "getbestblockhash: hash %016llx is not block %d\n",
              (unsigned long long)tip.hash, tip.height);
      g_bad_answers++;
    }
    last = tip.height;
  }
}

int main() {
  const int kBlocks = 8;
  std::thread net(NetMain, kBlocks);
  std::thread validation(ValidationMain);
  std::vector<std::thread> rpc;
  for (int i = 0; i < 2; i++) rpc.emplace_back(RpcMain, 8);

  net.join();
  validation.join();
  for (auto& t : rpc) t.join();

  Tip tip = g_chain.GetTip();
  printf("tip %d, %d rpc calls\n", tip.height, g_rpc_calls.load());
  if (tip.height != kBlocks || g_bad_answers.load() != 0) return 1;
  return 0;
}
