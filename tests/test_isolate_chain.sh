#!/bin/bash
# What isolate tells of the way from the cause to the crash: the pointers to a freed block, indexes that led astray,
# and the program's lines instead of those of library headers.
. "$(dirname "$0")/isolating.sh"

# The pointer that was still kept, and where the one by which the block was freed came from.
cat >kept.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct entry { int key; struct entry *chain, *newer; };
static struct entry *buckets[2], *oldest, *newest;
static void put(int key) {
	struct entry *e = calloc(1, sizeof *e);
	e->key = key;
	e->chain = buckets[key % 2]; /* kept */
	buckets[key % 2] = e;
	if (newest)
		newest->newer = e;
	else
		oldest = e;
	newest = e;
}
static void evict(void) {
	struct entry *e = oldest; /* by which it was freed */
	oldest = e->newer;
	if (buckets[e->key % 2] == e)
		buckets[e->key % 2] = e->chain;
	free(e); /* freed */
}
static int find(int key) {
	for (struct entry *e = buckets[key % 2]; e; e = e->chain)
		if (e->key == key) /* used */
			return 1;
	return 0;
}
int main(void) {
	for (int i = 0; i < 6; i++)
		put(i);
	evict();
	printf("%d\n", find(0));
	return 0;
}
C
gcc -g -O0 -w -o kept kept.c
tells kept '/* kept */' '/* by which' '/* freed */' '/* used */'
"$UNSNARL" isolate --seed 1 -- ./kept >kept.out 2>&1
grep -q 'the pointer to it was still kept' kept.out && grep -q '^ *3  free kept.c' kept.out &&
	grep -q 'Whether *it was freed too early' <(tr '\n' ' ' <kept.out) || { echo "not ok: $(cat kept.out)"; failed=1; }

# A negative index leads into a neighbour, which this read is never given otherwise: what was read there is wrong.
cat >astray.c <<'C'
#include <stdio.h>
#include <string.h>
struct classes { signed char lower[128], class_of[128]; const char *rules[4]; };
static struct classes classes;
static __attribute__((noinline)) int class_at(const struct classes *c, const char *text, int at) {
	signed char letter = text[at];
	return c->class_of[letter]; /* astray */
}
static __attribute__((noinline)) void prepare(struct classes *c) {
	for (int i = 0; i < 128; i++) {
		c->lower[i] = i;
		c->class_of[i] = i % 4;
	}
	for (int i = 0; i < 4; i++)
		c->rules[i] = "rule";
}
int main(void) {
	const char *text = "a caf\xe9";
	size_t n = 0;
	prepare(&classes);
	for (int i = 0; text[i]; i++)
		n += strlen(classes.rules[class_at(&classes, text, i)]);
	printf("%zu\n", n);
	return 0;
}
C
gcc -g -O1 -w -fno-inline -o astray astray.c
tells astray '/* astray */'

# Containers: what a header's function did, called by a lambda that the compiler put into one of the library's own.
cat >grows.cpp <<'C'
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Item { std::string name; long count = 0; };
static std::vector<Item> items;
static std::mutex lock;
static Item &get(int i) {
	std::lock_guard<std::mutex> hold(lock);
	while ((int)items.size() <= i)
		items.push_back(Item{ std::to_string(items.size()), 0 }); // grows
	return items[i];
}
int main() {
	std::thread a([] { for (int i = 0; i < 9; i++) get(i).count++; }), // counts
		b([] { for (int i = 0; i < 9; i++) get(i); });
	a.join();
	b.join();
	std::printf("%ld\n", items[0].count);
	return 0;
}
C
g++ -g -O1 -w -pthread -o grows grows.cpp
tells grows '// grows' '// counts'

# A virtual function is called before the constructor of the class that has it has begun: it is the pointer to the
# table of functions that comes too late, not what some branch before had gone by.
cat >early.cpp <<'C'
#include <cstdio>
#include <thread>
class Worker {
public:
	Worker() : thread_([this] { run(); }) {}
	virtual ~Worker() {}
	virtual int work() = 0;
	void run() {
		int sum = 0;
		for (int i = 0; i < 3; i++)
			sum += work(); // calls
		std::printf("%d\n", sum);
	}
	void join() { thread_.join(); }
private:
	std::thread thread_;
};
class Adder : public Worker {
public:
	Adder(int by) : by_(by) {} // becomes
	int work() override { return by_; }
private:
	int by_;
};
int main() {
	Adder adder(2);
	adder.join();
	return 0;
}
C
g++ -g -O1 -w -pthread -o early early.cpp
tells early '// calls' '// becomes'

# Whoever is woken has to look again: another one was quicker.
cat >woken.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static char *slots[8];
static int n;
static void *taker(void *arg) {
	pthread_mutex_lock(&lock);
	if (n == 0) /* looks */
		pthread_cond_wait(&filled, &lock); /* waits */
	n--; /* goes on */
	int first = slots[n][0];
	slots[n] = NULL;
	pthread_mutex_unlock(&lock);
	return (void *)(long)first;
}
int main(void) {
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, taker, NULL);
	for (int i = 0; i < 3; i++) {
		char *item = malloc(8);
		item[0] = 'a' + i;
		pthread_mutex_lock(&lock);
		slots[n++] = item;
		pthread_cond_broadcast(&filled);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
C
gcc -g -O1 -w -pthread -o woken woken.c
tells woken '/* looks */' '/* waits */' '/* goes on */'
"$UNSNARL" isolate --seed 1 -- ./woken | tr -s ' \n' ' ' | grep -q 'woken and went on without looking again' ||
	{ echo "not ok: woken: $("$UNSNARL" isolate --seed 1 -- ./woken)"; failed=1; }

# What is wrong of a block that is left: the access that leaves it, or how large it was made. Neither is sure.
cat >small.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct image { uint16_t width, height; unsigned char *pixels; };
static struct image *make(int width, int height) {
	struct image *image = malloc(sizeof *image);
	image->width = width;
	image->height = height;
	image->pixels = malloc((uint16_t)(width * height)); /* made */
	return image;
}
int main(void) {
	struct image *image = make(320, 240);
	for (int i = 0; i < image->width * image->height; i++) image->pixels[i] = i; /* leaves it */
	printf("%d\n", image->pixels[0]);
	return 0;
}
C
gcc -g -O1 -w -o small small.c
tells small '/* made */' '/* leaves it */'
python3 -c 'import json, sys; sys.exit(json.load(open("small.json"))["sure"])' || { echo "not ok: small is sure"; failed=1; }

# Text that was copied over a pointer: the copy, not where the text came from.
cat >text.c <<'C'
#include <stdio.h>
#include <string.h>
struct session { char user[8], host[8]; int (*login)(struct session *); };
static int check(struct session *s) { return s->user[0]; }
static __attribute__((noinline)) void set(struct session *s, const char *address) {
	strcpy(s->host, strchr(address, '@') + 1); /* copies */
}
int main(void) {
	static const char *addresses[] = { "ann@here", "bob@mail.example.org" };
	int in = 0;
	for (int i = 0; i < 2; i++) {
		struct session s = { .login = check };
		set(&s, addresses[i]);
		in += s.login(&s);
	}
	printf("%d\n", in);
	return 0;
}
C
gcc -g -O1 -w -o text text.c
tells text '/* copies */'

# NULL that a function returned comes from no memory: who used it is told, and what the function had looked at.
cat >null.c <<'C'
#include <stdio.h>
#include <string.h>
struct pair { const char *name; int value; };
static struct pair pairs[] = { { "one", 1 }, { "two", 2 } };
static int n = 2;
static __attribute__((noinline)) const struct pair *find(const char *name) {
	for (int i = 0; i < n; i++)
		if (!strcmp(pairs[i].name, name))
			return &pairs[i];
	return NULL;
}
static __attribute__((noinline)) int value(const struct pair *pair) {
	return pair->value; /* fails */
}
int main(void) {
	printf("%d\n", value(find("one")) + value(find("six"))); /* uses */
	return 0;
}
C
gcc -g -O1 -w -o null null.c
tells null '/* fails */' '/* uses */'
"$UNSNARL" isolate --seed 1 -- ./null | tr -s ' \n' ' ' | grep -q 'the address is a constant, 0x8, | given by the call at null.c' ||
	{ echo "not ok: null: $("$UNSNARL" isolate --seed 1 -- ./null)"; failed=1; }

# Functions of libc read beyond what they are asked for, but a string in a block that was freed is not such.
cat >text.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct site { char *name; };
int main(void) {
	char *before = strdup("before");
	struct site s = { strdup("name") };
	char *behind = strdup("behind");
	printf("%zu\n", strlen(before) + strlen(s.name) + strlen(behind));
	free(s.name); /* frees */
	printf("%zu\n", strlen(before) + strlen(behind));
	printf("%s\n", s.name); /* uses */
	return 0;
}
C
gcc -g -O1 -fno-builtin -w -o text text.c
tells text '/* frees */' '/* uses */'

cat >beside.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static size_t sum;
static void look(char *live, char *other, size_t n) {
	char copy[512];
	sum += strlen(live) + strnlen(live, n) + (strchr(live, 'y') != NULL) + (strrchr(live, 'x') != NULL);
	sum += strcmp(live, other) + strncmp(live, other, n) + memcmp(live, other, n) + (memchr(live, 'z', n) != NULL);
	strcpy(copy, live);
	strcat(copy, live);
	sum += strspn(live, "xy") + strcspn(live, "z") + (strstr(live, "xz") != NULL) + (strpbrk(live, "z") != NULL);
	sum += snprintf(copy, sizeof copy, "%s %.3s", live, other) + (stpcpy(copy, live) - copy);
	memmove(copy, live, n);
	char *twin = strdup(live);
	sum += (memrchr(live, 'q', n) != NULL) + (rawmemchr(twin, 0) != NULL) + strcasecmp(live, twin);
	free(twin);
}
int main(void) {
	for (size_t n = 1; n < 200; n++) {
		char *before = malloc(n % 40 + 1), *live = malloc(n), *behind = malloc(n % 24 + 1), *other = malloc(n);
		memset(live, 'x', n - 1);
		live[n - 1] = 0;
		memcpy(other, live, n);
		free(before);
		free(behind);
		look(live, other, n);
		free(other);
		look(live, live, n);
		free(live);
	}
	return sum == 0;
}
C
gcc -g -O1 -fno-builtin -w -D_GNU_SOURCE -o beside beside.c || exit 1
"$UNSNARL" hunt --loom binary --budget 2 -- ./beside >beside.out 2>&1 || { echo "not ok: beside: $(cat beside.out)"; failed=1; }
"$UNSNARL" isolate --time 10 -- ./beside >beside.out 2>&1 || { echo "not ok: beside: $(cat beside.out)"; failed=1; }

[ $failed = 0 ] && echo "ok: chains"
exit $failed
