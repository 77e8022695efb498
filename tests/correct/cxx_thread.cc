// std::thread: arguments, moving, joining, detaching, ids, and errors of misuse.
#include "check.hh"

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

static std::atomic<int> total, gone;

static void add(int n, int &out)
{
	total += n;
	out = n;
}

int main()
{
	int out = 0;
	std::thread empty;
	CHECK(!empty.joinable());
	std::thread one(add, 5, std::ref(out)), moved(std::move(one));
	CHECK(!one.joinable() && moved.joinable());
	CHECK(moved.get_id() != std::this_thread::get_id());
	moved.join();
	CHECK(out == 5);
	try {
		moved.join();
		CHECK(false);
	} catch (const std::system_error &error) {
		CHECK(error.code() == std::errc::invalid_argument);
	}
	std::vector<std::thread> many;
	int outs[3];
	for (int i = 0; i < 3; i++)
		many.emplace_back([i, &outs] { add(i, outs[i]); });
	for (auto &thread : many)
		thread.join();
	CHECK(outs[0] == 0 && outs[1] == 1 && outs[2] == 2);
	std::thread([] { gone = 1; }).detach();
	while (!gone)
		std::this_thread::yield();
	std::printf("%d\n", total.load());
}
