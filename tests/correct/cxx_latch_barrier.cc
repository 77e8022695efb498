// std::latch and std::barrier with its completion.
#include "check.hh"

#include <atomic>
#include <barrier>
#include <latch>
#include <thread>

static std::latch ready(3), go(1);
static int completions, total;
static std::atomic<int> arrived[3];

static void complete() noexcept
{
	completions++;
}

static std::barrier barrier(3, complete);

static void walk()
{
	ready.count_down();
	go.wait();
	for (int round = 0; round < 3; round++) {
		arrived[round]++;
		if (round == 1)
			barrier.wait(barrier.arrive());
		else
			barrier.arrive_and_wait();
		CHECK(arrived[round] == 3);
		CHECK(completions >= round + 1);
	}
}

int main()
{
	std::thread a(walk), b(walk), c(walk);
	ready.wait();
	CHECK(ready.try_wait());
	CHECK(arrived[0] == 0);
	go.count_down();
	a.join();
	b.join();
	c.join();
	std::latch last(2);
	std::thread d([&last] { last.arrive_and_wait(); });
	last.arrive_and_wait();
	d.join();
	std::barrier drops(2);
	std::thread e([&drops] { drops.arrive_and_drop(); });
	drops.arrive_and_wait();
	drops.arrive_and_wait();
	e.join();
	total = completions;
	std::printf("%d\n", total);
}
