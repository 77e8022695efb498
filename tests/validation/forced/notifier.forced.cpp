// A subject with one listener callback; the owner may withdraw it.
#include <unistd.h>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

class Subject {
  public:
    void listen(std::function<void(const std::string &)> f) {
        std::lock_guard<std::mutex> g(mu_);
        cb_ = std::move(f);
    }
    void withdraw() {
        std::lock_guard<std::mutex> g(mu_);
        cb_ = nullptr;
    }
    bool hasListener() const {
        std::lock_guard<std::mutex> g(mu_);
        return static_cast<bool>(cb_);
    }
    void fire(const std::string &what) {
        std::lock_guard<std::mutex> g(mu_);
        cb_(what);
    }

  private:
    mutable std::mutex mu_;
    std::function<void(const std::string &)> cb_;
};

class Log {
  public:
    void add(const std::string &s) { bytes_ += s.size(); }
    std::size_t bytes() const { return bytes_; }

  private:
    std::size_t bytes_ = 0;
};

static void publish(Subject &s, const char *topic, int n)
{
    for (int i = 0; i < n; i++) {
        if (!s.hasListener())
            return;
     usleep(20000);
        s.fire(topic);
    }
}

int main()
{
    Subject subject;
    auto log = std::make_shared<Log>();
    subject.listen([log](const std::string &s) { log->add(s); });

    std::thread pub([&] { publish(subject, "tick", 3); });
    std::thread owner([&] {
     usleep(10000);
        std::string note = "bye";
        note += std::to_string(note.size());
        subject.withdraw();
    });
    pub.join();
    owner.join();
    std::printf("listener gone, complete messages: %s\n",
                log->bytes() % 4 == 0 ? "yes" : "no");
    return 0;
}
