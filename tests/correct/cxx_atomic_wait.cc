// Waiting on atomics of several sizes: values that a futex holds, and others.
#include "check.hh"

#include <atomic>
#include <thread>

static std::atomic<int> number;
static std::atomic<long> wide;
static std::atomic<char> narrow;
static std::atomic<bool> yes;
static std::atomic_flag flag;
static std::atomic<int> turn;
static int data;

static void wait_all()
{
	number.wait(0);
	CHECK(number != 0);
	wide.wait(0);
	CHECK(wide != 0);
	narrow.wait('\0');
	CHECK(narrow != 0);
	yes.wait(false);
	CHECK(yes);
	flag.wait(false);
	CHECK(flag.test() && data == 5);
}

static void take_turns(int me)
{
	for (int i = 0; i < 3; i++) {
		for (int now; (now = turn) != me;)
			turn.wait(now);
		turn = 1 - me;
		turn.notify_one();
	}
}

int main()
{
	std::thread a(wait_all), b(wait_all), c(take_turns, 0), d(take_turns, 1);
	number = 1;
	number.notify_all();
	wide = 1;
	wide.notify_all();
	narrow = 'x';
	narrow.notify_all();
	yes = true;
	yes.notify_all();
	data = 5;
	flag.test_and_set();
	flag.notify_all();
	a.join();
	b.join();
	c.join();
	d.join();
	number.wait(0); // not 0: returns at once
	std::printf("%d %d\n", turn.load(), data);
}
