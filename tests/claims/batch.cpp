/* Two jobs are added at a time, and one of the threads that wait is told. */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <thread>

#ifdef MENDED
#define notify_one notify_all
#endif

static std::mutex lock;
static std::condition_variable filled;
static std::queue<int> jobs;
static int sum;

static void take()
{
	std::unique_lock<std::mutex> hold(lock);

	filled.wait(hold, [] { return !jobs.empty(); }); /* waits */
	sum += jobs.front();
	jobs.pop();
}

int main()
{
	std::thread first(take), second(take);
	{
		std::lock_guard<std::mutex> hold(lock);

		jobs.push(1);
		jobs.push(2);
		filled.notify_one(); /* tells */
	}
	first.join();
	second.join();
	std::printf("%d\n", sum);
	return sum != 3;
}
