#!/bin/bash
# A cause is proven, a second fault is told beside it, findings are forced and forbidden,
# and such schedules replay exactly.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
failed=0

expect() { # FILE PATTERN WHAT
	if ! grep -Eq -- "$2" "$1"; then
		echo "not ok: $3: no line like '$2'"
		sed 's/^/    /' "$1"
		failed=$((failed + 1))
	fi
}

"$UNSNARL" cc -O1 -g -pthread "$SOURCE/tests/claims/twice.c" -o twice || exit 2
"$UNSNARL" diagnose --budget 1000 --seed 2 -j 1 --store kept -- ./twice >out 2>err
expect out '^Cause +(atomicity violation on count|order violation on buffer)' "the cause"
expect out '^How sure +Proven\. Forced it fails in ([0-9]+) of \1 runs\.' "proven"
expect out 'another fault, which stays when the first is mended' "the second fault"
expect out "read twice.c:$(grep -n 'use \*/' "$SOURCE/tests/claims/twice.c" | cut -d: -f1)" "the early read, of the first or the second fault"
expect out "(read|write) twice.c:$(grep -n 'change \*/' "$SOURCE/tests/claims/twice.c" | cut -d: -f1)" "the update, of the other one"
# Which fault comes first depends on the seed; forbidden, the failures of the other one are left.
left=SIGABRT
grep -Eq '^Cause +order' out && left='exit 1'
"$UNSNARL" hunt --forbid 1 --budget 200 --keep-going --no-reduce --seed 3 -j 1 --store kept -- ./twice >out 2>err
tr '\n' ' ' <out >line
expect line "failed \([0-9]+ +$left\)" "forbidden, the other fault is left alone"
expect out '^Forbidden: threads were held for it in [1-9][0-9]* of 200' "forbidden: held"
"$UNSNARL" replay last --store kept -n 3 >out 2>err
expect out '^3 of 3 identical' "replay of a forbidden schedule"
"$UNSNARL" hunt --force 1 --budget 100 --keep-going --no-reduce --seed 3 -j 1 --store kept -- ./twice >out 2>err
expect out '^Forced: it came about in [1-9][0-9]* of 100' "forced"
"$UNSNARL" replay last --store kept -n 3 >out 2>err
expect out '^3 of 3 identical' "replay of a forced schedule"
"$UNSNARL" hunt --force 99 --store kept -- ./twice >out 2>err
expect err 'no finding 99' "a finding that is not there"
"$UNSNARL" hunt --force 1 --forbid 1 --store kept -- ./twice >out 2>err
expect err 'exclude each other' "both at once"
echo 'unsnarl claim 2' >short
"$UNSNARL" hunt --force short --store kept -- ./twice >out 2>err
expect err 'short, line 2: it ends without' "a claim that ends too early"
# What waits: locks in a circle, a signal that comes too early, a lock that is kept while waiting.
line() { grep -n "$2" "$SOURCE/tests/claims/$1" | cut -d: -f1; }
proves() { # SOURCE FLAGS...: diagnoses it into out
	"$UNSNARL" cc -O1 -g -pthread "${@:2}" "$SOURCE/tests/claims/$1" -o "${1%.c}" || exit 2
	"$UNSNARL" diagnose --budget 1500 --seed 1 -j 1 --store "${1%.c}$#" -- "./${1%.c}" >out 2>err
}
proves circle.c
expect out '^Cause +deadlock' "a circle"
expect out '^How sure +Proven\.' "a circle, one thread at a time"
"$UNSNARL" hunt --forbid 1 --budget 200 --keep-going --no-reduce -j 1 --store circle1 -- ./circle >out 2>err
expect out '200 passed, 0 failed' "a circle, forbidden"
proves missed.c
expect out '^Cause +lost wake-up' "a signal too early"
expect out '^How sure +Proven\.' "a signal that is kept"
gcc -O1 -g -pthread "$SOURCE/tests/claims/missed.c" -o unhooked || exit 2
"$UNSNARL" diagnose --budget 150 --seed 1 -j 1 --store unhooked1 -- ./unhooked >out 2>err
expect out '^Cause +lost wake-up' "the same without hooks"
expect out '^How sure +Proven\.' "a signal that is kept, without hooks"
proves missed.c -DKEEPS
expect out '^Cause +deadlock' "a lock that is kept"
expect out "lock missed.c:$(line missed.c 'kept \*/')" "where it was taken"
expect out "stuck in lock missed.c:$(line missed.c 'wanted \*/')" "who wants it"
# A signal that wakes one where all are meant, and the way back: with broadcasts nothing fails.
wakes_all() { # SOURCE CALL MARK...: it is proven at the lines of the marks, in C, C11 or C++
	name=${1%.*}
	compiler=cc
	[ "$1" = "$name.cpp" ] && compiler=c++
	"$UNSNARL" $compiler -O1 -g -pthread "$SOURCE/tests/claims/$1" -o "$name" || exit 2
	"$UNSNARL" diagnose --budget 1000 --seed 1 -j 1 --store "$name.taken" -- "./$name" >out 2>err
	expect out '^Cause +lost wake-up' "$1: one is woken"
	expect out '^How sure +Proven\.' "$1: proven"
	tr -s '\n ' ' ' <out >line
	expect line 'With this signal made a broadcast 0 of [0-9]+ schedules fail' "$1: what was forbidden"
	expect line "Fix Call $2 at ($(for mark in "${@:3}"; do echo -n "$1:$(line "$1" "$mark \*/")|"; done)-):" "$1: what to call, where"
	"$UNSNARL" hunt --forbid 1 --budget 100 --keep-going --no-reduce -j 1 --store "$name.taken" -- "./$name" >out 2>err
	expect out '100 passed, 0 failed' "$1: forbidden"
	"$UNSNARL" $compiler -O1 -g -pthread -DMENDED "$SOURCE/tests/claims/$1" -o "$name.mended" || exit 2
	"$UNSNARL" hunt --budget 200 --seed 1 -j 1 --store "$name.mended.store" -- "./$name.mended" >out 2>err
	expect out '200 passed, 0 failed' "$1: mended"
}
wakes_all one_door.c 'pthread_cond_broadcast instead of pthread_cond_signal' filled emptied
wakes_all reporter.c 'cnd_broadcast instead of cnd_signal' job
"$UNSNARL" hunt --force 1 --budget 100 --keep-going --no-reduce --seed 3 -j 1 --store reporter.taken -- ./reporter >out 2>err
expect out '^Forced: it came about in [1-9][0-9]* of 100' "a signal to the other one"
"$UNSNARL" replay last --store reporter.taken -n 3 >out 2>err
expect out '^3 of 3 identical' "replay of a signal that was forced to another"
"$UNSNARL" replay last --store reporter.taken --story >out 2>err
expect out 'the last signal that came meanwhile, by T0 at reporter.c' "who gave the signal that another took"
wakes_all batch.cpp 'notify_all instead of std::condition_variable::notify_one' tells
gcc -O1 -g -pthread "$SOURCE/tests/claims/one_door.c" -o unhooked_door || exit 2
"$UNSNARL" diagnose --budget 300 --seed 1 -j 1 --store unhooked.door -- ./unhooked_door >out 2>err
expect out '^Cause +lost wake-up' "one is woken, without hooks"
expect out '^How sure +Proven\.' "a signal made a broadcast, without hooks"
# The child of a fork and a lock that another thread held.
"$UNSNARL" cc -O1 -g -pthread "$SOURCE/tests/claims/forked.c" -o forked || exit 2
"$UNSNARL" diagnose --budget 100 --seed 1 -j 1 --store forked1 -- ./forked >out 2>err
expect out '^Cause +deadlock' "a lock that was copied"
expect out 'T2 is the child of a fork and waits for a lock that T1 of its parent' "who had the lock"
expect out "lock forked.c:$(line forked.c 'taken \*/') note" "where it was taken"
expect out "fork forked.c:$(line forked.c 'fork \*/') main" "which fork"
expect out 'pthread_atfork' "what helps"
# A semaphore that sleeps although there is something to take, and waits on another word that hang on it.
cat >few.h <<'C'
#include <atomic>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
namespace few {
class semaphore {
	std::atomic<int> left;
	bool took() { int n = left; return n && left.compare_exchange_strong(n, n - 1); }
public:
	explicit semaphore(int n) : left(n) {}
	void take() { for (int was = left; !took(); was = left) syscall(SYS_futex, &left, FUTEX_WAIT, was, nullptr, nullptr, 0); }
	void give() { left++; syscall(SYS_futex, &left, FUTEX_WAKE, 1, nullptr, nullptr, 0); }
};
}
C
cat >few.cc <<'C'
#include "few.h"
#include <thread>
static few::semaphore slots(1);
static std::atomic<int> done;
static void work() {
	slots.take();
	slots.give();
	done++;
	syscall(SYS_futex, &done, FUTEX_WAKE, 9, nullptr, nullptr, 0);
	for (int n; (n = done) < 3;)
		syscall(SYS_futex, &done, FUTEX_WAIT, n, nullptr, nullptr, 0);
}
int main() {
	std::thread a(work), b(work), c(work);
	a.join();
	b.join();
	c.join();
}
C
"$UNSNARL" c++ -O1 -g -pthread few.cc -o few || exit 2
"$UNSNARL" diagnose --budget 1500 --seed 1 -j 1 --store few1 -- ./few >out 2>err
expect out '^Cause +lost wake-up' "words in memory"
expect out 'write few.h:12 give' "what the waiter did not see"
expect out 'signal few.h:12 give' "the signal that was missed, not an older one"
expect out '^How sure +Proven\.' "a wake that is kept"
proves barrier.c
expect out '^How sure +Proven\.' "a group whose last step does not come in every thread"
proves sections.c
expect out "^ +1 +write sections.c:$(line sections.c 'first \*/')" "two sections, the first variable"
expect out "sections.c:$(line sections.c 'second \*/')" "two sections, and what the failing run did not come to"
expect out '^How sure +(Proven|Likely)\.' "two sections of a lock that only passing runs show"
proves index.c
expect out "^ +1 +read index.c:$(line index.c 'look \*/')" "looked at without the lock"
expect out '^How sure +Proven\.' "groups of reads, one at a time"
proves format.c
expect out '^Cause +atomicity violation' "text that snprintf reads"
expect out "read format.c:$(line format.c 'look \*/')" "text that snprintf reads"
expect out '^How sure +Proven\.' "those who work do not spin"
# What functions of libc keep for all threads alike: the position in a text, in a loop, and a result.
cat >libc.c <<'C'
#include <pthread.h>
#include <string.h>
#include <time.h>
struct job { char text[32]; int n; };
static void *work(void *argument) {
	struct job *job = argument;
#ifdef TIME
	time_t t = job->n;
	const struct tm *day = localtime(&t);
	job->n = day->tm_year;
#else
	for (char *word = strtok(job->text, " "); word; word = strtok(NULL, " "))
		job->n++;
#endif
	return NULL;
}
int main(void) {
	struct job jobs[] = { { "one two three four", 1000000000 }, { "five six seven", 1500000000 } };
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &jobs[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
#ifdef TIME
	return jobs[0].n != 101 || jobs[1].n != 117;
#else
	return jobs[0].n != 1000000004 || jobs[1].n != 1500000003;
#endif
}
C
for what in TIME TOKEN; do
	"$UNSNARL" cc -O1 -g -pthread -D$what libc.c -o libc || exit 2
	"$UNSNARL" diagnose --budget 400 --seed 1 -j 1 --store libc$what -- ./libc >out 2>err
	expect out '^How sure +Proven\.' "libc: $what"
	[ $what = TIME ] && expect out 'on localtime.result' "a result that all threads share"
	[ $what = TOKEN ] && expect out 'on strtok.position' "a position that all threads share"
	expect out "^Fix .*(strtok|gmtime)" "libc: $what, what to use instead"
	expect out "strtok_r|localtime_r" "libc: $what, what to use instead"
done
[ "$failed" -eq 0 ] && echo "all passed"
exit $((failed > 0))
