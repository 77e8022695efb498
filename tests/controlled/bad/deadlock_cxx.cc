// Two std::mutex in opposite order, through guards.
// expect: deadlock
#include <mutex>
#include <thread>

static std::mutex a, b;

int main()
{
	std::thread thread([] {
		std::lock_guard first(b);
		std::lock_guard second(a);
	});
	{
		std::lock_guard first(a);
		std::lock_guard second(b);
	}
	thread.join();
}
