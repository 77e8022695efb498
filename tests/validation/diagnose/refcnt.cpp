// Cache of parsed URIs shared by the loader threads of a browser.
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> gLiveURIs{0};
int gTraceHits;  // read by the tracer now and then

class Supports {
 public:
  unsigned AddRef() {
    unsigned count = mRefCnt + 1;
    mRefCnt = count;
    return count;
  }
  unsigned Release() {
    unsigned count = mRefCnt - 1;
    mRefCnt = count;
    if (count == 0) delete this;
    return count;
  }

 protected:
  virtual ~Supports() = default;

 private:
  unsigned mRefCnt = 0;
};

class URI : public Supports {
 public:
  URI(std::string scheme, std::string host, std::string path)
      : mScheme(std::move(scheme)), mHost(std::move(host)), mPath(std::move(path)) {
    gLiveURIs.fetch_add(1);
  }
  std::string Spec() const { return mScheme + "://" + mHost + mPath; }
  size_t HostLength() const { return mHost.size(); }

 private:
  ~URI() override { gLiveURIs.fetch_sub(1); }

  const std::string mScheme;
  const std::string mHost;
  const std::string mPath;
};

template <class T>
class RefPtr {
 public:
  RefPtr() = default;
  explicit RefPtr(T* raw) : mRaw(raw) {
    if (mRaw) mRaw->AddRef();
  }
  RefPtr(const RefPtr& other) : RefPtr(other.mRaw) {}
  RefPtr& operator=(const RefPtr& other) {
    RefPtr copy(other);
    std::swap(mRaw, copy.mRaw);
    return *this;
  }
  ~RefPtr() {
    if (mRaw) mRaw->Release();
  }
  T* operator->() const { return mRaw; }
  explicit operator bool() const { return mRaw != nullptr; }

 private:
  T* mRaw = nullptr;
};

class URICache {
 public:
  void Put(const std::string& key, const RefPtr<URI>& uri) {
    std::lock_guard<std::mutex> guard(mLock);
    mTable[key] = uri;
  }
  RefPtr<URI> Get(const std::string& key) {
    std::lock_guard<std::mutex> guard(mLock);
    auto it = mTable.find(key);
    mLookups++;
    return it == mTable.end() ? RefPtr<URI>() : it->second;
  }
  void Clear() {
    std::lock_guard<std::mutex> guard(mLock);
    mTable.clear();
  }
  int Lookups() {
    std::lock_guard<std::mutex> guard(mLock);
    return mLookups;
  }

 private:
  std::mutex mLock;
  std::map<std::string, RefPtr<URI>> mTable;
  int mLookups = 0;
};

URICache gCache;

void Load(int id, std::atomic<size_t>* bytes) {
  static const char* const kKeys[] = {"home", "style"};

  for (int i = 0; i < 4; i++) {
    RefPtr<URI> uri = gCache.Get(kKeys[(id + i) % 2]);
    if (!uri) continue;
    gTraceHits++;
    RefPtr<URI> referrer = uri;
    bytes->fetch_add(referrer->Spec().size() + uri->HostLength());
  }
}

}  // namespace

int main() {
  std::atomic<size_t> bytes{0};

  gCache.Put("home", RefPtr<URI>(new URI("http", "www.example.org", "/")));
  gCache.Put("style", RefPtr<URI>(new URI("http", "cdn.example.org", "/main.css")));

  std::vector<std::thread> loaders;
  for (int i = 0; i < 3; i++) loaders.emplace_back(Load, i, &bytes);
  for (auto& t : loaders) t.join();
  int lookups = gCache.Lookups();
  gCache.Clear();

  std::printf("%d lookups, %zu bytes\n", lookups, bytes.load());
  if (gLiveURIs.load() != 0) {
    std::fprintf(stderr, "%d objects leaked\n", gLiveURIs.load());
    return 1;
  }
  return 0;
}
