// Futures: promises, tasks, async, shared ones, exceptions, broken promises, time-outs.
#include "check.hh"

#include <future>
#include <stdexcept>
#include <thread>

static int add(int a, int b)
{
	return a + b;
}

static int fail(int)
{
	throw std::runtime_error("failed");
}

int main()
{
	int sum = 0;
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	CHECK(future.wait_for(1ms) == std::future_status::timeout);
	std::thread setter([&promise] { promise.set_value(1); });
	sum += future.get();
	setter.join();
	CHECK(!future.valid());

	std::packaged_task<int(int, int)> task(add);
	future = task.get_future();
	std::thread worker(std::move(task), 2, 3);
	future.wait();
	sum += future.get();
	worker.join();

	future = std::async(std::launch::async, add, 10, 20);
	std::future<int> lazy = std::async(std::launch::deferred, add, 100, 200);
	CHECK(lazy.wait_for(0ms) == std::future_status::deferred);
	sum += future.get() + lazy.get();

	future = std::async(std::launch::async, fail, 0);
	try {
		future.get();
		CHECK(false);
	} catch (const std::runtime_error &) {
		sum += 1000;
	}
	{
		std::promise<int> broken;
		future = broken.get_future();
	}
	try {
		future.get();
		CHECK(false);
	} catch (const std::future_error &error) {
		CHECK(error.code() == std::future_errc::broken_promise);
	}

	std::promise<int> once;
	std::shared_future<int> shared = once.get_future().share();
	int seen[2];
	std::thread a([shared, &seen] { seen[0] = shared.get(); }),
		b([shared, &seen] { seen[1] = shared.get(); });
	once.set_value(5);
	a.join();
	b.join();
	try {
		once.set_value(6);
		CHECK(false);
	} catch (const std::future_error &error) {
		CHECK(error.code() == std::future_errc::promise_already_satisfied);
	}
	std::promise<void> late;
	std::future<void> end = late.get_future();
	std::thread last([&late] { late.set_value_at_thread_exit(); });
	end.get();
	last.join();
	std::printf("%d %d %d\n", sum, seen[0], seen[1]);
}
