#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Session {
public:
    explicit Session(int id) : id_(id) {}

    int send(const std::string &text)
    {
        sequence_++;
        sent_ += text.size();
        return sequence_;
    }

    int id() const { return id_; }

private:
    int id_;
    int sequence_ = 0;
    std::size_t sent_ = 0;
};

class Client {
public:
    ~Client() = default;

    void connect()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        session_ = std::make_unique<Session>(++connects_);
    }

    void drop()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        if (session_ != nullptr)
            old_.push_back(std::move(session_));
        drops_++;
    }

    bool connected()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return session_ != nullptr;
    }

    Session &session()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return *session_;
    }

    bool post(const std::string &text)
    {
        if (!connected()) {
            missed_++;
            return false;
        }
        session().send(text);
        posted_++;
        return true;
    }

    int posts() const { return posted_ + missed_; }
    int drops() const { return drops_; }

private:
    std::mutex mutex_;
    std::unique_ptr<Session> session_;
    std::vector<std::unique_ptr<Session>> old_;
    int connects_ = 0;
    int drops_ = 0;
    int posted_ = 0;
    int missed_ = 0;
};

class Watchdog {
public:
    explicit Watchdog(Client &client) : client_(client) {}

    void run()
    {
        for (int tick = 0; tick < 4; tick++) {
            if (tick % 2 == 1)
                client_.drop();
            else if (!client_.connected())
                client_.connect();
        }
        client_.connect();
    }

private:
    Client &client_;
};

int main()
{
    Client client;
    client.connect();
    Watchdog watchdog(client);
    std::thread t([&] { watchdog.run(); });
    for (int i = 0; i < 6; i++)
        client.post("event " + std::to_string(i));
    t.join();
    std::printf("%d posts, %d drops, session %d\n", client.posts(), client.drops(), client.session().id());
    return client.posts() != 6;
}
