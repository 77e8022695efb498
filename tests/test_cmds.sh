#!/usr/bin/env bash
# The verbs from outside: what they print, where, and with which exit status.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"

expect_narrow() { # expect_narrow FILE WHAT
	[ "$(LC_ALL=C.UTF-8 wc -L <"$1")" -le 80 ]
	verdict $? "$2 fits in 80 columns"
}

expect_empty() { # expect_empty FILE WHAT
	[ ! -s "$1" ]
	verdict $? "$2: $1 is not empty"
}

# A wrong call: exit 2, nothing on stdout, one sentence like REGEX on stderr.
expect_mistake() { # expect_mistake REGEX ARGUMENTS...
	local regex=$1
	shift
	call "$@"
	expect_status 2 "unsnarl $*"
	expect_empty out "unsnarl $*"
	expect err "$regex" "unsnarl $*"
	[ "$(wc -l <err)" -eq 1 ]
	verdict $? "unsnarl $*: one line on stderr"
}

# The answer in `out` as JSON must satisfy a Python expression about `a`.
expect_json() { # expect_json EXPRESSION
	python3 -c 'import json, sys
a = json.load(open("out"))
sys.exit(not (eval(sys.argv[1])))' "$1" 2>>err
	verdict $? "JSON: $1"
}

test_usage() {
	call --version
	expect_status 0 "--version"
	expect out '^unsnarl [0-9]+\.' "--version"
	call
	expect_status 2 "no verb"
	for verb in "" cc c++ run runs show help exec; do
		call help $verb
		expect_status 0 "help $verb"
		expect out '^Usage: unsnarl' "help $verb"
		expect_empty err "help $verb"
		expect_narrow out "help $verb"
	done
	call help
	reject out '^  exec' "help keeps exec to itself"
	expect_mistake '^unsnarl: unknown verb shwo, did you mean show\?$' shwo
	expect_mistake '^unsnarl diagnose: no program' diagnose
	expect_mistake '^unsnarl help: unknown verb rnu, did you mean run' help rnu
	expect_mistake '^unsnarl diagnose: cannot find the program ./program' -- ./program
	expect_mistake '^unsnarl diagnose: cannot find the program ./program' --time 3 -- ./program
	expect_mistake '^unsnarl diagnose: unknown option --tme, did you mean --time' --tme 3 -- ./program
	expect_mistake '^unsnarl: unknown option --tme' --tme 3
	expect_mistake '^unsnarl run: unknown option --jiter, did you mean --jitter\?$' run --jiter -- ./program
	expect_mistake '^unsnarl run: -n wants a whole number from 1 ' run -n 0 -- ./program
	expect_mistake '^unsnarl run: no program' run -n 1
	expect_mistake '^unsnarl run: .*nosuch' run -- ./nosuch
	expect_mistake '^unsnarl run: .*hooks' run --loom compiled -- /bin/true
	expect_mistake '^unsnarl run: .*loom' run --loom neither -- /bin/true
	expect_mistake '^unsnarl runs: .*no store' runs
	expect_mistake '^unsnarl show: ' show
	[ ! -e .unsnarl ]
	verdict $? "mistakes leave no store behind"
}

# A program without hooks is run as it is.
test_stock_program() {
	call run --store stock -- /bin/true
	expect_status 0 "run of a program without hooks"
	expect err '^unsnarl: /bin/true is seen as it is, under Valgrind' "run of a program without hooks"
	expect out '^1 run of .*/true in .*: 1 passed, 0 failed$' "run of a program without hooks"
	rm -rf stock
}

# Every option that a help page tells of stands in the man page and completes.
test_pages_agree() {
	local verb option
	for verb in run runs show; do
		call help $verb
		for option in $(grep -oE '^ +(-[a-z], )?--[a-z]+' out | grep -oE -- '--[a-z]+'); do
			[ "$option" = --help ] && continue
			sed 's/\\-/-/g' "$SOURCE/doc/man/unsnarl-$verb.1" | grep -q -- "$option"
			verdict $? "man unsnarl-$verb tells of $option"
			grep -q -- "$option" "$SOURCE/doc/completion/unsnarl.bash"
			verdict $? "bash completes $option"
		done
	done
}

# One program for all that follows: what it does depends on its argument.
build() {
	cat >subject.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long shared_value;

static void *produce(void *argument)
{
	for (int i = 0; i < 3; i++)
		shared_value += i;
	return argument;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	pthread_create(&thread, NULL, produce, NULL);
	pthread_join(thread, NULL);
	long value = shared_value;
	printf("value %ld\n", value);
	fprintf(stderr, "\033[31mred\033[0m \377 end\n");
	fflush(stdout);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "slow"))
		usleep(100000);
	if (!strcmp(how, "hang"))
		for (;;)
			pause();
	return !strcmp(how, "exit") ? 3 : 0;
}
C
	call cc -g -O1 -pthread -o subject subject.c
	expect_status 0 "cc"
	read_line=$(grep -n 'long value =' subject.c | cut -d: -f1)
	write_line=$(grep -n 'shared_value +=' subject.c | cut -d: -f1)
}

test_run() {
	call run -n 5 -- ./subject
	expect_status 0 "run"
	expect_empty err "run without a terminal"
	expect out '^5 runs of ./subject in .*: 5 passed, 0 failed$' "run"
	expect out '^ +pairs +[1-9]' "run counts pairs"
	expect out '^ +predecessors +[1-9]' "run counts predecessors"
	expect out '^ +edges +[1-9]' "run counts edges"
	expect out 'runs 1-5 of campaign 1 in \.unsnarl' "run says where"
	call run -n 2 --json -- ./subject
	expect_json 'a["tool"] == "unsnarl" and a["command"] == "run" and a["version"]'
	expect_json 'a["runs"]["done"] == 2 and a["runs"]["passed"] == 2 and a["campaign"] == 1'
	expect_json 'a["observations"]["pairs"]["new"] == 0 and a["observations"]["pairs"]["distinct"] > 0'
	call run -n 2 -j 2 -- ./subject abort
	expect_status 0 "failed runs are no error"
	expect out '2  killed by SIGABRT: runs 8, 9$' "abort"
	call run -- ./subject exit
	expect out '1  exit status 3: run 10$' "exit status"
	call run --timeout 0.3 -- ./subject hang
	expect out '1  still running after 0.3 s' "time-out"
	expect out 'No run ended in time, which need not be a hang' "time-out"
	printf 'value 3\n' >right.txt
	printf 'value 4\n' >wrong.txt
	call run --expect right.txt -- ./subject
	expect out '1 passed, 0 failed' "--expect"
	call run --expect wrong.txt -- ./subject
	expect out '1  output differs from wrong.txt' "--expect"
	call run --check 'grep -q "value 3"' -- ./subject
	expect out '1 passed, 0 failed' "--check"
	call run --check 'grep -q "value 4"' -- ./subject
	expect out '1  grep -q "value 4" exited with 1' "--check"
	call run --label fail -- ./subject
	expect out '0 passed, 1 failed' "--label"
	expect_mistake 'missing.txt' run --expect missing.txt -- ./subject
	call run --observe pairs --jitter=50 --seed 7 --json --store other -- ./subject
	expect_json 'a["observations"]["edges"]["distinct"] == 0 and a["observations"]["pairs"]["distinct"] > 0'
	expect_json 'a["seed"] == 7 and a["jitter_us"] == 50 and a["store"] == "other"'
	call run --json -- ./subject $'\377\033[31m'
	expect_json 'a["arguments"] == ["\ufffd\u001b[31m"]'
}

test_runs() {
	call runs
	expect_status 0 "runs"
	expect out '^Campaign 1: ./subject$' "runs"
	expect out '^  1-7 +pass +exit 0 ' "runs folds what is alike"
	expect out '^  8-9 +fail +SIGABRT ' "runs"
	expect out '^  11 +fail +hung ' "runs"
	reject out $'\033' "runs prints no control characters"
	expect_narrow out "runs"
	call runs --campaign 2
	reject out '^Campaign [13]' "runs --campaign"
	expect_mistake 'no campaign 99' runs --campaign 99
	call runs --json
	expect_json '[c["campaign"] for c in a["campaigns"]] == sorted(c["campaign"] for c in a["campaigns"])'
	expect_json 'sum(len(c["runs"]) for c in a["campaigns"]) == 17'
	expect_json 'a["campaigns"][1]["runs"][0]["signal"] == "SIGABRT"'
	call run -n 40 --jitter=20 -- ./subject
	call runs --curve --campaign 1
	expect out '^ +after run +pairs +predecessors +edges$' "runs --curve"
	[ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+$' out)" -le 20 ]
	verdict $? "runs --curve has at most 20 rows"
	expect_narrow out "runs --curve"
	LC_ALL=C call runs --curve --campaign 1
	! LC_ALL=C grep -q '[^ -~]' out
	verdict $? "runs --curve in ASCII"
	call runs --curve --campaign 1 --json
	expect_json 'len(a["campaigns"]) == 1 and len(a["campaigns"][0]["curve"]) == 52'
	expect_json 'all(x["pairs"] <= y["pairs"] and x["edges"] <= y["edges"]
		for x, y in zip(a["campaigns"][0]["curve"], a["campaigns"][0]["curve"][1:]))'
}

test_show() {
	call show 8
	expect_status 0 "show"
	expect out '^Run 8 of campaign 2: failed, SIGABRT$' "show"
	expect out "subject.c:$write_line produce +T1 write shared_value" "show: head"
	expect out "subject.c:$read_line main +T0 read shared_value" "show: tail"
	expect out 'long value = shared_value;' "show: excerpt"
	expect out '^  \| value 3' "show: output"
	expect out '\?\[31mred' "show: escapes are harmless"
	reject out $'\033' "show prints no control characters"
	call show 8 --all
	expect out 'at 0x[0-9a-f]+, access' "show --all"
	expect out '^after  ' "show --all: predecessors"
	expect out '^ +(-|(Lc|Rm)(Rd|Wr)( (Lc|Rm)(Rd|Wr)){0,4}) (→|->) ' "show --all: contexts"
	call show 8 --edges
	reject out '^Pairs' "show --edges"
	call show last --campaign 2
	expect out '^Run 9 of campaign 2' "show last"
	call show 8 --json
	expect_json 'a["run"] == 8 and a["label"] == "fail" and "\ufffd" in a["output"]'
	expect_json "any(p['kind'] == 'write-read' and p['head']['line'] == $write_line and
		p['tail']['line'] == $read_line and p['head']['thread'] == 1 and p['tail']['thread'] == 0
		for p in a['pairs'])"
	expect_json 'any(p["before"] is None for p in a["predecessors"])'
	call show "subject.c:$read_line" --campaign 1
	expect out "^Site #[0-9]+: subject.c:$read_line:[0-9]+ in main$" "show SITE"
	expect out 'took part in 5[0-9] of 52 runs' "show SITE"
	expect out '^Pairs that end with it' "show SITE"
	expect out '^Belonging set' "show SITE"
	number=$(grep -oE '#[0-9]+' out | head -n 1)
	call show "$number" --json
	expect_json 'a["sites"][0]["kind"] == "read" and a["sites"][0]["variable"] == "shared_value"'
	expect_json 'a["sites"][0]["pairs"][0]["runs"]["passed"] + a["sites"][0]["pairs"][0]["runs"]["failed"] > 0'
	expect_mistake 'no run 9999' show 9999
	expect_mistake 'nosuch.c:1' show nosuch.c:1
	expect_mistake '#99999' show '#99999'
	expect_mistake 'neither FILE:LINE nor #SITE' show nonsense
	touch -d '+1 hour' subject.c
	call show 8
	expect out 'subject.c was changed after this run' "show: changed source"
}

test_exec() {
	call exec --observe none --store x -- ./subject
	expect_status 2 "exec has no store"
	rm -rf elsewhere && mkdir elsewhere
	(cd elsewhere && "$UNSNARL" exec --context 3 -- ../subject exit >out 2>err)
	status=$?
	expect_status 3 "exec ends as the program does"
	[ ! -e elsewhere/.unsnarl ]
	verdict $? "exec records nothing"
	expect elsewhere/out 'value 3' "exec"
}

test_interrupt() {
	rm -rf interrupted
	"$UNSNARL" run -n 1000 --store interrupted -- ./subject slow >out 2>err &
	local pid=$!
	sleep 1
	kill -INT "$pid" # a background job of a script ignores it
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	expect_status 130 "interrupted"
	expect err '^unsnarl run: interrupted after [0-9]+ of 1000 runs; those are recorded$' "interrupted"
	local count
	count=$(grep -oE 'after [0-9]+' err | grep -oE '[0-9]+')
	call runs --store interrupted --json
	expect_json "sum(len(c['runs']) for c in a['campaigns']) == ${count:-0} > 0"
	! pgrep -f "$folder/subject slow" >/dev/null
	verdict $? "nothing is left running"
}

# On a terminal there is a bar, and at the end it is gone.
test_progress() {
	script -qefc "stty cols 80; exec '$UNSNARL' run -n 8 -j 2 --store bar -- ./subject slow" /dev/null \
		>out 2>err </dev/null
	tr '\r' '\n' <out >lines
	expect lines '/8  [0-9]+ passed, 0 failed, 0 hung' "progress bar"
	expect_narrow lines "the progress bar"
	expect lines '^8 runs of ./subject slow' "the summary stands at the beginning of a line"
	rm -f lines
}

test_writing() {
	"$UNSNARL" runs >/dev/full 2>err
	status=$?
	: >out
	expect_status 2 "a full disk behind stdout"
	expect err '^unsnarl runs: cannot write' "a full disk behind stdout"
}

test_usage
test_stock_program
test_pages_agree
build
test_run
test_runs
test_show
test_exec
test_interrupt
test_progress
test_writing
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
