/* What the C++ library does inside of its shared library, on strings, trees and lists,
 * is an access at the line of the call too.
 * run: -> 0
 * pair: look > insert
 * pair: walk > erase
 * pair: assign > compare
 * pair: empty > hook
 * no pair: other > insert
 */
#include <cstdio>
#include <list>
#include <map>
#include <string>
#include <thread>

static std::map<int, int> table, full{ { 1, 1 }, { 2, 2 }, { 3, 3 } }, apart;
static std::string name, source("a name that is too long for the object itself");
static std::list<int> numbers;

static void first(long *sum)
{
	*sum += static_cast<long>(table.count(1)); /* @look */
	for (auto &entry : full)
		*sum += entry.second; /* @walk */
	*sum += numbers.empty(); /* @empty */
	name = source; /* @assign */
	apart[5] = 1; /* @other */
}

static void second(long *sum)
{
	table[1] = 2; /* @insert */
	full.erase(1); /* @erase */
	numbers.push_back(4); /* @hook */
	*sum += name.compare("a name") > 0; /* @compare */
}

int main()
{
	long sum = 0;
	std::thread(first, &sum).join();
	std::thread(second, &sum).join();
	std::printf("%ld\n", sum);
	return 0;
}
