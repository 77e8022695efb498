// Transfer engine with a resolver thread per host name lookup.
#include <cassert>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct AddrInfo {
  std::string host;
  uint32_t ipv4;
  int ttl;
};

class DnsCache {
 public:
  void Put(const AddrInfo& a) {
    std::lock_guard<std::mutex> l(mu_);
    entries_[a.host] = a.ipv4;
  }
  size_t size() {
    std::lock_guard<std::mutex> l(mu_);
    return entries_.size();
  }

 private:
  std::mutex mu_;
  std::unordered_map<std::string, uint32_t> entries_;
};

struct ThreadData {
  explicit ThreadData(std::string h) : host(std::move(h)) {}
  const std::string host;
  std::mutex mu;
  std::condition_variable cv;
  bool done = false;
  AddrInfo* addr = nullptr;
  std::thread thread;
};

static AddrInfo* LookupHost(const std::string& host) {
  uint32_t h = 2166136261u;
  for (int round = 0; round < 200; round++)
    for (char c : host) h = (h ^ static_cast<uint8_t>(c)) * 16777619u;
  return new AddrInfo{host, h, 60};
}

static void ResolverMain(ThreadData* td) {
  AddrInfo* res = LookupHost(td->host);
  {
    std::lock_guard<std::mutex> l(td->mu);
    td->done = true;
  }
  td->addr = res;
  td->cv.notify_one();
}

class Transfer {
 public:
  Transfer(std::string host, DnsCache* dns) : td_(new ThreadData(std::move(host))), dns_(dns) {}

  void StartResolve() { td_->thread = std::thread(ResolverMain, td_.get()); }

  uint32_t WaitResolve() {
    {
      std::unique_lock<std::mutex> l(td_->mu);
      td_->cv.wait(l, [this] { return td_->done; });
    }
    AddrInfo* a = td_->addr;
    assert(a != nullptr);
    dns_->Put(*a);
    return a->ipv4;
  }

  void Cleanup() {
    td_->thread.join();
    delete td_->addr;
    td_->addr = nullptr;
  }

 private:
  std::unique_ptr<ThreadData> td_;
  DnsCache* dns_;
};

int main() {
  DnsCache dns;
  std::vector<std::unique_ptr<Transfer>> transfers;
  const char* hosts[] = {"example.org", "mirror.example.net", "cdn.example.com"};

  for (const char* h : hosts) transfers.emplace_back(new Transfer(h, &dns));
  for (auto& t : transfers) t->StartResolve();
  uint32_t mix = 0;
  for (auto& t : transfers) mix ^= t->WaitResolve();
  for (auto& t : transfers) t->Cleanup();

  printf("%zu hosts resolved, mix %08x\n", dns.size(), mix);
  return dns.size() == 3 ? 0 : 1;
}
