#!/usr/bin/env bash
# unsnarl verify from outside: a lost update is harmful and can be replayed, what is
# locked right is not, a circle of locks hangs, locks of one side are waited before,
# hooked functions do what they did, mistakes get sentences.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"

lost=$SOURCE/tests/scanned/lost.c
mkdir -p temporary
export TMPDIR=$PWD/temporary

check_json() { # check_json EXPRESSION WHAT: over `answer`
	python3 -c 'import json, sys
answer = json.load(open("out"))
sys.exit(not eval(sys.argv[1]))' "$1" 2>>err
	verdict $? "$2: $1"
}

line() { # line COMMENT: where it stands
	grep -n "/\* $1 \*/" "$lost" | cut -d: -f1
}

"$UNSNARL" cc -O2 -g -pthread -o lost "$lost" 2>err
verdict $? "build"
wrong=$(line wrong) right=$(line right)

call verify --json --first "lost.c:$wrong,lost.c:$wrong" -- ./lost
expect_status 1 "a lost update"
check_json 'answer["findings"][0]["verdict"] == "harmful" and answer["findings"][0]["delay_ms"] <= 512' "harmful"
check_json 'answer["findings"][0]["schedule"]' "a schedule is found"
check_json 'answer["findings"][0]["confirmed"] is True' "experiments confirm it"
check_json '"forbidden, 0 of" in answer["findings"][0]["experiment"]' "and say so"
run=$(python3 -c 'import json; print(json.load(open("out"))["findings"][0]["schedule"])' 2>/dev/null)
call replay "${run:-0}"
expect out '1 of 1 identical' "replay of the schedule"

call verify --json --no-hunt "lost.c:$right,lost.c:$right" -- ./lost only-right
expect_status 0 "what is locked right"
check_json 'answer["findings"] == [] and answer["harmless"][0]["verdict"] in ("not reproduced", "never met")' "not harmful"
check_json 'answer["harmless"][0]["met"] > 0' "threads meet before the lock"

# The whole program fails, but not because of what is locked right: whatever the delays bring out.
call verify --json --budget 60 "lost.c:$right,lost.c:$right" -- ./lost
check_json 'answer["findings"] == []' "a neighbour is not accused"
expect_status 0 "a neighbour"

call verify --no-hunt "lost.c:$wrong,lost.c:$wrong" -- ./lost only-right
expect_status 0 "lines that are not reached"
expect out 'did not come there' "never reached"

call verify --no-hunt --first --budget 60 -- ./lost
expect_status 1 "without a candidate"
expect out 'HARMFUL' "the best are tried"
expect out 'candidates? tried in' "a sum at the end"

# Every run fails: nothing can be told.
call verify --no-hunt --check false 1 -- ./lost
expect out 'fails without any delay' "always fails"

# A join under a lock that the thread needs to end.
cat >stuck.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *run(void *arg)
{
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, run, 0);
	for (volatile int i = 0; i < 20000000; i++)
		;
	pthread_mutex_lock(&lock);
	pthread_join(thread, 0);
	pthread_mutex_unlock(&lock);
	return !done;
}
C
"$UNSNARL" cc -O2 -g -pthread -o stuck stuck.c 2>err
call verify --json --no-hunt --first --timeout 3 --budget 100 1 -- ./stuck
expect_status 1 "a join under a lock"
check_json 'answer["findings"][0]["class"] == "deadlock" and answer["findings"][0]["again_runs"] <= 1' "it hangs, and is tried again once"

# The side under the lock comes first, and the other needs that lock on its way to an access that holds none: held
# inside the lock it would never be met.
cat >gate.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int visits, total;
static void *run(void *arg)
{
	usleep(5000);
	pthread_mutex_lock(&lock);
	visits++;
	pthread_mutex_unlock(&lock);
	total++;
	return arg;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, run, 0);
	pthread_mutex_lock(&lock);
	total += 2;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, 0);
	return total != 3;
}
C
"$UNSNARL" cc -O2 -g -pthread -o gate gate.c 2>err
call verify --json --no-hunt --first --budget 100 gate.c:11,gate.c:19 -- ./gate
expect_status 1 "a lock that the other side needs on its way"
check_json 'answer["findings"][0]["met"] > 0' "they meet before the lock"

# Before a lock nobody knows what comes behind it: who touches something else then has not met anybody.
sed 's/static int visits, total;/static int visits, all[2]; static volatile int which;/; s/total++/all[which]++/; s/total += 2/all[1 - which] += 2/
	s/return total != 3/return all[0] + all[1] != 3/' gate.c >apart.c
"$UNSNARL" cc -O2 -g -pthread -o apart apart.c 2>err
call verify --json --no-hunt --budget 30 apart.c:11,apart.c:19 -- ./apart
expect_status 0 "other memory behind the lock"
check_json 'answer["harmless"][0]["met"] == 0' "is no meeting"

# Functions with hooks have a second body: exceptions, a switch, arrays on the stack, loops within loops.
cat >bodies.cpp <<'C'
#include <pthread.h>

#include <stdexcept>
static int shared;
__attribute__((noinline)) static void fall(int n)
{
	if (n % 5 == 0)
		throw std::runtime_error("five");
}
__attribute__((noinline)) static long work(int n)
{
	long field[16] = {}, sum = 0;
	char *room = static_cast<char *>(__builtin_alloca(static_cast<unsigned>(n % 7 + 1)));
	for (int i = 0; i < n; i++) {
		room[i % (n % 7 + 1)] = static_cast<char>(i);
		try {
			fall(i);
			field[i % 16] += room[i % (n % 7 + 1)];
		} catch (const std::exception &) {
			field[(i + 1) % 16]--;
		}
		switch (i % 4) {
		case 0: sum += i; break;
		case 1: sum ^= i; break;
		case 2: sum -= field[i % 16]; break;
		default:
			for (int k = 0; k < 16; k++)
				sum += field[k] * k;
		}
		shared = n;
	}
	return sum;
}
static void *run(void *arg)
{
	return reinterpret_cast<void *>(work(100) + (arg ? 1 : 0));
}
int main()
{
	pthread_t thread;
	void *got;
	pthread_create(&thread, nullptr, run, nullptr);
	long own = work(100);
	pthread_join(thread, &got);
	return own != reinterpret_cast<long>(got) || own != RIGHT || !shared;
}
C
clang++-19 -O2 -DRIGHT=0 -pthread -o number -x c++ <(sed 's/return own != .*/return __builtin_printf("%ld", own) < 1;/' bodies.cpp) 2>err
"$UNSNARL" c++ -O2 -g -DRIGHT="$(./number)" -pthread -o bodies bodies.cpp 2>err
at=bodies.cpp:$(grep -n "shared = n" bodies.cpp | cut -d: -f1)
call verify --json --no-hunt --budget 30 "$at,$at" -- ./bodies
expect_status 0 "both bodies do the same"
check_json 'answer["harmless"][0]["met"] > 0 and answer["harmless"][0]["plain_runs"] == 3' "and each of them ran"

call verify --json --no-hunt --again 7 --plain 2 "lost.c:$wrong,lost.c:$wrong" -- ./lost
check_json 'answer["findings"][0]["again_runs"] == 7 and answer["findings"][0]["plain_runs"] == 2' "as many runs as were asked for"

# Ctrl-C: what is known is told.
"$UNSNARL" verify --json --no-hunt --all --budget 0 -- ./lost only-right >out 2>err &
job=$!
for _ in $(seq 600); do
	ls "$TMPDIR"/unsnarl-verify-*/program* >found 2>/dev/null && break
	sleep 0.1
done
kill -INT $job
wait $job
status=$?
[ $status -eq 130 ] || [ $status -eq 0 ] || [ $status -eq 1 ]
verdict $? "Ctrl-C ends it, with status $status"
check_json 'answer["interrupted"] is True or answer["harmless"]' "and it answers"

expect_mistake 'no program to try' verify
expect_mistake 'no program to try' verify 3
expect_mistake 'there is no candidate 999' verify 999 -- ./lost
expect_mistake 'there is no candidate' verify a.c:1,b.c:2 -- ./lost
expect_mistake 'built without hooks' verify -- /bin/true
[ "$(find "$TMPDIR" -maxdepth 1 -name 'unsnarl-verify-*' | wc -l)" -eq 0 ]
verdict $? "nothing is left in the temporary folder"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
