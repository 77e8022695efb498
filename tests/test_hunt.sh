#!/usr/bin/env bash
# hunt and replay from outside: what they find, print, record and refuse, and with
# which exit status. UNSNARL names the tool (default build/unsnarl), SOURCE the
# source folder.
. "$(dirname "$0")/counting.sh"

# The value of a Python expression over the JSON answer in `out`.
value() {
	python3 -c 'import json, sys
a = json.load(open("out"))
print(eval(sys.argv[1]))' "$1" 2>err
}

expect_value() { # expect_value EXPRESSION VALUE WHAT
	local got
	got=$(value "$1")
	[ "$got" = "$2" ]
	verdict $? "$3: $1 is $got instead of $2"
}

narrow() { # narrow WHAT
	[ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]
	verdict $? "$1 fits in 80 columns"
}

make_programs() {
	cat >slow.c <<'C'
#include <pthread.h>
#include <stdio.h>
static long slow_count;
static void slow_add(void)
{
	long value = slow_count;
	slow_count = value + 1;
}
static void *add(void *unused)
{
	for (int i = 0; i < 3; i++)
		slow_add();
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", slow_count);
	return slow_count != 6;
}
C
	cat >striped.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
static long stripes[8], total;
static pthread_mutex_t locks[8] = { [0 ... 7] = PTHREAD_MUTEX_INITIALIZER };
static void *add(void *unused)
{
	for (int i = 0; i < 20; i++) {
		uintptr_t id = (uintptr_t)pthread_self();
		unsigned at = (unsigned)((id ^ id >> 21) * 0x9e3779b97f4a7c15u >> 61);
		while (at & 1 && stripes[at] >= 0)
			at = (at + 1) & 7;
		for (unsigned k = 0; k < at; k++)
			stripes[k] += 0 * k;
		pthread_mutex_lock(&locks[at]);
		stripes[at]++;
		total++;
		pthread_mutex_unlock(&locks[at]);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", total);
	return total != 80;
}
C
	cat >ticket.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int next, serving;
static int count;
static void *add(void *unused)
{
	for (int i = 0; i < 3; i++) {
		int mine = atomic_load(&next);
		atomic_store(&next, mine + 1);
		while (atomic_load(&serving) != mine)
			sched_yield();
		count++;
		atomic_fetch_add(&serving, 1);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
C
	cat >waits.c <<'C'
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int shared;
static void *look(void *unused)
{
	shared++;
	return unused;
}
int main(void)
{
	pthread_t thread;
	pid_t child = fork();
	if (child == 0) {
		sleep(7); /* the child runs free */
		_exit(0);
	}
	pthread_create(&thread, 0, look, 0);
	syscall(SYS_wait4, child, 0, 0, 0); /* past libc: in reality, while the other thread waits for its turn */
	pthread_join(thread, 0);
	return 0;
}
C
	cat >counter.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int get(void)
{
	pthread_mutex_lock(&lock);
	int value = count;
	pthread_mutex_unlock(&lock);
	return value;
}
static void set(int value)
{
	pthread_mutex_lock(&lock);
	count = value;
	pthread_mutex_unlock(&lock);
}
static void *add(void *unused)
{
	for (int i = 0; i < 3; i++)
		set(get() + 1);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	(void)argv;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", count);
	if (argc == 1)
		assert(count == 6);
	return 0;
}
C
	cp "$SOURCE/tests/failing/locks.c" .
	cat >signal.c <<'C'
#include <pthread.h>
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static void *waiter(void *unused)
{
	pthread_mutex_lock(&lock);
	int seen = ready;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	if (!seen)
		pthread_cond_wait(&news, &lock);
	pthread_mutex_unlock(&lock);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, waiter, NULL);
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_signal(&news);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 0;
}
C
	cat >good.c <<'C'
#include <pthread.h>
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *unused)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count != 10;
}
C
	# Long enough to be observed as a long run, with a value that many threads read.
	cat >readers.c <<'C'
#include <pthread.h>
static long value, sums[3];
static pthread_barrier_t turn;
static void *add(void *sum)
{
	for (int i = 0; i < 1500; i++) {
		if (sum == sums)
			value = i;
		pthread_barrier_wait(&turn);
		*(long *)sum += value;
		pthread_barrier_wait(&turn);
	}
	return sum;
}
int main(void)
{
	pthread_t threads[3];
	pthread_barrier_init(&turn, NULL, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, add, &sums[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return sums[0] != sums[1] || sums[0] != sums[2];
}
C
	echo 'int x; int main(void) { x = 1; return 3; }' >always.c
	local name
	cat >group.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static int count;
static void *add(void *unused)
{
	int value = count;
	count = value + 1;
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (count != 2)
		kill(0, SIGKILL); /* itself, and what it was forked from */
	printf("%d\n", count);
	return 0;
}
C
	cat >hangs.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int flag;
static void *look(void *unused)
{
	if (!flag)
		for (volatile int i = 0;; i = 0)
			;
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, look, NULL);
	flag = 1;
	pthread_join(thread, NULL);
	if (fork() == 0) { /* stays behind */
		setsid();
		sleep(600);
	}
	puts("done");
	return 0;
}
C
	for name in counter slow striped ticket waits locks signal good readers always group hangs; do
		"$UNSNARL" cc -O1 -g -pthread -o "$name" "$name.c" 2>err
		verdict $? "$name is built"
	done
	clang-19 -o plain always.c
	echo 6 >six
}

test_failure() {
	call hunt --seed 1 --budget 500 --store s -- ./counter
	expect_status 1 "hunt that finds"
	expect out '^Failed after [0-9]+ schedules?: killed by SIGABRT' "hunt"
	expect out 'Assertion' "what the program said"
	expect out 'It is run [0-9]+ of campaign 1' "hunt"
	expect out 'with 1 forced switch between' "the story is short"
	expect out '9: int value = count;|15: count = value;' "the story has source lines"
	expect out 'unsnarl replay [0-9]+ --store s +the same' "hunt says what is next"
	narrow "hunt"
	call hunt --json --seed 1 --budget 500 --store t -- ./counter
	expect_value 'a["command"], a["failure"]["outcome"], a["failure"]["signal"]' "('hunt', 'signal', 'SIGABRT')" json
	expect_value 'a["recorded"]["passed"]' 100 "passing runs"
	expect_value 'a["findings"][0]["rank"], a["findings"][0]["schedule"] == a["failure"]["run"]' '(1, True)' json
	call runs --store t --json
	expect_value 'len([r for c in a["campaigns"] for r in c["runs"] if r["label"] == "pass"]) if "campaigns" in a else 100' 100 \
		"passing runs are recorded"
	call hunt --json --passes 5 --budget 500 --store u -- ./counter
	expect_value 'a["recorded"]["passed"] >= 5, a["schedules"] < 500' '(True, True)' "--passes"
}

# A hunt depends on its seed and on nothing else.
test_seed() {
	local first jobs
	for jobs in 1 1 2 3; do
		rm -rf v
		call hunt --json --no-reduce --seed 42 --passes 20 -j $jobs --store v -- ./counter
		# The store also keeps times: what counts is which schedules were run.
		value '(a["failure"]["found_after"], a["schedules"], a["passed"], a["policies"], a["observations"])' >now
		"$UNSNARL" replay last --store v --export - 2>>err | grep '^hash' >>now
		[ -z "${first:-}" ] && first=$(cat now)
		[ "$(cat now)" = "$first" ]
		verdict $? "hunt --seed 42 -j $jobs repeats: $(cat now) instead of $first"
	done
	rm -rf v
	call hunt --json --no-reduce --seed 43 --passes 20 --store v -- ./counter
	"$UNSNARL" replay last --store v --export - | grep '^hash' >now
	[ "$(cat now)" != "$(tail -n1 <<<"$first")" ]
	verdict $? "another seed is another hunt"
}

test_policies() {
	local policy
	for policy in random pct2 pct3 pct5 pos surw random-places pct2-groups pct3-groups pos-places surw-places guided; do
		call hunt --json --policy $policy --seed 3 --budget 400 --passes 0 --no-reduce --store p-$policy -- ./counter
		expect_status 1 "--policy $policy"
		expect_value "set(a['policies']) - {'stay', '$policy'}" 'set()' "--policy $policy"
	done
}

test_ends() {
	call hunt --seed 1 --passes 0 --store s -- ./locks
	expect_status 1 "deadlock"
	expect out 'Failed after .*deadlock' "deadlock"
	expect out 'The cycle: T[01] .* T[01] .* T[01]' "the cycle is told"
	expect out 'waits for mutex [0-9]+ at locks.c:(6|16)' "who waits where"
	expect out 'which T[01] has had since locks.c:(5|15)' "who has it since when"
	narrow "a deadlock"
	call hunt --json --seed 1 --passes 0 --store s -- ./locks
	expect_value 'a["findings"][0]["class"], sorted({x["line"] for x in a["findings"][0]["accesses"]} & {5, 6, 15, 16})' \
		"('deadlock', [5, 6, 15, 16])" "deadlock in JSON"
	call hunt --seed 1 --passes 0 --store s -- ./signal
	expect_status 1 "lost wake-up"
	expect out 'lost wake-up' "lost wake-up"
	expect out 'the signal came before, when nobody waited: T0 at signal.c:22' "the missed signal"
	call hunt --seed 1 --budget 300 --store s -- ./good
	expect_status 0 "a program without a fault"
	expect out '^No schedule failed' "a program without a fault"
	expect out '300 passed, 0 failed' "a program without a fault"
	call hunt --seed 1 --store s -- ./always
	expect_status 1 "a program that always fails"
	expect out 'Failed after 1 schedule: exit status 3' "a program that always fails"
	expect out 'does not depend on the order' "a program that always fails"
	call hunt --seed 1 --passes 0 --expect six --store s -- ./counter quiet
	expect_status 1 "--expect"
	expect out 'output differs from six' "--expect"
	call hunt --seed 1 --passes 0 --check 'grep -qx 6' --store s -- ./counter quiet
	expect_status 1 "--check"
	call hunt --json --budget 2s --store s -- ./good
	expect_value 'a["found"] if "found" in a else a["failure"], a["wall_s"] < 20' '(None, True)' "--budget 2s"
}

test_replay() {
	rm -rf s
	call hunt --seed 1 --passes 0 --store s -- ./counter
	call replay last --store s -n 20
	expect_status 1 "replay of a failure"
	[ "$(tail -n1 out)" = "20 of 20 identical" ]
	verdict $? "the last line of a replay"
	call replay last --shortest --store s -n 5
	[ "$(tail -n1 out)" = "5 of 5 identical" ]
	verdict $? "the shortest schedule can be followed"
	call replay last --store s --until failure
	expect out '^1 of 1 identical' "--until failure"
	call replay last --story --store s
	expect out 'forced switch' "--story"
	call replay last --store s --json -n 3
	expect_value 'a["identical"], a["runs"]' '(3, 3)' "replay --json"
	call hunt --seed 1 --passes 3 --budget 20 --store w -- ./good
	call replay 1 --store w
	expect_status 0 "replay of a run that passed"
	expect out '^1 of 1 identical' "replay of a run that passed"
	call replay last --store s --export a.schedule
	expect_status 0 "--export"
	expect a.schedule '^unsnarl schedule 2$' "--export"
	expect a.schedule '(get|set|add|main) counter.c:[0-9]+' "--export names places"
	call replay a.schedule -n 3
	[ "$(tail -n1 out)" = "3 of 3 identical" ]
	verdict $? "replay of a file"
	mkdir -p moved && cp counter moved
	call replay a.schedule -- moved/counter
	expect out '^1 of 1 identical|differed: .* in what it printed' "replay with the program moved"
	sed -E '0,/^ +0 +[0-9]+ /s//   0 9999 /' a.schedule >b.schedule
	expect_mistake 'hash' replay b.schedule
	sed 's/^build .*/build 0x1/' a.schedule >b.schedule
	expect_mistake 'not the build' replay b.schedule
	# A schedule that does not fit: two threads of the other program.
	sed "s/^build .*/$("$UNSNARL" replay 1 --store w --export - | grep ^build)/; s,^program .*,program ./good," \
		a.schedule >c.schedule
	call replay c.schedule
	expect out 'left the schedule at turn [0-9]+ of [0-9]+: T[0-9]+ stood at' "divergence is told with the place"
	expect out '^0 of 1 identical' "divergence"
}

test_gdb() {
	if ! command -v gdb >/dev/null; then
		return
	fi
	printf 'info threads\nbt\n' >commands
	rm -rf s
	call hunt --seed 1 --passes 0 --store s -- ./counter
	call replay last --store s --gdb-commands commands
	expect out 'SIGABRT' "gdb stops at the signal"
	expect out 'in main .*counter.c:3[0-9]' "gdb knows the program"
	call hunt --seed 1 --passes 0 --store s -- ./locks
	call replay last --store s --gdb-commands commands
	[ "$(grep -Ec '^[* ] +[12] +Thread' out)" -eq 2 ]
	verdict $? "gdb shows both threads of a deadlock"
	printf 'thread apply all bt\n' >commands
	call replay last --store s --gdb-commands commands
	expect out 'locks.c:6' "gdb shows where one waits"
	expect out 'locks.c:16' "gdb shows where the other waits"
}

test_gdb_at() {
	local place
	if ! command -v gdb >/dev/null; then
		return
	fi
	rm -rf s
	printf 'info threads\nframe\nprint slow_count\nnext 20\nprint slow_count\n' >commands
	call hunt --seed 1 --store s -- ./slow
	call locate last --store s --json
	place=$(value '"T%d before .*%s" % (a["findings"][0]["accesses"][0]["thread"], "slow.c:%d" % a["findings"][0]["accesses"][0]["line"])')
	call replay last --store s --at finding --gdb-commands commands
	expect out "Stopping thread $place" "--at finding says where"
	expect out 'hit Temporary breakpoint 1, unsnarl_here' "gdb stops before the access"
	expect out '^#[0-9]+ .*in (add|slow_add) .*slow.c:' "the frame is that of the access"
	[ "$(grep -Ec '^[* ] +[123] +Thread' out)" -ge 2 ]
	verdict $? "all threads are there"
	call replay last --store s --at slow.c:7 --gdb-commands commands
	expect out 'hit Temporary breakpoint 1.* (add|slow_add) .*at slow.c:' "gdb stops at a line"
	expect_mistake 'takes a place' replay last --store s --at nowhere
	"$UNSNARL" replay last --store s --export at.schedule
	expect_mistake 'needs a recorded run' replay at.schedule --at finding
}

# What the program does depends on where its threads lie.
test_addresses() {
	rm -rf s
	call hunt --seed 1 --store s -- ./striped
	expect out 'Failed after' "a program that hashes addresses"
	call replay last --store s -n 20
	expect out '^20 of 20 identical' "addresses: all replays are identical"
	expect out 'without randomisation' "addresses: it is said"
	narrow "a replay without randomisation"
	call replay last --store s -n 2 --json
	expect_value 'a["randomized"]' False "addresses"
	rm -rf s
	call hunt --seed 1 --store s -- ./counter
	call replay last --store s -n 5 --json
	expect_value 'a["randomized"]' True "addresses do not matter"
}

# A livelock ends where patience ended; a schedule of a million turns gets short.
test_livelock() {
	rm -rf s
	call hunt --seed 1 --passes 5 --timeout 100 --store s -- ./ticket
	expect out 'livelock' "a lock that is never given back"
	call replay last --store s -n 3 --timeout 100
	expect out '^3 of 3 identical' "livelocks are replayed"
}

test_real_wait() {
	rm -rf s
	call hunt --seed 1 --budget 1 --timeout 20 --store s -- ./waits
	expect out 'waits in reality' "a call that waits in reality is named"
}

# One thread alone ends the search soon; one that is made and joined at once does not.
test_no_choice() {
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >alone.c
	cat >joined.c <<'C'
#include <pthread.h>
static void *nothing(void *given)
{
	return given;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, nothing, NULL);
	return pthread_join(thread, NULL);
}
C
	"$UNSNARL" cc -g -O1 -pthread -o alone alone.c
	"$UNSNARL" cc -g -O1 -pthread -o joined joined.c
	call hunt --seed 1 --store n -- ./alone
	expect_status 0 "hunt in a program without threads"
	expect out 'Tried 100 schedules' "hunt in a program without threads ends soon"
	expect out 'order of threads has no say' "hunt in a program without threads says so"
	call hunt --seed 1 --budget 150 --store n -- ./joined
	expect out 'Tried 150 schedules' "hunt in a program with two threads goes on"
	! grep -q 'has no say' out
	verdict $? "hunt in a program with two threads has a choice"
}

test_mistakes() {
	expect_mistake 'no program to hunt in' hunt
	expect_mistake 'budget' hunt --budget lots -- ./good
	expect_mistake 'budget' hunt --budget 0 -- ./good
	expect_mistake 'budget' hunt --budget 5x -- ./good
	expect_mistake 'policy' hunt --policy best -- ./good
	expect_mistake 'built without hooks' hunt --loom compiled -- ./plain
	expect_mistake 'cannot find' hunt -- ./missing
	expect_mistake 'nothing-here' hunt --expect nothing-here -- ./good
	expect_mistake 'replay what' replay
	expect_mistake 'no store' replay 1 --store nowhere
	expect_mistake 'cannot read the schedule' replay no.schedule
	expect_mistake 'not a schedule' replay counter.c
	call run --store free -- ./good
	expect_mistake 'was not controlled' replay 1 --store free
	expect_mistake 'has no run 99' replay 99 --store free
	expect_mistake 'no recorded run has failed' replay last --store free
}

# Runs that are long, that take their server along, that hang, that leave something behind.
test_servers() {
	local killed
	call hunt --json --seed 1 --budget 12 --no-reduce --passes 2 -j1 --store l -- ./readers
	expect_value 'a["schedules"], a["failed"]' "(12, 0)" "long runs whose threads read the same"
	call hunt --json --seed 1 --budget 100 --keep-going --no-reduce --passes 0 -j1 --store g -- ./group
	expect_value 'a["schedules"]' 100 "runs that kill their server"
	expect_value 'a["failure"]["outcome"], a["failure"]["signal"]' "('signal', 'SIGKILL')" "runs that kill their server"
	killed=$(value 'a["failed"]')
	[ "$killed" -gt 0 ] && [ "$killed" -lt 100 ]
	verdict $? "some of the runs that may kill their server do ($killed of 100)"
	call hunt --json --seed 1 --budget 100 --keep-going --no-reduce --passes 0 -j2 --store h -- ./group
	expect_value 'a["failed"]' "$killed" "runs that kill their server, two at a time"
	call hunt --json --seed 2 --budget 32 --timeout 0.5 --no-reduce --passes 0 -j1 --store k -- ./hangs
	expect_value 'a["failed"], a["inconclusive"] > 0' '(0, True)' "a run that lasts too long is inconclusive"
	call hunt --json --seed 1 --budget 64 --timeout 0.5 --keep-going --no-reduce --passes 0 -j1 --store k -- ./hangs
	expect_value 'a["schedules"], 0 < a["inconclusive"] < 64' "(64, True)" "runs after one that lasted too long"
	! pgrep -f "$folder/hangs|^./hangs$" >/dev/null
	verdict $? "nothing is left running of runs that leave something behind"
}

# The program fails where pages of its text are private copies, which only a server makes, and keeps the number of
# the next descriptor.
test_text() {
	cat >text.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *take(void *unused)
{
	turns++;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	char line[4096];
	long kib, copied = 0;
	int text = 0;
	pthread_create(&thread, NULL, take, NULL);
	turns++;
	pthread_join(thread, NULL);
	if (open("/dev/null", O_RDONLY) != 3)
		return 2;
	FILE *maps = fopen("/proc/self/smaps", "r");
	while (maps && fgets(line, sizeof line, maps)) {
		if (strstr(line, "p 0")) /* a mapping's first line */
			text = strstr(line, " r-xp ") && strstr(line, "/text\n");
		if (text && sscanf(line, "Anonymous: %ld", &kib) == 1)
			copied += kib;
	}
	if (argc > 1 && strcmp(argv[1], "hang") == 0 && !copied)
		for (;;)
			pthread_mutex_lock(&lock);
	if (argc > 1)
		_Exit(copied > 0);
	return copied > 0;
}
C
	"$UNSNARL" cc -O1 -g -pthread -o text text.c
	call hunt --json --seed 1 --budget 40 --keep-going --no-reduce --passes 0 -j1 --store t -- ./text
	expect_value 'a["schedules"], 0 < a["failed"] < 40, a["failure"]["code"]' '(40, True, 1)' \
		"runs of a server inherit the text that one of them needed"
	call hunt --json --seed 1 --budget 40 --keep-going --no-reduce --passes 0 -j1 --store t -- ./text hang
	expect_value 'a["schedules"], a["failures"]["deadlock"] < 40, len(a["failures"])' '(40, True, 2)' \
		"runs that cannot go on teach as well which text is needed"
	call hunt --json --seed 1 --budget 40 --keep-going --no-reduce --passes 0 -j1 --store t -- ./text leave
	expect_value 'a["schedules"], a["failed"]' '(40, 0)' "nothing is learnt of runs that leave without exit handlers"
}

test_interrupt() {
	local name=interrupted-$$ # what no test beside this one uses
	cp good $name
	timeout 60 "$UNSNARL" hunt --budget 1h --store i -- ./$name >out 2>err &
	local pid=$!
	sleep 2
	pkill -INT -P $pid unsnarl
	wait $pid
	status=$?
	expect_status 130 "Ctrl-C"
	expect err 'interrupted after [0-9]+ schedules' "Ctrl-C"
	for _ in $(seq 100); do # a busy machine takes its time to end what was killed
		pgrep -f "$folder/$name|^./$name$" >/dev/null || break
		sleep 0.1
	done
	! pgrep -f "$folder/$name|^./$name$" >/dev/null
	verdict $? "nothing is left running after Ctrl-C"
	call runs --store i
	expect out 'passed' "what was recorded before Ctrl-C stays"
	"$UNSNARL" hunt --seed 1 --passes 0 --store i -- ./counter 2>/dev/null | head -n1 >out
	expect out 'Failed after' "hunt into a pipe that closes"
}

make_programs
test_failure
test_seed
test_policies
test_ends
test_replay
test_gdb
test_gdb_at
test_addresses
test_livelock
test_real_wait
test_no_choice
test_mistakes
test_servers
test_text
test_interrupt
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
