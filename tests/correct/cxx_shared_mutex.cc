// std::shared_mutex and std::shared_timed_mutex: readers together, writers alone.
#include "check.hh"

#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex shared;
static std::shared_timed_mutex timed;
static int a, b;

static void reader()
{
	for (int i = 0; i < 3; i++) {
		std::shared_lock lock(shared);
		CHECK(a == b);
	}
}

static void writer()
{
	for (int i = 0; i < 3; i++) {
		std::unique_lock lock(shared);
		a++;
		b++;
	}
}

int main()
{
	std::thread threads[] = { std::thread(reader), std::thread(writer), std::thread(reader),
				  std::thread(writer) };
	for (auto &thread : threads)
		thread.join();
	CHECK(shared.try_lock_shared());
	std::thread([] {
		CHECK(shared.try_lock_shared());
		shared.unlock_shared();
		CHECK(!shared.try_lock());
	}).join();
	shared.unlock_shared();
	{
		std::unique_lock lock(timed);
		std::thread([] {
			CHECK(!timed.try_lock_shared_for(2ms));
			CHECK(!timed.try_lock_until(std::chrono::system_clock::now() + 2ms));
		}).join();
	}
	CHECK(timed.try_lock_shared_until(steady::now() - 1s));
	timed.unlock_shared();
	std::printf("%d %d\n", a, b);
}
