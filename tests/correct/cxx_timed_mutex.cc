// std::timed_mutex, std::recursive_timed_mutex: time-outs, and success in the end.
#include "check.hh"

#include <mutex>
#include <thread>

static std::timed_mutex timed;
static std::recursive_timed_mutex recursive;
static int total, nested;

static void insist()
{
	while (!timed.try_lock_for(5ms))
		;
	total++;
	timed.unlock();
	std::unique_lock lock(recursive, std::defer_lock);
	while (!lock.try_lock_until(std::chrono::system_clock::now() + 5ms))
		;
	CHECK(recursive.try_lock_for(0ms));
	nested++;
	recursive.unlock();
}

int main()
{
	timed.lock();
	std::thread([] {
		auto before = steady::now();
		CHECK(!timed.try_lock_for(3ms));
		CHECK(steady::now() - before >= 3ms);
		CHECK(!timed.try_lock_until(steady::now() - 1s));
	}).join();
	std::thread a(insist), b(insist);
	total++;
	timed.unlock();
	a.join();
	b.join();
	std::printf("%d %d\n", total, nested);
}
