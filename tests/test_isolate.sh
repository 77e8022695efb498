#!/bin/bash
# unsnarl isolate on programs that crash: the root cause by its line, executions, errors as sentences.
set -u
: "${UNSNARL:?}" "${SOURCE:?}"
UNSNARL=$(realpath "$UNSNARL")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
say() { echo "not ok: $1"; failed=1; }

"$UNSNARL" exec --loom binary -- true 2>no-loom || { cat no-loom; exit 77; }

# check NAME LINE MOST ARGS…: the first access of the finding is at LINE, in at most MOST executions, and it is sure;
# SURE=any: or not; SURE=no: it is not. OPTIONS are for isolate.
check() {
	local name=$1 line=$2 most=$3
	shift 3
	timeout 120 "$UNSNARL" isolate --json --seed 1 ${OPTIONS:-} -- ./"$name" "$@" >"$name.json" 2>"$name.err"
	[ $? = 1 ] || say "$name: the exit status is not 1: $(cat "$name.err")"
	SURE=${SURE:-} python3 - "$name" "$line" "$most" <<'PY' || failed=1
import json, os, sys
name, line, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
answer = json.load(open(name + ".json"))
runs = sum(v for k, v in answer["executions"].items() if k != "hunt")
lines = [a["line"] for a in answer["findings"][0]["accesses"]]
wanted = os.environ["SURE"]
if line not in lines[:2] or (wanted != "any" and answer["sure"] != (wanted != "no")) or runs > most:
    sys.exit(f"not ok: {name}: lines {lines}, verdict {answer['verdict']}, sure {answer['sure']}, {runs} executions")
PY
}
build() { clang-19 -g -O1 -pthread -w -I "$SOURCE/corpus" "$SOURCE/corpus/$1/$1.c" -o "$1" || exit 1; }
line_of() { grep -n -F "$2" "$SOURCE/corpus/$1/$1.c" | head -1 | cut -d: -f1; }

# Chains: each suppressed run crashes anew, until the overflow itself is left out. A loop that goes too far is not
# sure: the write is, but other lines of the loop may be to blame.
build ledger-title
SURE=any check ledger-title "$(line_of ledger-title 'l->title[n] = title[n];')" 3 "the accounts of the whole year"
build menu-path
SURE=any check menu-path "$(line_of menu-path 'm->path[level] = ')" 4 123456
# wants NAME CLASS MOST LINE…: a finding of the class that has all these lines, in at most MOST executions.
wants() {
	local name=$1
	timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./"$name" >"$name.json" 2>"$name.err"
	python3 - "$@" <<'PY' || failed=1
import json, sys
name, kind, most, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3]), {int(l) for l in sys.argv[4:]}
answer = json.load(open(name + ".json"))
runs = sum(v for k, v in answer["executions"].items() if k != "hunt")
found = answer["findings"][0] if answer["findings"] else {"class": "nothing", "accesses": []}
lines = {a["line"] for a in found["accesses"]}
if found["class"] != kind or not wanted <= lines or runs > most:
    sys.exit(f"not ok: {name}: {found['class']}, lines {sorted(lines)}, {runs} executions, {answer['experiments']}")
PY
}
# Two variables that belong together, one of them written too late: both reads and both writes are named.
build text-frame
wants text-frame multi-variable-atomicity-violation 4 56 86 87 58
# What came late is in another run than the traced one.
build idle-workers
wants idle-workers multi-variable-atomicity-violation 4 70 61 78 106
# Under locks: the access is moved with its lock, one instance of it.
build net-endpoint
wants net-endpoint multi-variable-atomicity-violation 4 45 61 62 69
# Locks in a circle.
build mail-folders
wants mail-folders deadlock 4 63 64 74 75
# A lock that is kept while its thread waits for a place that only the other one can make.
cat >kept.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t places, filled;
static int items;
static void *take(void *unused) {
	for (int i = 0; i < 3; i++) {
		sem_wait(&filled);
		pthread_mutex_lock(&lock);
		items--;
		pthread_mutex_unlock(&lock);
		sem_post(&places);
	}
	return unused;
}
int main(void) {
	pthread_t thread;
	sem_init(&places, 0, 1);
	sem_init(&filled, 0, 0);
	pthread_create(&thread, NULL, take, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		sem_wait(&places);
		items++;
		pthread_mutex_unlock(&lock);
		sem_post(&filled);
	}
	pthread_join(thread, NULL);
	return 0;
}
C
clang-19 -g -O1 -pthread -w kept.c -o kept || exit 1
wants kept deadlock 4 9 22 23
# What headers of the C++ library do, inlined or not, stands at the program's own lines.
cat >guards.cpp <<'C'
#include <mutex>
#include <thread>
static std::mutex left, right;
static int sum;
namespace office { static void there(int n) {
	std::lock_guard<std::mutex> one(left);
	std::lock_guard<std::mutex> two(right);
	sum += n;
}}
static void back(int n) {
	std::lock_guard<std::mutex> one(right);
	std::lock_guard<std::mutex> two(left);
	sum -= n;
}
int main(int argc, char **argv) {
	std::thread a(office::there, argc), b(back, argc);
	a.join();
	b.join();
	return sum;
}
C
for level in 0 1 2; do
	g++ -g -O$level -pthread -w guards.cpp -o guards || exit 1
	wants guards deadlock 4 6 7 11 12
	python3 -c 'import json; exit(not any(a["function"] == "office::there" for a in json.load(open("guards.json"))["findings"][0]["accesses"]))' ||
		say "guards: a function without its namespace"
done
# The pointer of a use after free was read before the thread lost its turn.
clang-19 -g -O1 -pthread -w "$SOURCE/tests/validation/crash/growvec.c" -o growvec || exit 1
wants growvec atomicity-violation 4 27 45
# Never given a value, in a thread.
build table-load
check table-load "$(line_of table-load 'strlen(j->database)')" 4 shop.orders items

cat >once.c <<'C'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { char *a; long n; };
static struct pair pair;
static int count = 3;
static __attribute__((noinline)) void clear(struct pair *p) {
	free(p->a);
	p->n++;
}
static __attribute__((noinline)) void drop(int n) {
	count -= n;
}
int main(int argc, char **argv) {
	pair.a = malloc(10);
	strcpy(pair.a, "text");
	if (argc > 1 && *argv[1] == 'f') {
		clear(&pair);
		clear(&pair);
	}
	if (argc > 1 && *argv[1] == 'a') {
		drop(1);
		drop(5);
		assert(count >= 0);
	}
	if (argc > 1 && *argv[1] == 'd')
		return (int)(100 / (count - 3));
	puts(pair.a);
	return 0;
}
C
clang-19 -g -O1 -w once.c -o once || exit 1
SURE=no check once 9 3 free
SURE=any check once 13 3 assert

# Only a write that breaks a rule of memory is sure to be the cause: a copy that leaves its array. A write that the
# program means, to a field of its own, shows only that the failure hangs on the value.
cat >label.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct label { char name[8]; char *text; };
static __attribute__((noinline)) void rename_label(struct label *l, const char *to) {
	strcpy(l->name, to);
}
static __attribute__((noinline)) void close_label(struct label *l) {
	l->text = NULL;
}
int main(int argc, char **argv) {
	struct label *l = calloc(1, sizeof *l);
	l->text = strdup("text");
	if (argc > 1)
		rename_label(l, argv[1]);
	else
		close_label(l);
	printf("%s %c\n", l->name, l->text[0]);
	return 0;
}
C
clang-19 -g -O0 -w label.c -o label || exit 1
check label 6 3 "longer name"
SURE=no check label 9 3

# Hangs: a list in a circle, and a signal before the wait. What decides is how much is read, not how long it takes.
cat >circle.c <<'C'
#include <stdio.h>
struct node { int key; struct node *next; };
static struct node pool[6];
static __attribute__((noinline)) void splice(struct node *a, struct node *b) {
	a->next = b;
}
static __attribute__((noinline)) int find(struct node *p, int key) {
	for (; p; p = p->next)
		if (p->key == key)
			return 1;
	return 0;
}
int main(int argc, char **argv) {
	for (int i = 1; i < 6; i++)
		pool[i].next = &pool[i - 1];
	splice(&pool[1], &pool[4]);
	printf("%d\n", find(&pool[5], argc + 40));
	return 0;
}
C
clang-19 -g -O1 -w circle.c -o circle || exit 1
# Where the turning is cut off, and so whether it is sure, depends on the clock; what is told does not.
SURE=any OPTIONS="--timeout 1" check circle 5 3
SURE=any OPTIONS="--timeout 8" check circle 5 3
cat >early.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int ready;
static void *producer(void *arg) {
	ready = 1;
	pthread_cond_signal(&more);
	return arg;
}
static void *consumer(void *arg) {
	pthread_mutex_lock(&lock);
	if (!ready)
		pthread_cond_wait(&more, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, consumer, NULL);
	pthread_create(&b, NULL, producer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
clang-19 -g -O1 -w -pthread early.c -o early || exit 1
SURE=any check early 12 4

# One that goes on writing while it turns: a hang by the time-out, since on its own the program does not end either.
# Not what changes in each round is to blame but what stays.
cat >turns.c <<'C'
#include <stdio.h>
static volatile int seen;
static int limit = 3;
static __attribute__((noinline)) void set(int n) {
	limit = n;
}
int main(int argc, char **argv) {
	int n = 0;
	set(-argc);
	while (n != limit)
		seen = n = (n + 1) & 1023;
	printf("%d\n", n);
	return 0;
}
C
clang-19 -g -O0 -w turns.c -o turns || exit 1
OPTIONS="--timeout 4" SURE=any check turns 5 3

# A race that harms nobody, on the way to the crash, is not blamed: neither where another race does it ...
cat >hits.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int *page, *slots;
static volatile int hits;
static void *reader(void *arg) {
	for (int i = 0; i < 3; i++) {
		hits++;
		if (page)
			page[0] += hits ? 1 : 2;
	}
	return arg;
}
static void *closer(void *arg) {
	hits++;
	if (arg)
		page = NULL;
	hits++;
	return arg;
}
static __attribute__((noinline)) void clear(void) {
	slots = NULL;
}
int main(int argc, char **argv) {
	pthread_t a, b;
	page = calloc(4, sizeof *page);
	slots = page;
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, closer, argc > 1 ? NULL : page);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (argc > 1)
		clear();
	printf("%d\n", slots[hits & 1]);
	return 0;
}
C
clang-19 -g -O0 -w -pthread hits.c -o hits || exit 1
wants hits atomicity-violation 4 9 10 17
python3 -c 'import json; exit(any(a["line"] in (8, 15, 18) for a in json.load(open("hits.json"))["findings"][0]["accesses"]))' ||
	say "the counter is blamed"
# ... nor where no order of threads does.
SURE=any check hits 22 8 always

# A wrong value that the user points at: overwritten by a name that is too long.
cat >stock.c <<'C'
#include <stdio.h>
struct shop { char name[8]; int stock; };
static struct shop shop = { "corner", 100 };
static __attribute__((noinline)) void rename_shop(const char *to) {
	for (int i = 0; to[i]; i++)
		shop.name[i] = to[i];
}
static __attribute__((noinline)) void sell(int n) {
	shop.stock -= n;
}
int main(int argc, char **argv) {
	rename_shop(argv[1]);
	sell(4);
	printf("%d\n", shop.stock);
	return 0;
}
C
clang-19 -g -O1 -fno-vectorize -w stock.c -o stock || exit 1
echo 96 >right
OPTIONS="--expect right --watch stock.c:14:shop.stock" SURE=any check stock 6 3 "downtown shop"
"$UNSNARL" isolate --watch stock.c -- ./stock x 2>none; [ $? = 2 ] && grep -q 'FILE:LINE' none || say "no line: $(cat none)"
"$UNSNARL" isolate --watch stock.c:2 -- ./stock x 2>none; [ $? = 2 ] && grep -q 'no code for line 2' none || say "no code: $(cat none)"
"$UNSNARL" isolate --expect right -- ./stock "downtown shop" >none 2>&1; grep -q -e '--watch' none || say "no watch: $(cat none)"

# Expressions: fields, pointers, indices and casts over what can be named at the line, in memory and in registers. The
# write that the wrong value came from is found by it; a condition that never holds was not seen; what cannot be
# evaluated is refused by name.
cat >cart.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct item { int price; short count; struct item *next; };
struct cart { struct item *first; long total; unsigned char flags[4]; unsigned bits : 3; double tax; };
struct cart cart;
int rates[3] = { 10, 20, 30 };
static __attribute__((noinline)) void add(struct cart *c, int price, int count) {
	struct item *i = malloc(sizeof *i);
	i->price = price;
	i->count = (short)count;
	i->next = c->first;
	c->first = i;
	c->total += price * count;
}
static __attribute__((noinline)) void discount(struct cart *c, int percent) {
	rates[1] = percent;
	c->total -= c->total * percent;
}
int main(int argc, char **argv) {
	add(&cart, 5, 2);
	add(&cart, 7, argc);
	if (argc > 1)
		discount(&cart, 50);
	printf("%ld %d\n", cart.total, rates[argc - 1]);
	return 0;
}
C
echo "24 20" >right
# watches EXPRESSION LINE…: the first access is at one of these lines.
watches() {
	local expression=$1 program status
	shift
	for program in cart0 cart1; do
		timeout 60 "$UNSNARL" isolate --json --seed 1 --expect right --watch "cart.c:24:$expression" -- ./$program x >watch.json 2>watch.err
		status=$?
		[ $status = 1 ] || { say "$program, $expression: status $status, $(cat watch.err)"; continue; }
		python3 - "$@" <<'PY' || say "$program: $expression"
import json, sys
lines = [a["line"] for a in json.load(open("watch.json"))["findings"][0]["accesses"]]
sys.exit(lines[0] not in [int(l) for l in sys.argv[1:]])
PY
	done
}
# refuses EXPRESSION WORDS: not evaluated, and said why.
refuses() {
	timeout 60 "$UNSNARL" isolate --expect right --watch "cart.c:24:$1" -- ./cart0 x >none 2>watch.err
	[ $? = 2 ] && grep -q -F -e "$2" watch.err || say "$1 is not refused: $(cat watch.err)"
}
clang-19 -g -O0 -w cart.c -o cart0 && clang-19 -g -O1 -w cart.c -o cart1 || exit 1
watches 'cart.total' 17
watches 'cart.total * 2 < 0' 17
watches '(int)cart.total + 1000 < (rates[0] | 1)' 17
watches 'cart.total != 24 && cart.first->price == 7' 17
watches 'rates[1]' 23 # where 50 is given
watches '*(rates + 1) - 20' 23
watches 'cart.first->next->count' 10 20
watches '!(cart.total > 0)' 17
refuses 'cart.total > 24' 'nothing'
refuses 'cart.total / (rates[0] - 10)' 'nothing'
refuses 'cart.nothing' 'cart has no member nothing'
refuses 'total' 'no variable total'
refuses 'cart.total = 3' 'assignment'
refuses 'add(3)' 'calls a function'
refuses 'cart' 'a whole structure'
refuses 'cart.tax' 'floating-point'
refuses 'cart.bits' 'a bit field'
refuses 'cart.total < 1.5' 'floating-point'
refuses 'rates++' 'is not understood'
refuses 'cart.total +' 'missing'
refuses '(cart.total' 'parenthesis'
refuses "$(printf '(%.0s' $(seq 200))" 'nested too deep'

# What nobody had written when it was read, and somebody has since, is told without a value.
cat >kept.c <<'C'
#include <stdio.h>
static int total, copy;
static __attribute__((noinline)) void keep(void) {
	copy = total;
	total = 9;
}
int main(void) {
	keep();
	printf("%d\n", copy);
	return 0;
}
C
clang-19 -g -O0 -w -o kept kept.c
timeout 60 "$UNSNARL" isolate --json --seed 1 --expect right --watch kept.c:9:copy -- ./kept >kept.json 2>kept.err
python3 - <<'PY' || { say "values that are gone: $(cat kept.err)"; }
import json
hops = json.load(open("kept.json"))["chain"][0]["used"]
assert [hop["value"] for hop in hops[:2]] == ["0x0", None], hops
PY

# A stack that is used up is told as such, and nothing is sure of it; code that the program writes itself is followed.
cat >deep.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
struct box { long **slot; };
static unsigned char load[] = { 0x48, 0x8b, 0x07, 0xc3 }, longer[] = { 0x90, 0x48, 0x8b, 0x07, 0xc3 };
static __attribute__((noinline)) void forget(struct box *b) {
	b->slot = NULL;
}
static __attribute__((noinline)) long count(long n) {
	volatile char room[500];
	room[0] = (char)n;
	return n == -1 ? 0 : count(n + 1) + room[0];
}
int main(int argc, char **argv) {
	unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long v = 5, *p = &v, sum = 0;
	struct box box = { &p };
	if (argc > 2)
		return (int)count(argc);
	for (int i = 0; i < 100; i++) {
		memcpy(code, i % 2 ? longer : load, i % 2 ? sizeof longer : sizeof load);
		if (argc > 1 && i == 90)
			forget(&box);
		void *r = ((void *(*)(void *))code)(&box);
		sum += *(long *)((void *(*)(void *))code)(r);
	}
	printf("%ld\n", sum);
	return 0;
}
C
clang-19 -g -O1 -w deep.c -o deep || exit 1
SURE=no check deep 7 3 written
timeout 120 "$UNSNARL" isolate --json --seed 1 -- ./deep a b >deep.json 2>deep.err
python3 - <<'PY' || say "a used-up stack: $(cat deep.err)"
import json, sys
answer = json.load(open("deep.json"))
told = answer["chain"][0]["kind"] == "stack-overflow" and "stack was used up" in answer["findings"][0]["summary"]
sys.exit(not told or answer["sure"] or answer["findings"][0]["accesses"][0]["function"] != "count")
PY

# Read beyond an array of which nobody has written that part: the index is what is wrong, and nothing is sure of it.
cat >index.c <<'C'
#include <stdio.h>
static long weights[8] = { 1, 2, 3 };
static const char *names[64] = { "a", "b" };
static int chosen;
static __attribute__((noinline)) void choose(int n) {
	chosen = n * 7;
}
int main(int argc, char **argv) {
	choose(argc - 1);
	printf("%c %ld\n", names[chosen][0], weights[1]);
	return 0;
}
C
clang-19 -g -O1 -w index.c -o index || exit 1
SURE=any check index 6 3 a b c
python3 -c 'import json, sys; sys.exit(json.load(open("index.json"))["sure"])' || say "a wrong index is called sure"

# A value that is given too late, after the object was handed over. That it was handed over too early would mend it as
# well, so that an order of the queue itself must not be called sure.
gcc -g -O1 -pthread -w "$SOURCE/tests/validation/crash/jobhooks.c" -o jobhooks || exit 1
wants jobhooks order-violation 5 119 97

# One thread aborts while another is held: the process ends, and the whole keeps to its time.
g++ -g -O1 -pthread -w "$SOURCE/tests/validation/crash/cowtext.cpp" -o cowtext || exit 1
began=$(date +%s)
timeout 240 "$UNSNARL" isolate --json --seed 1 --time 30 -- ./cowtext >cowtext.json 2>cowtext.err || [ $? = 1 ] || say "cowtext: $(cat cowtext.err)"
python3 -c 'import json, sys; a = json.load(open("cowtext.json")); sys.exit(a["verdict"] == "order" and a["sure"] and a["findings"][0]["accesses"][0]["line"] == 79)' || say "cowtext: a guess is called sure"
[ $(($(date +%s) - began)) -lt 75 ] || say "cowtext: --time 30 took $(($(date +%s) - began)) seconds"

# A program that does not crash, and mistakes of the user.
"$UNSNARL" isolate --time 2 -- ./once >none 2>&1 && grep -q 'did not fail' none || say "no crash: $(cat none)"
"$UNSNARL" isolate 2>none; [ $? = 2 ] && grep -q 'no program to isolate' none || say "no program: $(cat none)"
"$UNSNARL" isolate -- ./nowhere 2>none; [ $? = 2 ] || say "no such file: $(cat none)"
printf '#!/bin/sh\nexit 1\n' >script && chmod +x script
"$UNSNARL" isolate --time 5 -- ./script >none 2>&1; [ $? -le 2 ] && [ -s none ] || say "a script: $(cat none)"
"$UNSNARL" isolate last 2>none; [ $? = 2 ] || say "nothing recorded: $(cat none)"
[ "$failed" = 0 ] && echo "ok"
exit "$failed"
