// Registry of named loggers with handlers and a configuration.
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

enum Level { kFine = 1, kInfo = 2, kWarning = 3 };

std::mutex g_level_lock;  // names of levels
std::map<std::string, Level> g_levels = {{"FINE", kFine}, {"INFO", kInfo}, {"WARNING", kWarning}};
std::atomic<long> g_published{0};
int g_last_level;  // for the status page

Level ParseLevel(const std::string& name) {
  std::lock_guard<std::mutex> l(g_level_lock);
  auto it = g_levels.find(name);
  return it == g_levels.end() ? kInfo : it->second;
}

class Handler {
 public:
  void Publish(const std::string& text) {
    std::lock_guard<std::mutex> l(lock_);
    bytes_ += text.size();
    g_published.fetch_add(1, std::memory_order_relaxed);
  }
  // The level is looked up anew as levels may be defined at run time.
  void Reconfigure(const std::string& level) {
    std::lock_guard<std::mutex> l(lock_);
    level_ = ParseLevel(level);
    g_last_level = level_;
  }
  void Flush() {
    std::lock_guard<std::mutex> l(lock_);
    flushed_ = bytes_;
  }
  size_t flushed() {
    std::lock_guard<std::mutex> l(lock_);
    return flushed_;
  }

 private:
  std::mutex lock_;
  Level level_ = kInfo;
  size_t bytes_ = 0;
  size_t flushed_ = 0;
};

struct Logger {
  std::string name;
  Level level = kInfo;
  Handler* handler = nullptr;
};

class LogManager {
 public:
  explicit LogManager(Handler* handler) : handler_(handler) {}

  Logger* GetLogger(const std::string& name) {
    std::lock_guard<std::mutex> l(lock_);
    auto it = loggers_.find(name);
    return it == loggers_.end() ? nullptr : it->second.get();
  }

  void AddLogger(const std::string& name) {
    auto logger = std::make_unique<Logger>();
    logger->name = name;
    logger->handler = handler_;
    std::lock_guard<std::mutex> l(lock_);
    loggers_[name] = std::move(logger);
  }

  // New loggers must not come up in the middle of a reset.
  void Reset() {
    std::lock_guard<std::mutex> l(lock_);
    for (auto& entry : loggers_) entry.second->level = kInfo;
    handler_->Flush();
    resets_++;
  }

  bool Exists(const std::string& name) {
    std::lock_guard<std::mutex> l(lock_);
    return loggers_.count(name) != 0;
  }

  int resets() {
    std::lock_guard<std::mutex> l(lock_);
    return resets_;
  }

 private:
  std::mutex lock_;
  std::map<std::string, std::unique_ptr<Logger>> loggers_;
  Handler* const handler_;
  int resets_ = 0;
};

// A level must not be named like a logger.
bool DefineLevel(LogManager* manager, const std::string& name, Level level) {
  std::lock_guard<std::mutex> l(g_level_lock);
  if (manager->Exists(name)) return false;
  g_levels[name] = level;
  return true;
}

}  // namespace

int main() {
  Handler handler;
  LogManager manager(&handler);
  int defined = 0;

  manager.AddLogger("root");
  manager.AddLogger("net");
  handler.Publish("start");

  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < 3; i++) {
      manager.GetLogger("net")->handler->Publish("connection accepted");
      manager.Reset();
    }
  });
  threads.emplace_back([&] {
    static const char* const kNames[] = {"TRACE", "net", "AUDIT"};
    for (const char* name : kNames) defined += DefineLevel(&manager, name, kWarning);
  });
  threads.emplace_back([&] {
    for (int i = 0; i < 3; i++) {
      handler.Publish("configuration read");
      handler.Reconfigure(i % 2 == 0 ? "FINE" : "AUDIT");
    }
  });
  for (auto& t : threads) t.join();

  handler.Flush();
  std::printf("%ld records, %zu bytes, %d resets, %d levels defined\n", g_published.load(),
              handler.flushed(), manager.resets(), defined);
  return defined == 2 ? 0 : 1;
}
