/* What the C++ library's headers access on the program's behalf stands at the
 * program's own line, in containers, strings and smart pointers.
 * run: -> 0
 * pair: push > back
 * pair: insert > find
 * pair: text > length
 * pair: reset > use
 */
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static std::vector<long> numbers;
static std::map<int, long> table;
static std::string *text;
static std::shared_ptr<long> owner;

static void fill()
{
	for (long i = 0; i < 20; i++)
		numbers.push_back(i); /* @push */
	for (int i = 0; i < 20; i++)
		table[i] = i; /* @insert */
	text = new std::string; /* @text */
	for (int i = 0; i < 20; i++)
		*text += "some words ";
	owner.reset(new long(7)); /* @reset */
}

static void use(long *sum)
{
	*sum += numbers.back();		      /* @back */
	*sum += table.find(5)->second;	      /* @find */
	*sum += static_cast<long>(text->size()); /* @length */
	*sum += *owner;			      /* @use */
}

int main()
{
	long sum = 0;
	std::thread(fill).join();
	std::thread(use, &sum).join();
	std::printf("%ld\n", sum);
	delete text;
	return 0;
}
