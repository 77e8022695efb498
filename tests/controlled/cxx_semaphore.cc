// std::counting_semaphore and std::binary_semaphore.
#include "check.hh"

#include <semaphore>
#include <thread>

static std::counting_semaphore<2> room(2), items(0);
static std::binary_semaphore mutex(1);
static int buffer, sum;

static void produce()
{
	for (int i = 1; i <= 4; i++) {
		room.acquire();
		mutex.acquire();
		buffer += i;
		mutex.release();
		items.release();
	}
}

static void consume()
{
	for (int i = 0; i < 4; i++) {
		while (!items.try_acquire_for(5ms))
			;
		mutex.acquire();
		sum += buffer;
		buffer = 0;
		mutex.release();
		room.release();
	}
}

int main()
{
	CHECK(!items.try_acquire());
	auto before = steady::now();
	CHECK(!items.try_acquire_for(3ms));
	CHECK(steady::now() - before >= 3ms);
	std::thread a(produce), b(consume);
	a.join();
	b.join();
	CHECK(room.try_acquire() && room.try_acquire() && !room.try_acquire());
	room.release(2);
	std::printf("%d\n", sum);
}
