#!/usr/bin/env bash
# unsnarl verify from outside: a lost update is harmful and can be replayed, what is
# locked right is not, a circle of locks hangs, mistakes get sentences.
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
