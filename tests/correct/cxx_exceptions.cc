// Exceptions thrown and caught in threads, over locks that they release, and carried to others.
#include "check.hh"

#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex mutex;
static int caught, destroyed;

struct noticed {
	~noticed()
	{
		destroyed++;
	}
};

static void thrower(int depth)
{
	std::lock_guard lock(mutex);
	noticed here;
	throw std::runtime_error(std::string("depth ") + std::to_string(depth));
}

static void work()
{
	for (int i = 0; i < 3; i++)
		try {
			thrower(i);
		} catch (const std::exception &error) {
			std::lock_guard lock(mutex);
			CHECK(error.what() == "depth " + std::to_string(i));
			caught++;
		}
}

int main()
{
	std::exception_ptr carried;
	std::thread a(work), b(work), c([&carried] {
		try {
			throw 42;
		} catch (...) {
			carried = std::current_exception();
		}
	});
	a.join();
	b.join();
	c.join();
	try {
		std::rethrow_exception(carried);
	} catch (int value) {
		CHECK(value == 42);
		caught++;
	}
	std::printf("%d %d\n", caught, destroyed);
}
