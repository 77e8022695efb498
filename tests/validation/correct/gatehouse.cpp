// The gate is opened by call_once; the key breaks twice (exception) before
// it turns.  Each guard keeps a thread_local tally whose destructor hands it
// in, after that of a second thread_local which still uses it.
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kGuards = 5;
constexpr int kCarts = 40;

std::once_flag gate_once;
int attempts;                  // inside call_once only
std::map<std::string, int> *tariff; // made there, read after it
std::atomic<int> broken_keys{0};

std::mutex book_lock;
long book;
int tallies_in, late_entries;

void open_gate()
{
    if (++attempts <= 2)
        throw std::runtime_error("key broke");
    auto *t = new std::map<std::string, int>;
    (*t)["hay"] = 2;
    (*t)["wine"] = 9;
    (*t)["salt"] = 5;
    tariff = t;
}

struct Tally {
    long sum = 0;
    std::vector<int> carts;
    void note(int toll)
    {
        carts.push_back(toll);
        sum += toll;
    }
    ~Tally()
    {
        long again = 0;
        for (int c : carts)
            again += c;
        std::lock_guard<std::mutex> g(book_lock);
        book += again == sum ? sum : -1000000;
        tallies_in++;
    }
};

thread_local Tally tally;

struct Shift {
    explicit Shift(Tally &t) : tally_(t) {}
    void touch() { used_ = true; }
    ~Shift() // before the tally is destroyed, as it was made later
    {
        if (!used_)
            return;
        tally_.note(1);
        std::lock_guard<std::mutex> g(book_lock);
        late_entries++;
    }

private:
    Tally &tally_;
    bool used_ = false;
};

Shift &shift()
{
    thread_local Shift s(tally);
    return s;
}

void guard(int no)
{
    static const char *const kGoods[] = {"hay", "wine", "salt"};

    for (;;) {
        try {
            std::call_once(gate_once, open_gate);
            break;
        } catch (const std::runtime_error &) {
            broken_keys.fetch_add(1);
        }
    }
    tally.note(0);
    shift().touch();
    for (int i = 0; i < kCarts; i++)
        tally.note(tariff->at(kGoods[(no + i) % 3]));
}

} // namespace

int main()
{
    std::vector<std::thread> guards;
    long want = 0;

    for (int g = 0; g < kGuards; g++) {
        guards.emplace_back(guard, g);
        for (int i = 0; i < kCarts; i++) {
            static const int kToll[] = {2, 9, 5};
            want += kToll[(g + i) % 3];
        }
        want += 1;
    }
    for (auto &t : guards)
        t.join();
    delete tariff;
    std::lock_guard<std::mutex> g(book_lock);
    std::printf("book %ld of %ld, attempts %d, broken %d\n", book, want, attempts,
                broken_keys.load());
    return book == want && tallies_in == kGuards && late_entries == kGuards &&
           attempts == 3 && broken_keys.load() == 2 ? 0 : 1;
}
