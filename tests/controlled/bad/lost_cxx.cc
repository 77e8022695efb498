// std::condition_variable without a predicate.
// expect: lost-wakeup
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;

int main()
{
	std::thread thread([] { condition.notify_all(); });
	{
		std::unique_lock lock(mutex);
		condition.wait(lock);
	}
	thread.join();
}
