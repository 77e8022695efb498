/* C++: std::thread, thread_local destructors, exceptions that cross threads and
 * frames, call_once, static guards, lambdas, async, condition variables.
 * run: -> 0
 * pair: set > caught
 * pair: done > counted
 * pair: push > pop
 * pair: once > value
 * no pair: local > *
 */
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static volatile int destroyed, thrown, created;
static std::mutex lock;

struct Local {
	volatile int uses = 0;
	~Local()
	{
		std::lock_guard<std::mutex> hold(lock);
		destroyed = destroyed + uses; /* @done */
	}
};
static thread_local Local local;

struct Once {
	volatile int value;
	Once() : value(7) /* @once */ {}
};

static Once &instance()
{
	static Once *once = new Once;
	return *once;
}

[[gnu::noinline]] static void dive(int depth)
{
	std::string text(40, 'x');
	if (depth == 0)
		throw std::runtime_error("from below " + text.substr(0, 3));
	dive(depth - 1);
}

template <typename T> class Queue {
	std::deque<T> items;
	std::mutex mutex;
	std::condition_variable filled;
public:
	void push(T item)
	{
		std::lock_guard<std::mutex> hold(mutex);
		items.push_back(item);
		*reinterpret_cast<volatile T *>(&items.back()) = item; /* @push */
		filled.notify_one();
	}
	T pop()
	{
		std::unique_lock<std::mutex> hold(mutex);
		filled.wait(hold, [this] { return !items.empty(); });
		T item = *reinterpret_cast<volatile T *>(&items.front()); /* @pop */
		items.pop_front();
		return item;
	}
};

int main()
{
	std::exception_ptr carried;
	std::once_flag flag;
	for (int i = 0; i < 3; i++)
		std::thread([] {
			local.uses = local.uses + 1; /* @local */
			created = instance().value; /* @value */
		}).join();
	std::cout << "destroyed " << destroyed << " created " << created << '\n'; /* @counted */
	std::thread([&] {
		std::call_once(flag, [] { thrown = 1; /* @set */ });
		try {
			dive(20);
		} catch (...) {
			carried = std::current_exception();
		}
	}).join();
	try {
		std::rethrow_exception(carried);
	} catch (const std::runtime_error &error) {
		std::cout << error.what() << ' ' << thrown << '\n'; /* @caught */
	}
	std::future<int> future = std::async(std::launch::async, []() -> int { throw 42; });
	try {
		future.get();
	} catch (int number) {
		std::cout << "caught " << number << '\n';
	}
	Queue<long> queue;
	std::vector<std::thread> workers;
	for (long i = 0; i < 4; i++)
		workers.emplace_back([&queue, i] { queue.push(i * 10); });
	long sum = 0;
	for (int i = 0; i < 4; i++)
		sum += queue.pop();
	for (auto &worker : workers)
		worker.join();
	std::cout << "sum " << sum << std::endl;
	return 0;
}
