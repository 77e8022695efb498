#!/usr/bin/env bash
# unsnarl locate from outside: a lost update is found and drawn, an early read of a
# program that dies is found, equal runs are not told apart, mistakes are explained.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
SHOWN=30
. "$(dirname "$0")/counting.sh"

# The order of the two threads is given by the argument, so that nothing is left to chance.
cat >update.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
/* Gates without memory of the program: 100 is read, 101 written, and so on. */
static void make_gate(int read_end)
{
	int ends[2];
	if (pipe(ends) || dup2(ends[0], read_end) < 0 || dup2(ends[1], read_end + 1) < 0)
		abort();
}
static void await(int read_end)
{
	char byte;
	if (read(read_end, &byte, 1) != 1)
		abort();
}
static void let_go(int read_end)
{
	char byte = 0;
	if (write(read_end + 1, &byte, 1) != 1)
		abort();
}
static int counter;
static int split;
static void *work(void *arg)
{
	if (arg)
		await(100);
	int old = counter;
	if (split && !arg) {
		let_go(100);
		await(102);
	}
	counter = old + 1;
	if (split && arg)
		let_go(102);
	if (!split && !arg)
		let_go(100);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	(void)argv;
	split = access("split", F_OK) == 0;
	make_gate(100);
	make_gate(102);
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, &a);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return counter != 2;
}
EOF
cat >early.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
/* Gates without memory of the program: 100 is read, 101 written, and so on. */
static void make_gate(int read_end)
{
	int ends[2];
	if (pipe(ends) || dup2(ends[0], read_end) < 0 || dup2(ends[1], read_end + 1) < 0)
		abort();
}
static void await(int read_end)
{
	char byte;
	if (read(read_end, &byte, 1) != 1)
		abort();
}
static void let_go(int read_end)
{
	char byte = 0;
	if (write(read_end + 1, &byte, 1) != 1)
		abort();
}
int *shared;
static int value = 3;
static void *work(void *arg)
{
	if (access("dawn", F_OK))
		await(100);
	int *p = shared;
	return (void *)(long)*p;
}
int main(void)
{
	pthread_t a;
	make_gate(100);
	make_gate(102);
	pthread_create(&a, NULL, work, NULL);
	if (!access("dawn", F_OK))
		await(102); /* it dies before */
	shared = &value;
	let_go(100);
	pthread_join(a, NULL);
	return 0;
}
EOF

call cc -O1 -g -pthread update.c -o update
expect_status 0 "build update"
call locate
expect_status 2 "no store"
call run -n 3 -- ./update
call locate
expect_status 2 "no failed run"
expect err 'no recorded run has failed yet' "no failed run"
call run -n 12 -j 2 -- ./update
touch split
call run -n 1 -- ./update
rm split
call locate
expect_status 1 "lost update"
expect out 'atomicity violation on counter' "class and variable"
expect out '1  read update.c:29' "first access"
expect out '2 .* write update.c:34' "second access, in the other column"
expect out 'compared with 15 runs that passed' "runs compared"
verdict "$(awk 'length > 80 { n++ } END { print n + 0 }' out)" "no line is longer than 80"
call locate --json
expect_status 1 "JSON"
python3 - <<'EOF' >py 2>&1
import json
answer = json.load(open("out"))
finding = answer["findings"][0]
assert finding["rank"] == 1 and finding["class"] == "atomicity-violation", finding
assert finding["scenario"] == 5 and finding["variables"] == ["counter"], finding
assert [(a["kind"], a["line"]) for a in finding["accesses"]] == [("read", 29), ("write", 34), ("write", 34)]
assert finding["accesses"][0]["thread"] == finding["accesses"][2]["thread"] != finding["accesses"][1]["thread"]
assert finding["runs"] == {"passed": 15, "failed": 1} and finding["method"] == "locon I"
EOF
verdict $? "JSON says the same: $(tail -n 1 py)"
call locate --falcon
expect_status 1 "Falcon"
expect out 'with the highest score' "Falcon"
call locate --sensitivity
expect_status 0 "sensitivity"
expect out '^ +10 +I ' "sensitivity with 10 runs"
call locate 1
expect_status 2 "a run that passed"
expect err 'run 1 passed' "a run that passed"
call locate 99
expect_status 2 "no such run"
call locate --level loop --procedure I
expect_status 2 "level of procedure I"
call locate nonsense
expect_status 2 "no run number"

# The same runs with another label: no difference, no claim.
call run -n 5 --label fail --store equal -- ./update
call locate --store equal
expect_status 2 "no passing runs"
expect err 'nothing to compare' "no passing runs"
call run -n 15 --store equal -- ./update
call locate --store equal
expect_status 0 "equal runs"
expect out 'Nothing found' "equal runs"

call cc -O1 -g -pthread early.c -o early
call run -n 12 -j 2 --store early.db -- ./early
touch dawn
call run -n 1 --store early.db -- ./early
call locate --store early.db
expect_status 1 "early read"
expect out 'procedure II' "early read: procedure"
expect out 'order violation on shared' "early read: class"
expect out '1 .*read early.c:29' "early read"
expect out '2 .*never written: early.c:40' "a write that never came"

# The test and the taking belong together, but only at the end of the list does it matter: passing runs
# have the same pairs. A hunt moves the switch that the failure needs.
cat >take.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next, done[2];
static int *list[9];
static int item = 1;
static void *work(void *arg)
{
	int sum = 0;
	while (next < 8) {
		pthread_mutex_lock(&lock);
		int mine = next;
		next = mine + 1;
		pthread_mutex_unlock(&lock);
		sum += *list[mine];
	}
	*(int *)arg = sum;
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	for (int i = 0; i < 8; i++)
		list[i] = &item;
	pthread_create(&a, NULL, work, &done[0]);
	pthread_create(&b, NULL, work, &done[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return done[0] + done[1] != 8;
}
EOF
call cc -O1 -g -pthread take.c -o take
call hunt --seed 3 --budget 3000 --store take.db -- ./take
expect_status 1 "a hunt finds it"
call locate --store take.db
expect_status 1 "only a value decides"
expect out 'found by the switches that run' "only a value decides: by its switches"
expect out 'atomicity violation on next' "only a value decides: class"
expect out '1 +read take.c:10' "only a value decides: the test"
expect out '2 .* write take.c:13' "only a value decides: another takes the last"
expect out '3 +read take.c:12' "only a value decides: the taking"
expect out 'the switch of threads was moved' "only a value decides: evidence"
verdict "$(awk 'length > 80 { n++ } END { print n + 0 }' out)" "no line is longer than 80"
call locate last --store take.db --json
python3 - <<'EOF' >py 2>&1
import json
answer = json.load(open("out"))
finding = answer["findings"][0]
assert answer["procedure"] == "switches" and answer["level"] is None, answer["procedure"]
assert finding["method"] == "switches" and 0.4 < finding["score"] <= 1, finding["score"]
assert [(a["kind"], a["line"]) for a in finding["accesses"]] == [("read", 10), ("write", 13), ("read", 12)], finding
EOF
verdict $? "JSON of a finding by switches: $(tail -n 1 py)"
call locate --procedure I --store take.db
expect_status 0 "comparing alone"
expect out 'Nothing found' "comparing alone"
# Without a schedule there is nothing to move.
call locate --procedure switches
expect_status 0 "no schedule"
expect out 'Nothing found' "no schedule"
expect out 'unsnarl hunt' "no schedule: what to do"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
