// Threads in a vector: created by the library's headers, joined in a loop, freed behind it.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Stock {
	std::mutex mutex;
	std::condition_variable filled;
	int left = 3, sold = 0; // left
	bool has() { std::lock_guard<std::mutex> hold(mutex); return left > 0; } // check
	void take() { std::lock_guard<std::mutex> hold(mutex); left--; sold++; } // act
	void wait()
	{
		std::unique_lock<std::mutex> hold(mutex);
		filled.wait(hold, [this] { return left > 0; }); // waits in a loop
	}
};

int main()
{
	auto stock = std::make_unique<Stock>();
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] { stock->wait(); if (stock->has()) stock->take(); }); // begins here
	for (auto &thread : threads)
		thread.join();
	stock.reset(); // freed behind the joins
	return 0;
}
