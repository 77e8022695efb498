// Coroutines that move between threads: each resumes where it likes, frames are made and freed elsewhere.
#include "check.hh"

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace
{
std::mutex lock;
std::condition_variable change;
std::deque<std::coroutine_handle<>> ready;
std::atomic<int> left{ 4 }, sum{ 0 };
bool stop;

struct reschedule {
	bool await_ready() const noexcept { return false; }
	void await_suspend(std::coroutine_handle<> handle) const
	{
		std::scoped_lock guard(lock);
		ready.push_back(handle);
		change.notify_one();
	}
	void await_resume() const noexcept {}
};

struct task {
	struct promise_type {
		task get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
};

task work(int n)
{
	for (int i = 0; i < 3; i++) {
		co_await reschedule{};
		sum += n;
	}
	if (--left == 0) {
		std::scoped_lock guard(lock);
		stop = true;
		change.notify_all();
	}
}

void run()
{
	for (;;) {
		std::unique_lock guard(lock);
		change.wait(guard, [] { return stop || !ready.empty(); });
		if (ready.empty())
			return;
		auto handle = ready.front();
		ready.pop_front();
		guard.unlock();
		handle.resume();
	}
}
}

int main()
{
	for (int i = 1; i <= 4; i++)
		work(i);
	std::vector<std::thread> threads;
	for (int i = 0; i < 2; i++)
		threads.emplace_back(run);
	for (auto &thread : threads)
		thread.join();
	printf("%d\n", sum.load());
	return 0;
}
