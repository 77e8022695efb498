// std::counting_semaphore and std::binary_semaphore. Only one thread acquires each: with two, that of
// libstdc++ 12 may sleep on a count of 1 that it has read before the other one came and went.
#include "check.hh"

#include <mutex>
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> room(2), items(0);
static std::binary_semaphore done(0);
static std::mutex mutex;
static int buffer, sum;

static void produce()
{
	for (int i = 1; i <= 4; i++) {
		room.acquire();
		mutex.lock();
		buffer += i;
		mutex.unlock();
		items.release();
	}
}

static void consume()
{
	for (int i = 0; i < 4; i++) {
		while (!items.try_acquire_for(5ms))
			;
		mutex.lock();
		sum += buffer;
		buffer = 0;
		mutex.unlock();
		room.release();
	}
	done.release();
}

int main()
{
	CHECK(!items.try_acquire());
	auto before = steady::now();
	CHECK(!items.try_acquire_for(3ms));
	CHECK(steady::now() - before >= 3ms);
	std::thread a(produce), b(consume);
	done.acquire();
	a.join();
	b.join();
	CHECK(room.try_acquire() && room.try_acquire() && !room.try_acquire());
	room.release(2);
	std::printf("%d\n", sum);
}
