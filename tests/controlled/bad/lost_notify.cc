// Notifies before it stores: whoever begins to wait in between is not woken.
// expect: lost-wakeup deadlock
#include <atomic>
#include <thread>

static std::atomic<int> value;

int main()
{
	std::thread thread([] {
		value.notify_one();
		value.store(1);
	});
	value.wait(0);
	thread.join();
}
