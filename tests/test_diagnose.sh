#!/usr/bin/env bash
# diagnose from outside, with small budgets: what it says of each kind of fault and of a
# correct program, what it refuses, and with which exit status. UNSNARL names the tool
# (default build/unsnarl), SOURCE the source folder.
SHOWN=60
. "$(dirname "$0")/counting.sh"

expect_value() { # expect_value EXPRESSION VALUE WHAT, over the JSON answer in `out`
	local got
	got=$(python3 -c 'import json, sys
a = json.load(open("out"))
f = a["findings"][0] if a["findings"] else None
print(eval(sys.argv[1]))' "$1" 2>err)
	[ "$got" = "$2" ]
	verdict $? "$3: $1 is $got instead of $2"
}

screen() { # screen WHAT
	[ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]
	verdict $? "$1 fits in 80 columns"
	[ "$(wc -l <out)" -le 45 ]
	verdict $? "$1 fits on a screen"
	[ ! -s err ]
	verdict $? "$1: silent when piped"
}

make_programs() {
	cat >seats.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int seats = 3;
static int look(void)
{
	pthread_mutex_lock(&lock);
	int left = seats;
	pthread_mutex_unlock(&lock);
	return left;
}
static void take(int left)
{
	pthread_mutex_lock(&lock);
	seats = left - 1;
	pthread_mutex_unlock(&lock);
}
static void *clerk(void *unused)
{
	take(look());
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	(void)argv;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, clerk, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d seats left\n", seats);
	return argc == 1 && seats != 1 ? 3 : 0;
}
C
	cat >till.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int till;
static int late;
static void *coin(void *unused)
{
	pthread_mutex_lock(&lock);
	till++;
	pthread_mutex_unlock(&lock);
	return unused;
}
static void *note(void *unused)
{
	pthread_mutex_lock(&lock);
	till += 2;
	pthread_mutex_unlock(&lock);
	return unused;
}
static void *count(void *unused)
{
	pthread_mutex_lock(&lock);
	if (till >= 3)
		late = 1;
	pthread_mutex_unlock(&lock);
	return unused;
}
int main(void)
{
	void *(*const work[])(void *) = { coin, note, count };
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return late;
}
C
	cat >early.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct office { int *window; pthread_t thread; int sold; };
static void *work(void *arg)
{
	struct office *office = arg;
	office->sold += *office->window;
	return NULL;
}
int main(void)
{
	struct office *office = calloc(1, sizeof *office);
	int open = 5;
	pthread_create(&office->thread, NULL, work, office);
	office->window = &open;
	pthread_join(office->thread, NULL);
	printf("%d\n", office->sold);
	return 0;
}
C
	cp "$SOURCE/tests/failing/locks.c" .
	cat >signal.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static void *waiter(void *unused)
{
	if (!ready) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&news, &lock);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, waiter, NULL);
	ready = 1;
	pthread_cond_signal(&news);
	pthread_join(thread, NULL);
	return 0;
}
C
	cat >good.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *add(void *unused)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", count);
	return 0;
}
C
	cat >never.c <<'C'
#include <pthread.h>
#include <stdio.h>
int *nowhere;
static void *write_it(void *unused)
{
	*nowhere = 1;
	return unused;
}
int main(void)
{
	pthread_t thread;
	fprintf(stderr, "about to fall\n");
	pthread_create(&thread, NULL, write_it, NULL);
	pthread_join(thread, NULL);
	return 0;
}
C
	cat >lookup.cc <<'C'
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
struct Guest { char name[40] = ""; long nights = 1; };
static std::mutex lock;
static std::vector<Guest *> guests;
static Guest *find(size_t i)
{
	std::lock_guard<std::mutex> hold(lock);
	return i < guests.size() ? guests[i] : nullptr;
}
static void leave()
{
	std::lock_guard<std::mutex> hold(lock);
	Guest *gone = guests.back();
	guests.pop_back();
	gone->nights = -1;
	delete gone;
}
int main()
{
	long nights = 1;
	guests.push_back(new Guest);
	std::thread clerk([&] { if (Guest *g = find(0)) nights = g->nights; });
	std::thread porter(leave);
	clerk.join();
	porter.join();
	std::printf("%ld\n", nights);
	return nights == 1 ? 0 : 3;
}
C
	"$UNSNARL" c++ -g -O1 -pthread -o lookup lookup.cc || exit 2
	for source in *.c; do
		"$UNSNARL" cc -g -O1 -pthread -o "${source%.c}" "$source" || exit 2
	done
}

line() { # line FILE TEXT: the number of the first line that holds it
	grep -nF -- "$2" "$1" | head -n 1 | cut -d: -f1
}

test_atomicity() {
	call diagnose --time 8 -j 1 --seed 1 -- ./seats
	expect_status 1 "atomicity violation"
	screen "atomicity violation"
	expect out '^\./seats fails: exit status 3' "the failure in its own words"
	expect out '\| 2 seats left' "what it printed"
	expect out '^Cause +atomicity violation on seats' "class and variable"
	expect out "read seats.c:$(line seats.c 'left = seats')" "the read"
	expect out "write seats.c:$(line seats.c 'seats = left')" "the write"
	expect out 'seats = left - 1;' "an excerpt"
	expect out "called at :$(line seats.c 'take(look())') clerk" "a caller"
	expect out '^Passing ' "what passing runs do"
	expect out '^How sure +(Proven|Likely)' "how sure"
	expect out '5 of 5 replays identical' "replays"
	expect out '^Fix +.*section is too short: T[12] gives lock back' "what fits"
	expect out '^Again +unsnarl replay [0-9]+' "how to replay"
	expect out 'unsnarl replay [0-9]+ --gdb' "how to debug"
	number=$(grep -oE '^Again +unsnarl replay [0-9]+' out | grep -oE '[0-9]+$')
	call replay "$number"
	expect_status 1 "the replay it names"
	expect out '^1 of 1 identical' "the replay it names"
	call -- ./seats
	expect_status 1 "unsnarl -- PROGRAM"
	expect out '^Cause +atomicity violation on seats' "unsnarl -- PROGRAM"
	call diagnose --time 8 -j 1 --store elsewhere --expect <(echo '1 seats left') -- ./seats quiet
	expect_status 1 "an oracle"
	expect out 'Cause +atomicity' "what comes through a pipe is expected of each run"
	expect out '^\./seats quiet fails: .*differs' "an oracle"
	expect out "replay [0-9]+ --store elsewhere" "the store it used"
}

test_order() {
	call diagnose --time 8 -j 1 --seed 1 --json -- ./early
	expect_status 1 "order violation"
	expect_value 'f["class"]' order-violation "order violation"
	expect_value '[(x["kind"], x["line"]) for x in f["accesses"]]' \
		"[('read', $(line early.c '*office->window')), ('write', $(line early.c 'window = &open'))]" \
		"order violation"
	expect_value 'a["failure"]["signal"]' SIGSEGV "order violation"
	expect_value '"Wait for it" in f["advice"]' True "order violation"
	call diagnose --time 8 -j 1 --seed 2 -- ./early
	screen "order violation"
	expect out 'crashes at early.c:' "where it crashes"
}

# All sides are under one lock, which says nothing of who comes first: the reader comes too late, or too early.
test_order_inside() {
	call diagnose --budget 400 -j 2 --seed 1 --store inside --json -- ./till
	expect_value '(f["class"], f["verdict"] != "guess")' "('order-violation', True)" "an order under one lock"
	expect_value '[(x["kind"], x["line"]) for x in f["accesses"]]' \
		"[('write', $(line till.c 'till += 2')), ('read', $(line till.c 'till >= 3'))]" "an order under one lock"
	"$UNSNARL" cc -O1 -g -pthread "$SOURCE/tests/claims/early.c" -o given || exit 2
	call diagnose --budget 400 -j 2 --seed 1 --store inside --json -- ./given locked
	expect_value '(f["class"], f["verdict"])' "('order-violation', 'proven')" "too early, under one lock"
	expect_value '[x["kind"] for x in f["accesses"]]' "['read', 'write']" "too early, under one lock"
}

# Each buffer has a lock, and the run ends before the thread comes to its second section.
test_lock_each() {
	local rxbuf=$SOURCE/tests/validation/diagnose/rxbuf.c

	"$UNSNARL" cc -O1 -g -pthread "$rxbuf" -o rxbuf || exit 2
	call diagnose --budget 600 -j 2 --seed 3 --store rxbuf.store --json -- ./rxbuf
	expect_value 'f["verdict"] != "guess", f["accesses"][-1]["line"]' "(True, $(line "$rxbuf" 's->buf = NULL'))" \
		"what the thread was about to do"
}

# A block that is freed while it is in use: the freeing, where the block comes from, the
# program's own lines for what the headers do.
test_freed() {
	call diagnose --time 8 -j 1 --seed 1 --json -- ./lookup
	expect_status 1 "freed block"
	expect_value 'any(x["through"] == "operator delete" for x in f["accesses"])' True "freed block"
	expect_value '{x["file"].split("/")[-1] for x in f["accesses"]}' "{'lookup.cc'}" "freed block"
	expect_value "any('48-byte block allocated at lookup.cc:$(line lookup.cc 'new Guest)') in main' in b for b in f['blocks'])" \
		True "freed block"
	expect_value '"freed at" in f["advice"]' True "freed block"
	call diagnose --time 8 -j 1 --seed 2 -- ./lookup
	screen "freed block"
	expect out "the 48-byte block allocated at lookup.cc" "freed block"
}

test_waits() {
	call diagnose --time 8 -j 1 --seed 1 -- ./locks
	expect_status 1 "deadlock"
	screen "deadlock"
	expect out '^Cause +deadlock' "deadlock"
	expect out "stuck in lock locks.c:$(line locks.c 'lock(&a)')" "deadlock"
	expect out '^Fix +Take the locks in the same order' "deadlock"
	call diagnose --time 8 -j 1 --seed 1 --json -- ./locks
	expect_value 'sorted(x["kind"] for x in f["accesses"])' "['lock', 'lock', 'lock', 'lock']" "deadlock"
	"$UNSNARL" cc -O2 -g "$SOURCE/tests/controlled/bad/deadlock_readers.c" -o readers
	call diagnose --budget 200 -j 1 --seed 1 --json --store readers.s -- ./readers
	expect_value '[x["kind"] for x in f["accesses"]], f["score"] > 0.9' "(['lock', 'lock', 'lock', 'lock'], True)" \
		"a circle through one of several readers"
	call diagnose --time 8 -j 1 --seed 1 --json -- ./signal
	expect_status 1 "lost wake-up"
	expect_value 'f["class"]' lost-wakeup "lost wake-up"
	expect_value '[x["kind"] for x in f["accesses"]][-2:]' "['signal', 'wait']" "lost wake-up"
	call diagnose --time 8 -j 1 --seed 1 -- ./signal
	screen "lost wake-up"
	expect out '^Cause +lost wake-up' "lost wake-up"
}

# A thread that is woken late and does not look again; the same with a loop, which looks again, but then
# uses what may not be there for another reason.
test_wakes() {
	cat >woken.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct item { struct item *next; };
static struct item *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int closed;
static struct item *take(void)
{
	pthread_mutex_lock(&lock);
	WAIT (!head && !closed)
		pthread_cond_wait(&some, &lock);
	struct item *item = head;
	if (item != NULL || !LOOK)
		head = item->next;
	pthread_mutex_unlock(&lock);
	return item;
}
static void *work(void *arg)
{
	for (int i = 0; i < 3; i++)
		free(take());
	return arg;
}
int main(void)
{
	pthread_t a;
	pthread_create(&a, NULL, work, NULL);
	for (int i = 0; i < 3; i++) {
		struct item *item = malloc(sizeof *item);
		pthread_mutex_lock(&lock);
		item->next = head;
		head = item;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&some);
	}
	pthread_mutex_lock(&lock);
	closed = DROP;
	if (DROP)
		head = NULL;
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&some);
	pthread_join(a, NULL);
	return 0;
}
C
	call cc -O1 -g -pthread -DWAIT=if -DLOOK=0 -DDROP=0 woken.c -o woken
	call cc -O1 -g -pthread -DWAIT=while -DLOOK=0 -DDROP=1 woken.c -o looked
	call diagnose --time 8 -j 1 --seed 1 --store woken.db -- ./woken
	expect_status 1 "woken"
	screen "woken"
	expect out '^Cause +atomicity violation on head' "woken"
	expect out "1 +read woken.c:$(line woken.c 'WAIT (')" "woken: the look"
	expect out "2 +wait woken.c:$(line woken.c 'pthread_cond_wait')" "woken: the wait"
	expect out "read woken.c:$(line woken.c 'item = head;')" "woken: the use"
	expect out '^Fix +Look at the condition again' "woken"
	expect out '^How sure +Proven\.' "woken: when it looks again it does not fail"
	call diagnose --time 8 -j 1 --seed 1 --store looked.db --json -- ./looked
	expect_status 1 "looked again"
	expect_value 'any(x["method"] == "wakes" for x in a["findings"])' False "looked again: not that"
}

test_nothing() {
	call diagnose --time 2 -j 1 --seed 1 -- ./good
	expect_status 0 "a correct program"
	screen "a correct program"
	expect out '^No failure in [0-9]+ schedules of ./good' "a correct program"
	expect out '^Control ' "a correct program"
	expect out '^Outside ' "a correct program"
	reject out '^(Cause|Fix)' "a correct program"
	cat >slow.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
	pthread_mutex_lock(&lock);
	value++;
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void) {
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return system("sleep 2");
}
C
	call cc -O1 -g -pthread slow.c -o slow
	call diagnose --time 5 -j 1 --seed 1 -- ./slow
	expect out '^Next +a smaller input' "a correct program that takes two seconds"
	call diagnose --time 2 -j 1 --json -- ./good
	expect_status 0 "a correct program"
	expect_value '(a["findings"], a["failure"], a["failed"])' '([], None, 0)' "a correct program"
	call diagnose --time 8 -j 1 --json -- ./never
	expect_status 1 "a program that always fails"
	expect_value '(a["always"], f["class"], f["accesses"][0]["line"])' \
		"(True, 'memory-error', $(line never.c '*nowhere = 1'))" "a program that always fails"
	call diagnose --time 8 -j 1 -- ./never
	expect out '\| about to fall' "a program that always fails"
	expect out 'order of threads does not matter' "a program that always fails"
}

test_json() {
	call diagnose --time 8 -j 1 --seed 1 --json -- ./seats
	expect_status 1 "JSON"
	expect_value '(a["tool"], a["command"])' "('unsnarl', 'diagnose')" "JSON"
	expect_value 'sorted(set("rank class method score variables accesses summary runs schedule".split()) - set(f))' '[]' "JSON"
	expect_value 'sorted(set("thread order kind file line column function".split()) - set(f["accesses"][0]))' '[]' "JSON"
	expect_value 'f["rank"] == 1 and 0 < f["score"] <= 1 and f["variables"] == ["seats"]' True "JSON"
	local calls="[(a[\"called\"][\"function\"], a[\"called\"][\"line\"]) for a in f[\"accesses\"]]"
	expect_value "$calls == [('clerk', $(line seats.c 'take(look())'))] * 3" True "callers of what was inlined"
	"$UNSNARL" cc -g -O0 -pthread -o seats0 seats.c
	call diagnose --time 8 -j 1 --seed 1 --json -- ./seats0
	expect_value "$calls == [('clerk', $(line seats.c 'take(look())'))] * 3" True "callers of what was called"
	sed -n '/^int seats/,/^static void \*clerk/p' seats.c | sed '$d; s/^static //' >library.c
	sed -i '1i #include <pthread.h>\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;' library.c
	sed '/^static int look/,/^static void \*clerk/{/^static void \*clerk/!d}; s/^int seats.*/extern int seats; int look(void); void take(int);/; /^static pthread_mutex/d' seats.c >visitor.c
	"$UNSNARL" cc -g -O1 -shared -fPIC -o libseats.so library.c || exit 2
	"$UNSNARL" cc -g -O1 -pthread -o visitor visitor.c -L. -lseats -Wl,-rpath,"$PWD" || exit 2
	call diagnose --time 8 -j 1 --seed 1 --json -- ./visitor
	expect_value "$calls == [('clerk', $(line visitor.c 'take(look())'))] * 3" True "callers of a library's functions"
	expect_value 'a["replays"] == {"runs": 5, "identical": 5}' True "JSON"
	expect_value 'a["shortest"]["forced_switches"] <= 2' True "JSON"
	expect_value 'f["schedule"] == a["failure"]["run"]' True "JSON"
}

test_interrupt() {
	timeout --preserve-status -s INT 3 "$UNSNARL" diagnose --time 60 -j 1 -- ./good >out 2>err </dev/null
	status=$?
	expect_status 130 "Ctrl-C"
	expect err 'interrupted; this is what is known' "Ctrl-C"
	expect out '^No failure in [0-9]+ schedules' "Ctrl-C"
}

test_terminal() {
	python3 - "$UNSNARL" >out 2>err <<'P'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "diagnose", "--time", "4", "-j", "1", "--", "./seats"])
data = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    data += piece
os.waitpid(pid, 0)
sys.stdout.write(data.decode(errors="replace"))
P
	expect out 'unsnarl: looking for a schedule' "stages on a terminal"
	expect out 'unsnarl: replaying' "stages on a terminal"
	expect out '^Cause ' "the answer on a terminal"
}

test_mistakes() {
	expect_mistake 'no program to diagnose' diagnose
	expect_mistake 'no program to diagnose' --
	expect_mistake 'no-such-program' -- ./no-such-program
	expect_mistake 'unsnarl cc' diagnose --loom compiled -- /bin/true
	expect_mistake '--time' diagnose --time 0 -- ./good
	expect_mistake 'did you mean' diagnose --jsn -- ./good
	expect_mistake 'missing.txt' diagnose --time 2 --expect missing.txt -- ./good
	call diagnose --help
	expect_status 0 "help"
	expect out '^Usage: unsnarl diagnose|unsnarl diagnose ' "help"
}

# A crash that only the program as it is has: what a block held before it was given out is not
# the same under control, and the crash is followed back all the same.
test_plain_crash() {
	unset MALLOC_PERTURB_ # set by meson; the program would crash in every schedule
	"$UNSNARL" cc -O2 -g "$SOURCE/corpus/form-total/form-total.c" -o form-total
	call diagnose --budget 60 -j 1 --seed 1 --json -- ./form-total rent=500 light=40
	expect_status 1 "a crash in no schedule"
	expect_value 'f["class"]' memory-error "a crash in no schedule"
	expect_value '[x["line"] for x in f["accesses"]]' \
		"[$(line "$SOURCE/corpus/form-total/form-total.c" 'long total =')]" "a crash in no schedule"
	expect_value 'a["isolate"]["agreement"]' alone "a crash in no schedule"
	call diagnose --budget 60 -j 1 --seed 1 -- ./form-total rent=500 light=40
	screen "a crash in no schedule"
	expect out 'but in' "a crash in no schedule"
	expect out 'never given a value' "a crash in no schedule"
}

make_programs
test_atomicity
test_plain_crash
test_order
test_order_inside
test_lock_each
test_freed
test_waits
test_wakes
test_nothing
test_json
test_interrupt
test_terminal
test_mistakes
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
