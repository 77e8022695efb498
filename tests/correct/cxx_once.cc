// std::call_once and local statics: once, all wait for it, and after an exception somebody else tries.
#include "check.hh"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::once_flag flag, failing;
static std::atomic<int> once_runs, once_attempts, attempts, constructions, caught;

struct slow {
	int value;
	slow() : value(0)
	{
		constructions++;
		std::this_thread::yield();
		value = 42;
	}
};

struct fragile {
	int value = 0;
	fragile()
	{
		if (attempts++ < 2)
			throw std::runtime_error("not yet");
		value = 7;
	}
};

static slow &the_one()
{
	static slow instance;
	return instance;
}

static fragile &the_fragile()
{
	static fragile instance;
	return instance;
}

static void use()
{
	std::call_once(flag, [] { once_runs++; });
	CHECK(once_runs == 1);
	CHECK(the_one().value == 42);
	for (;;)
		try {
			std::call_once(failing, [] {
				if (once_attempts++ < 2)
					throw std::runtime_error("not yet");
			});
			break;
		} catch (const std::runtime_error &) {
			caught++;
		}
	CHECK(once_attempts == 3);
	for (;;)
		try {
			CHECK(the_fragile().value == 7);
			break;
		} catch (const std::runtime_error &) {
			caught++;
		}
}

int main()
{
	std::thread a(use), b(use), c(use);
	a.join();
	b.join();
	c.join();
	std::printf("%d %d %d %d\n", once_runs.load(), constructions.load(), attempts.load(), caught.load());
}
