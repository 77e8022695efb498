#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Datagram {
    int size = 0;
    unsigned char data[64] = {};
};

class UdpBuffer {
public:
    explicit UdpBuffer(size_t count) : slots_(count)
    {
        for (auto& slot : slots_)
            free_.push_back(&slot);
    }

    Datagram* allocate()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        while (free_.empty())
            condition_.wait(lock);
        Datagram* d = free_.front();
        free_.pop_front();
        return d;
    }

    void enqueue(Datagram* d)
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            full_.push_back(d);
        }
        condition_.notify_one();
    }

    Datagram* dequeue()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        while (full_.empty())
            condition_.wait(lock);
        Datagram* d = full_.front();
        full_.pop_front();
        return d;
    }

    void release(Datagram* d)
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            free_.push_back(d);
        }
        condition_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
    std::vector<Datagram> slots_;
    std::deque<Datagram*> free_;
    std::deque<Datagram*> full_;
};

constexpr int kPackets = 4;
constexpr int kSockets = 3;
constexpr int kProcessors = 2;

static void receive(UdpBuffer& buffer, int socket)
{
    for (int i = 0; i < kPackets; ++i) {
        Datagram* d = buffer.allocate();
        d->size = 8 + i;
        for (int k = 0; k < d->size; ++k)
            d->data[k] = static_cast<unsigned char>(socket * 16 + k);
        buffer.enqueue(d);
    }
}

static void process(UdpBuffer& buffer, int count, unsigned& sum)
{
    for (int i = 0; i < count; ++i) {
        Datagram* d = buffer.dequeue();
        for (int k = 0; k < d->size; ++k)
            sum += d->data[k];
        buffer.release(d);
    }
}

int main()
{
    UdpBuffer buffer(2);
    unsigned sums[kProcessors] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < kProcessors; ++i)
        threads.emplace_back(process, std::ref(buffer), kSockets * kPackets / kProcessors, std::ref(sums[i]));
    for (int i = 0; i < kSockets; ++i)
        threads.emplace_back(receive, std::ref(buffer), i + 1);
    for (auto& t : threads)
        t.join();
    std::printf("checksum %u\n", sums[0] + sums[1]);
    return 0;
}
