// Client channel: calls run on worker threads, the application shuts the
// channel down after it has received all responses.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class ResponseSink {
 public:
  void Deliver(const std::string& body) {
    std::lock_guard<std::mutex> l(mu_);
    bodies_.push_back(body);
  }
  void Flush() { cv_.notify_one(); }
  void WaitFor(size_t n) {
    std::unique_lock<std::mutex> l(mu_);
    cv_.wait(l, [&] { return bodies_.size() >= n; });
  }
  uint64_t Digest() {
    std::lock_guard<std::mutex> l(mu_);
    uint64_t h = 0;
    for (int round = 0; round < 300; round++)
      for (const auto& b : bodies_)
        for (char c : b) h += static_cast<uint64_t>(c) * 131u + (h >> 60);
    return h;
  }

 private:
  std::mutex mu_;
  std::condition_variable cv_;
  std::vector<std::string> bodies_;
};

class Channel {
 public:
  void StartCall(const std::string& method) {
    {
      std::lock_guard<std::mutex> l(registry_mu_);
      per_method_[method].started++;
    }
    std::lock_guard<std::mutex> l(call_mu_);
    active_calls_++;
  }

  void FinishCall(const std::string& method) {
    {
      std::lock_guard<std::mutex> l(registry_mu_);
      per_method_[method].finished++;
    }
    std::lock_guard<std::mutex> l(call_mu_);
    if (--active_calls_ == 0) call_cv_.notify_all();
  }

  int Shutdown() {
    std::lock_guard<std::mutex> reg(registry_mu_);
    std::unique_lock<std::mutex> l(call_mu_);
    while (active_calls_ > 0)
      call_cv_.wait(l);
    int unfinished = 0;
    for (auto& m : per_method_) unfinished += m.second.started - m.second.finished;
    per_method_.clear();
    return unfinished;
  }

 private:
  struct Counts {
    int started = 0;
    int finished = 0;
  };
  std::mutex registry_mu_;
  std::map<std::string, Counts> per_method_;
  std::mutex call_mu_;
  std::condition_variable call_cv_;
  int active_calls_ = 0;
};

static void CallerMain(Channel* channel, ResponseSink* sink, int id) {
  for (int i = 0; i < 3; i++) {
    std::string method = i % 2 ? "/Echo/Get" : "/Echo/Put";
    channel->StartCall(method);
    std::string body = "reply " + std::to_string(id) + "." + std::to_string(i);
    sink->Deliver(body);
    channel->FinishCall(method);
  }
  sink->Flush();
}

int main() {
  Channel channel;
  ResponseSink sink;
  std::vector<std::thread> callers;

  for (int i = 0; i < 3; i++) callers.emplace_back(CallerMain, &channel, &sink, i);
  sink.WaitFor(9);
  uint64_t digest = sink.Digest();
  int unfinished = channel.Shutdown();
  for (auto& t : callers) t.join();

  printf("digest %llu unfinished %d\n", (unsigned long long)digest, unfinished);
  return unfinished == 0 ? 0 : 1;
}
