#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Reply {
public:
    explicit Reply(std::string url)
        : url_(std::move(url))
    {
    }

    void onFinished(std::function<void(int)> slot)
    {
        std::lock_guard<std::mutex> g(mu_);
        finished_ = std::move(slot);
    }

    void finish(int status)
    {
        std::function<void(int)> slot;
        {
            std::lock_guard<std::mutex> g(mu_);
            status_ = status;
            slot = finished_;
        }
        if (slot)
            slot(status);
    }

    int status()
    {
        std::lock_guard<std::mutex> g(mu_);
        return status_;
    }

    const std::string &url() const
    {
        return url_;
    }

private:
    const std::string url_;
    std::mutex mu_;
    std::function<void(int)> finished_;
    int status_ = 0;
};

static constexpr std::chrono::microseconds round_trip(300);

class AccessManager {
public:
    std::shared_ptr<Reply> get(const std::string &url)
    {
        auto reply = std::make_shared<Reply>(url);
        std::lock_guard<std::mutex> g(mu_);
        threads_.emplace_back([this, reply] { fetch(*reply); });
        return reply;
    }

    void waitAll()
    {
        for (std::thread &t : threads_)
            t.join();
        threads_.clear();
    }

private:
    void fetch(Reply &reply)
    {
        unsigned h = 17;
        count_request();
        std::this_thread::sleep_for(round_trip);
        for (char c : reply.url())
            h = h * 131 + static_cast<unsigned char>(c);
        int status = h % 7 == 0 ? 404 : 200;
        reply.finish(status);
    }

    void count_request()
    {
        std::lock_guard<std::mutex> g(mu_);
        requests_++;
    }

    std::mutex mu_;
    int requests_ = 0;
    std::vector<std::thread> threads_;
};

class PageLoader {
public:
    void load(const std::vector<std::string> &urls)
    {
        for (const std::string &url : urls) {
            auto reply = manager_.get(url);
            reply->onFinished([this](int status) { handle(status); });
            replies_.push_back(reply);
        }
        manager_.waitAll();
    }

    size_t outstanding()
    {
        std::lock_guard<std::mutex> g(mu_);
        return replies_.size() - handled_;
    }

    int answered()
    {
        int n = 0;
        for (auto &reply : replies_) {
            if (reply->status() != 0)
                n++;
        }
        return n;
    }

private:
    void handle(int status)
    {
        std::lock_guard<std::mutex> g(mu_);
        handled_++;
        if (status != 200)
            errors_++;
    }

    AccessManager manager_;
    std::vector<std::shared_ptr<Reply>> replies_;
    std::mutex mu_;
    size_t handled_ = 0;
    int errors_ = 0;
};

int main()
{
    PageLoader loader;
    loader.load({ "http://a/index.html", "http://a/x.css", "http://b/" });
    printf("%d answered\n", loader.answered());
    if (loader.outstanding() != 0) {
        printf("%zu never handled\n", loader.outstanding());
        return 1;
    }
    return 0;
}
