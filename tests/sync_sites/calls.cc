/* Calls that synchronise, in C++. A comment names what the site table must hold for
 * its line, and for no other: the program's lines, not those of the library's
 * headers. Compiled only, never run. */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::mutex mutex;
static std::recursive_mutex recursive;
static std::shared_mutex shared;
static std::timed_mutex timed;
static std::condition_variable condition;
static std::once_flag flag;
static std::atomic<int> number;
int total;

struct made {
	int value;
	made();
	~made();
};

int local()
{
	static made once; // sync: __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort?
	return once.value;
}

/* May throw: the calls inside the block of the local variable are invokes. */
int throwing(int);

void guarded()
{
	made local_variable;
	std::lock_guard<std::mutex> guard(mutex); // sync: std::lock_guard
	total = throwing(total);
} // sync: std::lock_guard::~lock_guard

void waits()
{
	std::unique_lock<std::mutex> lock(mutex);           // sync: std::unique_lock
	condition.wait(lock);                               // sync: std::condition_variable::wait
	condition.wait(lock, [] { return total > 0; });     // sync: std::condition_variable::wait
	condition.wait_for(lock, 1ms);                      // sync: std::condition_variable::wait_for
	condition.notify_one();                             // sync: std::condition_variable::notify_one
	condition.notify_all();                             // sync: std::condition_variable::notify_all
	lock.unlock();                                      // sync: std::unique_lock::unlock
	lock.lock();                                        // sync: std::unique_lock::lock
} // sync: std::unique_lock::~unique_lock

void locks()
{
	recursive.lock();                           // sync: std::recursive_mutex::lock
	recursive.unlock();                         // sync: std::recursive_mutex::unlock
	shared.lock_shared();                       // sync: std::shared_mutex::lock_shared
	shared.unlock_shared();                     // sync: std::shared_mutex::unlock_shared
	timed.try_lock_for(1ms);                    // sync: std::timed_mutex::try_lock_for
	std::call_once(flag, [] { total = 1; });    // sync: std::call_once
	number.wait(0);                             // sync: std::atomic::wait
	number.notify_all();                        // sync: std::atomic::notify_all
	std::this_thread::yield();                  // sync: std::this_thread::yield
	std::this_thread::sleep_for(1ms);           // sync: std::this_thread::sleep_for
}

/* Nothing here synchronises. */
std::string plain(std::vector<std::string> &names, const std::shared_ptr<int> &shared_number)
{
	names.push_back(std::to_string(*shared_number));
	total += static_cast<int>(names.size());
	return names.back() + "!";
}

void threads()
{
	std::thread thread([] { // sync: std::thread
		mutex.lock(); // sync: std::mutex::lock
		total++;
		mutex.unlock(); // sync: std::mutex::unlock
	});
	thread.join(); // sync: std::thread::join
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	promise.set_value(1); // sync: std::promise::set_value
	total = future.get(); // sync: std::future::get
	std::thread(guarded).detach(); // sync: std::thread std::thread::detach
} // sync: std::promise::~promise
