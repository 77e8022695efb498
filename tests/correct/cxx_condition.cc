// std::condition_variable: with and without predicate, time-outs on both clocks, the end of a thread.
#include "check.hh"

#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static std::condition_variable_any any;
static int stage, ended;

static void move_on(int from)
{
	std::unique_lock lock(mutex);
	condition.wait(lock, [from] { return stage == from; });
	stage++;
	condition.notify_all();
	any.notify_all();
}

static void timed()
{
	std::unique_lock lock(mutex);
	while (!condition.wait_for(lock, 5ms, [] { return stage >= 2; }))
		CHECK(lock.owns_lock());
	CHECK(stage >= 2);
	while (!condition.wait_until(lock, std::chrono::system_clock::now() + 5ms, [] { return stage >= 3; }))
		;
	CHECK(stage == 3);
}

static void at_exit()
{
	std::unique_lock lock(mutex);
	ended = 1;
	std::notify_all_at_thread_exit(condition, std::move(lock));
}

int main()
{
	{
		std::unique_lock lock(mutex);
		auto end = steady::now() + 3ms;
		while (condition.wait_until(lock, end) != std::cv_status::timeout)
			;
		CHECK(steady::now() >= end);
		auto day = std::chrono::system_clock::now() + 3ms;
		while (condition.wait_until(lock, day) != std::cv_status::timeout)
			;
		CHECK(std::chrono::system_clock::now() >= day);
		CHECK(!condition.wait_for(lock, 1ms, [] { return false; }));
		CHECK(lock.owns_lock());
	}
	std::thread a(move_on, 2), b(move_on, 1), c(timed), d(move_on, 0);
	{
		std::unique_lock lock(mutex);
		any.wait(lock, [] { return stage == 3; });
	}
	a.join();
	b.join();
	c.join();
	d.join();
	std::thread last(at_exit);
	{
		std::unique_lock lock(mutex);
		condition.wait(lock, [] { return ended == 1; });
	}
	last.join();
	std::printf("%d\n", stage);
}
