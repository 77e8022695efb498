// Containers that move, shrink and share their memory, used correctly by two threads.
#include <cassert>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<int, std::string> names;
static std::shared_ptr<std::vector<int>> numbers = std::make_shared<std::vector<int>>(20, 1);

static void work(int first)
{
	auto mine = numbers;
	int sum = 0;
	for (int n : *mine)
		sum += n;
	assert(sum == 20);
	for (int i = first; i < first + 20; i++) {
		std::lock_guard<std::mutex> guard(lock);
		names[i] = std::string((size_t)i, 'x') + std::to_string(i);
	}
	std::vector<std::string> texts;
	std::deque<int> queue;
	std::list<std::string> list;
	for (int i = 0; i < 40; i++) {
		texts.push_back(std::string((size_t)i, 'y'));
		queue.push_front(i);
		list.push_back(texts.back());
		if (i % 3 == 0)
			list.pop_front();
	}
	texts.resize(10);
	texts.shrink_to_fit();
	std::ostringstream out;
	for (auto &text : texts)
		out << text << queue.back();
	assert(out.str().size() == 45 + 10);
	for (int i = first; i < first + 20; i += 2) {
		std::lock_guard<std::mutex> guard(lock);
		names.erase(i);
	}
}

int main()
{
	{
		std::thread a(work, 0), b(work, 20);
		a.join();
		b.join();
	}
	assert(names.size() == 20 && names.begin()->second.compare("x1") == 0);
	struct alignas(64) wide {
		char bytes[64];
	};
	auto many = std::make_unique<wide[]>(3);
	many[2].bytes[63] = 1;
}
