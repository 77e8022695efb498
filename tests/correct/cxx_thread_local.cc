// thread_local objects: made at first use in each thread, destroyed at its end, before it is joined.
#include "check.hh"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

static std::mutex mutex;
static int made, gone;

struct counted {
	int uses = 0;
	counted()
	{
		std::lock_guard lock(mutex);
		made++;
	}
	~counted()
	{
		std::lock_guard lock(mutex);
		gone++;
	}
};

static thread_local counted mine;

static void use()
{
	for (int i = 0; i < 3; i++)
		CHECK(++mine.uses == i + 1);
}

int main()
{
	auto shared = std::make_shared<int>(3);
	std::weak_ptr<int> weak = shared;
	std::thread a(use), b(use), idle([] {});
	std::thread owner([shared] { CHECK(*shared == 3); });
	shared.reset();
	a.join();
	b.join();
	idle.join();
	owner.join();
	CHECK(weak.expired());
	CHECK(gone == made);
	use();
	CHECK(mine.uses == 3);
	std::printf("%d %d\n", made, gone);
}
