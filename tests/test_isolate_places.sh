#!/bin/bash
# Where isolate says that a fault began: where a constant was given, how long a copy was, which check let an index
# through, which pointer was older than what it leads to, who kept a lock; and what is not sure of it.
SOURCE=$(realpath "${SOURCE:?}")
. "$(dirname "$0")/isolating.sh"

# tells NAME VERDICT SURE MOST MARK…: the lines that have these marks are in the finding, the first of them as its first
# access, in at most MOST executions; SURE is yes, no or any.
tells() {
	local name=$1
	timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./"$name" >"$name.json" 2>"$name.err"
	python3 - "$(ls "$name".c "$name".cpp 2>/dev/null)" "$@" <<'PY' || failed=1
import json, sys
source, name, verdict, sure, most, marks = *sys.argv[1:5], int(sys.argv[5]), sys.argv[6:]
text = open(source).read().splitlines()
answer = json.load(open(name + ".json"))
lines = [a["line"] for a in answer["findings"][0]["accesses"]] if answer["findings"] else []
wanted = [1 + [i for i, line in enumerate(text) if "/* " + mark + " */" in line][0] for mark in marks]
runs = sum(n for kind, n in answer["executions"].items() if kind != "hunt")
if answer["verdict"] != verdict or sure not in ("any", "yes" if answer["sure"] else "no") or runs > most or \
        not set(wanted) <= set(lines) or lines[0] != wanted[0]:
    sys.exit(f"not ok: {name}: {answer['verdict']}, sure {answer['sure']}, {runs} executions, lines {lines}, not {wanted}")
PY
}
# knows NAME MOST LINE…: a program of the validation set, one of whose lines is in the finding; nothing is sure.
knows() {
	local name=$1
	gcc -g -O1 -pthread -w "$SOURCE/tests/validation/crash/$name.c" -o "$name" || exit 1
	timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./"$name" >"$name.json" 2>"$name.err"
	python3 - "$@" <<'PY' || failed=1
import json, sys
name, most, wanted = sys.argv[1], int(sys.argv[2]), {int(line) for line in sys.argv[3:]}
answer = json.load(open(name + ".json"))
lines = {a["line"] for a in answer["findings"][0]["accesses"]}
runs = sum(n for kind, n in answer["executions"].items() if kind != "hunt")
if not wanted <= lines or answer["sure"] or runs > most:
    sys.exit(f"not ok: {name}: lines {sorted(lines)}, not {sorted(wanted)}, sure {answer['sure']}, {runs} executions")
PY
}

# A size that is wrong: the copy that it made too short is told, the field of it, and where its value was given.
cat >short.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct job { char name[16]; int prio; void (*done)(struct job *); };
struct pool { struct job *jobs; size_t n, each; };
static int finished;
static void finish(struct job *j) { finished += j->prio; }
static void pool_open(struct pool *p, size_t n, size_t each) {
	p->jobs = calloc(n, sizeof *p->jobs);
	p->n = n;
	p->each = each; /* kept */
}
static void pool_set(struct pool *p, size_t i, const struct job *from) {
	memcpy(&p->jobs[i], from, p->each); /* copied */
}
int main(void) {
	struct pool p;
	struct job j = { "first", 3, finish };
	pool_open(&p, 4, sizeof &j); /* given */
	for (size_t i = 0; i < p.n; i++)
		pool_set(&p, i, &j);
	for (size_t i = 0; i < p.n; i++)
		p.jobs[i].done(&p.jobs[i]); /* used */
	printf("%d\n", finished);
	return 0;
}
C
gcc -g -O0 -w -o short short.c
tells short root-cause no 3 given kept copied used
"$UNSNARL" isolate --seed 1 -- ./short | grep -q 'a copy of 8 bytes had ended before it' ||
	{ echo "not ok: the length of the copy is not told"; failed=1; }
# The same of a function that is inlined: its constant argument is known by the debug information only.
knows argvec 3 68 42

# The bytes of one read had several writers: what wrote the first of them had not written the one that counts.
knows tarhdr 3 46
# A loop that runs over the end of its array into a field that is otherwise written by others.
knows glyphrun 3 47
# An index that a check let through: a run in which the check goes the other way shows it.
knows monthtab 3 50
"$UNSNARL" isolate --seed 1 -- ./monthtab | tr -s ' \n' ' ' | grep -q 'passed a check at monthtab.c:50' ||
	{ echo "not ok: no check is told"; failed=1; }
cat >fill.c <<'C'
#include <stdio.h>
struct channel { long level[8]; int (*notify)(struct channel *); int events; };
static int on_change(struct channel *c) { return ++c->events; }
static void fill(struct channel *c, long to) {
	for (int i = 0; i <= 8; i++) /* checked */
		c->level[i] = to; /* written */
}
int main(void) {
	struct channel c = { .notify = on_change };
	fill(&c, 5);
	printf("%d\n", c.notify(&c)); /* used */
	return 0;
}
C
gcc -g -O0 -w -o fill fill.c
tells fill root-cause no 3 written checked used

# A value that a function computes and its caller stores: the line of the computing comes first.
cat >hash.c <<'C'
#include <stdio.h>
static const char *names[16];
static int hash(const char *s) {
	int h = 5;
	while (*s)
		h = h * 33 - *s++;
	return h % 16; /* computed */
}
static char first(const char *word) {
	int at = hash(word); /* stored */
	return names[at][0]; /* used */
}
int main(void) {
	for (int i = 0; i < 16; i++)
		names[i] = "name";
	printf("%c\n", first("bbbbbb"));
	return 0;
}
C
gcc -g -O0 -w -o hash hash.c
tells hash root-cause no 3 computed stored used

# The address of a local that is kept when its function returns is no value that was never given.
cat >local.c <<'C'
#include <stdio.h>
#include <string.h>
struct handler { int (*run)(int); int arg; };
static struct handler *pending;
static int twice(int n) { return 2 * n; }
static void later(struct handler *h) {
	pending = h; /* kept */
}
static void request(int n) {
	struct { struct handler h; char name[40]; } r = { { twice, n }, "request" };
	later(&r.h); /* escapes */
}
static int checksum(const char *s) {
	unsigned char table[96];
	int sum = 0;
	memset(table, 7, sizeof table);
	while (*s)
		sum += table[*s++ & 31];
	return sum;
}
static int run(void) {
	return pending->run(pending->arg); /* used */
}
int main(void) {
	request(4);
	int sum = checksum("the quick brown fox");
	printf("%d %d\n", sum, run());
	return 0;
}
C
gcc -g -O0 -w -o local local.c
tells local root-cause no 3 escapes kept used
"$UNSNARL" isolate --seed 1 -- ./local | grep -q 'a local of a function that had returned' ||
	{ echo "not ok: the local is not told"; failed=1; }
gcc -g -O1 -w -o local local.c
timeout 60 "$UNSNARL" isolate --json --seed 1 -- ./local >local.json
python3 -c 'import json, sys; sys.exit(json.load(open("local.json"))["sure"])' || { echo "not ok: a local whose time is over is sure"; failed=1; }

# The same in another thread: the function has returned before the thread comes to it.
cat >lent.cpp <<'C'
#include <cstdio>
#include <thread>
#include <vector>
struct Job { int *out, n; };
static std::vector<std::thread> pool;
static void work(Job *j) {
	for (int i = 0; i < 20; i++)
		*j->out += j->n; /* used */
}
static int start(int n) {
	int out = 0;
	Job j{ &out, n };
	pool.emplace_back(work, &j); /* lent */
	return out;
}
static int fill(int n) {
	volatile long big[32];
	for (int i = 0; i < 32; i++)
		big[i] = n;
	return (int)big[n & 31];
}
int main() {
	int n = start(3) + fill(7);
	for (auto &t : pool)
		t.join();
	std::printf("%d\n", n);
	return 0;
}
C
g++ -g -O0 -w -pthread -o lent lent.cpp
timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./lent >lent.json
python3 - <<'PY' || failed=1
import json, sys
answer = json.load(open("lent.json"))
lines = {a["line"] for a in answer["findings"][0]["accesses"]} if answer["findings"] else set()
if not {8, 13} <= lines or answer["sure"]:
    sys.exit(f"not ok: lent: {lines}, sure {answer['sure']}, {answer['experiments']}")
PY

# Pointers into what a container or a buffer has given up: the one that was kept, however often it was moved on.
cat >cursor.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct text { char *data, *at; size_t n, room; };
static void reserve(struct text *t, size_t n) {
	while (t->room < t->n + n)
		t->room *= 2;
	t->data = realloc(t->data, t->room); /* moved */
}
static void put(struct text *t, const char *s) {
	reserve(t, strlen(s));
	t->n += strlen(s);
	while (*s)
		*t->at++ = *s++; /* used */
}
int main(void) {
	struct text t = { malloc(16), NULL, 0, 16 };
	t.at = t.data; /* kept */
	put(&t, "0123456789abcdef");
	put(&t, "ghijklmnopqrstuv");
	printf("%.*s\n", (int)t.n, t.data);
	return 0;
}
C
gcc -g -O0 -w -o cursor cursor.c
tells cursor root-cause no 2 kept moved used
cat >tree.cpp <<'C'
#include <cstdio>
#include <vector>
struct Node { long key; std::vector<int> kids; };
struct Tree {
	std::vector<Node> nodes;
	void add(int parent) {
		Node &p = nodes[parent]; /* kept */
		nodes.push_back(Node{ 1, {} }); /* grows */
		p.kids.push_back((int)nodes.size() - 1); /* used */
	}
};
int main() {
	Tree t;
	t.nodes.push_back(Node{ 0, {} });
	for (int i = 0; i < 4; i++)
		t.add(i);
	std::printf("%zu\n", t.nodes.size());
	return 0;
}
C
g++ -g -O0 -w -o tree tree.cpp
tells tree root-cause no 2 kept grows used

# A field that was never set and is freed: it was freed neither before nor twice.
cat >unset.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct msg { char *from, *body; };
static void drop(struct msg *m) {
	free(m->from);
	free(m->body); /* used */
	free(m);
}
int main(void) {
	struct msg *m = malloc(sizeof *m); /* made */
	m->from = malloc(4);
	drop(m);
	return 0;
}
C
gcc -g -O0 -w -o unset unset.c
tells unset undefined yes 1 made used

# A lock that is not given back on an error path, by a thread that goes on, by one that ends, and by the only one: no
# order of threads is to blame.
cat >stock.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n = 3, refused;
static int take(int k) {
	pthread_mutex_lock(&lock); /* taken */
	if (k > n) {
		refused++; /* kept */
		return 0;
	}
	n -= k;
	pthread_mutex_unlock(&lock);
	return k;
}
static void *client(void *times) {
	for (long i = 0; i < (long)times; i++)
		take(2);
	return NULL;
}
int main(void) {
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, client, (void *)TIMES);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d %d\n", n, refused);
	return 0;
}
C
for times in 1 3; do
	gcc -g -O1 -w -pthread -DTIMES=${times}l -o stock stock.c
	tells stock kept-lock any 1 taken kept
done
cat >twice.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void enter(void) {
	pthread_mutex_lock(&lock); /* taken */
}
int main(void) {
	enter();
	enter();
	return 0;
}
C
gcc -g -O0 -w -pthread -o twice twice.c
tells twice kept-lock yes 1 taken

# What a thread had decided by a value that another one changed before the decision was carried out.
knows leaserenew 4 51 86 61
# A count that is dropped under a lock and looked at without one: the failing thread's own look is told, however much
# else led there.
cat >drops.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct buf { pthread_mutex_t lock; int refs; char *data; };
static void *user(void *arg) {
	struct buf *b = arg;
	pthread_mutex_lock(&b->lock);
	b->refs--; /* drops */
	pthread_mutex_unlock(&b->lock);
	if (b->refs == 0) /* looks */
		free(b->data);
	return NULL;
}
int main(void) {
	pthread_t t[2];
	struct buf b = { PTHREAD_MUTEX_INITIALIZER, 2, malloc(16) };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, user, &b);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", b.refs);
	return 0;
}
C
gcc -g -O0 -w -pthread -o drops drops.c
tells drops order any 6 drops looks
# Two workers that both looked whether something is left, before either took it.
clang-19 -g -O1 -pthread -w -I "$SOURCE/corpus" "$SOURCE/corpus/file-scan/file-scan.c" -o file-scan || exit 1
timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./file-scan >file-scan.json
python3 - <<'PY' || failed=1
import json, sys
answer = json.load(open("file-scan.json"))
runs = sum(n for kind, n in answer["executions"].items() if kind != "hunt")
lines = [a["line"] for a in answer["findings"][0]["accesses"]]
if answer["findings"][0]["class"] != "atomicity-violation" or lines != [120, 100, 99] or runs > 4:
    sys.exit(f"not ok: file-scan: {lines}, {runs} executions, {answer['experiments']}")
PY

# Without what led to the failure the program takes another way and gives up there: that is no further hop.
g++ -g -O1 -w "$SOURCE/tests/validation/crash/docparse.cpp" -o docparse || exit 1
timeout 120 "$UNSNARL" isolate --json --seed 1 -- ./docparse >docparse.json
python3 -c 'import json, sys; a = json.load(open("docparse.json")); sys.exit(a["sure"] or len(a["chain"]) > 1)' ||
	{ echo "not ok: docparse is followed beyond its first failure"; failed=1; }

[ $failed = 0 ] && echo "ok: places"
exit $failed
