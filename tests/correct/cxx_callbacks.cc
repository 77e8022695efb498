// std::function tasks, std::async with both policies, std::packaged_task, std::stop_callback, shared_ptr and
// weak_ptr across threads, atomic shared_ptr.
#include "check.hh"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace
{
struct pool {
	std::mutex lock;
	std::condition_variable_any change;
	std::deque<std::function<void()>> tasks;
	std::vector<std::jthread> threads;
	pool()
	{
		for (int i = 0; i < 2; i++)
			threads.emplace_back([this](std::stop_token stop) {
				for (;;) {
					std::unique_lock guard(lock);
					if (!change.wait(guard, stop, [this] { return !tasks.empty(); }))
						return;
					auto task = std::move(tasks.front());
					tasks.pop_front();
					guard.unlock();
					task();
				}
			});
	}
	template <class F> auto submit(F f) -> std::future<decltype(f())>
	{
		auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::move(f));
		auto future = task->get_future();
		std::scoped_lock guard(lock);
		tasks.emplace_back([task] { (*task)(); });
		change.notify_one();
		return future;
	}
};
}

int main()
{
	int sum = 0;
	{
		pool workers;
		std::vector<std::future<int>> results;
		for (int i = 0; i < 6; i++)
			results.push_back(workers.submit([i] { return i * i; }));
		for (auto &result : results)
			sum += result.get();
	}
	auto lazy = std::async(std::launch::deferred, [] { return 5; });
	auto eager = std::async(std::launch::async, [] { return 6; });
	sum += lazy.get() + eager.get();
	std::atomic<std::shared_ptr<int>> shared = std::make_shared<int>(1);
	std::weak_ptr<int> weak = shared.load();
	{
		std::jthread writer([&] { shared.store(std::make_shared<int>(2)); });
		std::jthread reader([&] {
			auto held = shared.load();
			if (*held != 1 && *held != 2)
				std::abort();
			if (auto locked = weak.lock(); locked && *locked != 1)
				std::abort();
		});
	}
	std::atomic<int> called{ 0 };
	{
		std::stop_source source;
		std::stop_callback one(source.get_token(), [&] { called++; });
		std::jthread asker([&] { source.request_stop(); });
		asker.join();
	}
	printf("%d %d %d\n", sum, *shared.load(), called.load());
	return 0;
}
