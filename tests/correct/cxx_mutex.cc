// std::mutex, std::recursive_mutex and the guards around them; locking two in any order.
#include "check.hh"

#include <mutex>
#include <thread>

static std::mutex first, second;
static std::recursive_mutex recursive;
static int total, depth;

static void straight()
{
	for (int i = 0; i < 3; i++) {
		std::scoped_lock both(first, second);
		total++;
	}
}

static void backward()
{
	for (int i = 0; i < 3; i++) {
		std::unique_lock a(second, std::defer_lock), b(first, std::defer_lock);
		std::lock(a, b);
		total++;
	}
}

static void nested(int levels)
{
	std::lock_guard guard(recursive);
	depth++;
	if (levels > 1)
		nested(levels - 1);
}

int main()
{
	std::thread a(straight), b(backward), c(nested, 3), d(nested, 2);
	a.join();
	b.join();
	c.join();
	d.join();
	CHECK(first.try_lock());
	std::thread([] { CHECK(!first.try_lock()); }).join();
	first.unlock();
	std::unique_lock lock(first, std::try_to_lock);
	CHECK(lock.owns_lock());
	std::mutex *released = lock.release();
	CHECK(released == &first);
	std::lock_guard adopted(first, std::adopt_lock);
	std::printf("%d %d\n", total, depth);
}
