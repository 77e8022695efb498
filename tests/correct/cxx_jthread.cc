// std::jthread, stop tokens and callbacks; a wait that a stop request ends.
#include "check.hh"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex mutex;
static std::condition_variable_any condition;
static int stopped, callbacks;

int main()
{
	{
		std::jthread spinning([](std::stop_token token) {
			while (!token.stop_requested())
				std::this_thread::yield();
			std::lock_guard lock(mutex);
			stopped++;
		});
		std::jthread waiting([](std::stop_token token) {
			std::unique_lock lock(mutex);
			bool met = condition.wait(lock, token, [] { return false; });
			CHECK(!met && token.stop_requested());
			stopped++;
		});
		std::jthread polling([](std::stop_token token) {
			std::unique_lock lock(mutex);
			while (!condition.wait_for(lock, token, 5ms, [] { return false; }) &&
			       !token.stop_requested())
				;
			stopped++;
		});
		std::jthread plain([] { std::this_thread::yield(); });
		std::stop_callback callback(waiting.get_stop_token(), [] { callbacks++; });
		CHECK(waiting.request_stop());
		CHECK(!waiting.request_stop());
	} // the others are stopped and joined here
	std::printf("%d %d\n", stopped, callbacks);
}
