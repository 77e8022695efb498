#!/usr/bin/env bash
# The runtime inside programs that fork, jump, fault, die and make threads by
# the thousand. Each program in observed/ says in its opening comment how it ends
# (run: ARGUMENTS -> EXIT STATUS, SIGNAL or hung) and what must have been seen.
# It has to behave as its plain build does, alone and observed.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder;
# arguments, if any, are the programs to test.
SHOWN=12
SHOWN_FILES="err complaints"
. "$(dirname "$0")/counting.sh"
OBSERVED=$SOURCE/tests/observed
only=" $* "
TIMEOUT=1 # for runs that are to hang

# Builds a program plainly and observed: build NAME SOURCE FLAGS...
build() {
	local name=$1 source=$2 verb=cc plain=clang-19
	shift 2
	[[ $source == *.cc ]] && verb=c++ plain=clang++-19
	"$plain" -w -pthread "$@" -o "$name.plain" "$source" 2>err
	verdict $? "$name: plain build" || return 1
	"$UNSNARL" "$verb" -w -pthread "$@" -o "$name" "$source" 2>err
	verdict $? "$name: observed build"
}

# How the last run ended: an exit status, the name of a signal, or hung.
ending() {
	python3 -c 'import json, sys
r = json.load(sys.stdin)
print("hung" if r["outcome"] not in ("exit", "signal") else r["signal"] or r["code"])'
}

# Runs alone and says how it ended, as `ending` does.
alone() { # alone PROGRAM ARGUMENTS...
	local status
	timeout -s KILL "$patience" "$@" >output 2>err </dev/null
	status=$?
	if [ $status -ge 128 ]; then
		echo "SIG$(kill -l $((status - 128)))"
	else
		echo $status
	fi
}

# Runs an observed program, compares with its plain build, checks what was seen.
observe() { # observe NAME SOURCE END UNSNARL-OPTIONS -- ARGUMENTS...
	local name=$1 source=$2 end=$3 options=() got what
	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	what="$name $* ${options[*]}"
	rm -rf store
	"$UNSNARL" run --store store --timeout "$([ "$end" = hung ] && echo $TIMEOUT || echo 20)" "${options[@]}" -- \
		"./$name" "$@" >out 2>err </dev/null
	verdict $? "$what: run"
	"$UNSNARL" show 1 --store store --json >run.json 2>err
	verdict $? "$what: show"
	got=$(ending <run.json 2>/dev/null)
	[ "$got" = "$end" ]
	verdict $? "$what: ended with $got instead of $end"
	python3 "$OBSERVED/check.py" "$source" <run.json >complaints 2>&1
	verdict $? "$what"
	rm -f complaints
}

compare_alone() { # compare_alone NAME END ARGUMENTS...
	local name=$1 end=$2 got patience=20
	shift 2
	[ "$end" = hung ] && return # nothing to compare
	alone "./$name.plain" "$@" >/dev/null 2>&1 # bash has a word to say on signals
	mv output plain.output
	got=$(alone "./$name" "$@" 2>/dev/null)
	[ "$got" = "$end" ]
	verdict $? "$name $*, alone: ended with $got instead of $end"
	cmp -s output plain.output
	verdict $? "$name $*, alone: other output than the plain build"
	got=$(alone "$UNSNARL" exec -- "./$name" "$@" 2>/dev/null)
	[ "$got" = "$end" ]
	verdict $? "$name $*, under exec: ended with $got instead of $end"
	cmp -s output plain.output
	verdict $? "$name $*, under exec: other output than the plain build"
}

# Every `run:` line of a program, in one build.
test_program() { # test_program SOURCE NAME FLAGS...
	local source=$1 name=$2 line arguments end
	shift 2
	build "$name" "$source" "$@"
	while IFS= read -r line; do
		arguments=${line% ->*}
		end=${line##*-> }
		# shellcheck disable=SC2086 # several arguments
		compare_alone "$name" "$end" $arguments
		# shellcheck disable=SC2086
		observe "$name" "$source" "$end" -- $arguments
	done < <(sed -n 's/^ \* run: *//p' "$source")
}

test_programs() {
	local source name
	for source in "$OBSERVED"/*.c "$OBSERVED"/*.cc; do
		name=$(basename "${source%.*}")
		[ "$only" = "  " ] || [[ $only == *" $name "* ]] || continue
		grep -q '^ \* run:' "$source" || continue
		test_program "$source" "$name" -O2
		# The other kind of code where code generation matters.
		[[ " widths readers freed atomics strings fork cancel thread_locals " == *" $name "* ]] &&
			test_program "$source" "$name.O0" -O0 -no-pie
	done
}

# The options of a run change what is recorded, never what happens.
test_options() {
	local source=$OBSERVED/readers.c context
	build options "$source" -O1
	for context in 0 1 8; do
		observe options "$source" 0 --context $context --
		python3 -c 'import json, sys
kept = int(sys.argv[1])
contexts = [e["sink_context"].split() for e in json.load(open("run.json"))["edges"]]
contexts = [[e for e in c if e != "-"] for c in contexts]
within = {event for c in contexts for event in c}
shortest = 8 if kept == 8 else 0
sys.exit(max(map(len, contexts)) > kept or min(map(len, contexts)) != shortest or
         (kept > 0) != ("RmRd" in within))' $context 2>err
		verdict $? "--context $context: so many events"
	done
	observe options "$source" 0 --jitter=300 --seed 5 --
	observe options "$source" 0 --granularity line --
	observe options "$source" 0 --granularity line --jitter=100 --context 0 --
	observe options "$source" 0 --observe pairs --
	build sized "$OBSERVED/widths.c" -O1
	observe sized "$OBSERVED/widths.c" 0 --granularity line --
	observe sized "$OBSERVED/widths.c" 0 --jitter=200 --
}

# A library that comes and goes; its sites are the host's sites too.
test_plugin() {
	local sources=("$OBSERVED/plugin_host.c" "$OBSERVED/plugin.c") rounds
	clang-19 -w -O2 -shared -fPIC -o plugin.plain.so "$OBSERVED/plugin.c" &&
		clang-19 -w -O2 -o host.plain "$OBSERVED/plugin_host.c" -ldl -pthread
	verdict $? "plugin: plain build"
	"$UNSNARL" cc -w -O2 -shared -fPIC -o plugin.so "$OBSERVED/plugin.c" 2>err &&
		"$UNSNARL" cc -w -O2 -o host "$OBSERVED/plugin_host.c" -ldl -pthread 2>>err
	verdict $? "plugin: observed build"
	for rounds in 100 10000; do
		./host.plain ./plugin.plain.so $rounds >plain.output
		./host ./plugin.so $rounds >output 2>err
		verdict $? "plugin $rounds, alone"
		cmp -s output plain.output
		verdict $? "plugin $rounds, alone: other output than the plain build"
		rm -rf store
		"$UNSNARL" run --store store --timeout 30 --expect plain.output -- ./host ./plugin.so $rounds >out 2>err
		"$UNSNARL" show 1 --store store --json >run.json 2>>err
		[ "$(ending <run.json 2>/dev/null)" = 0 ] && grep -q '"label": "pass"' run.json
		verdict $? "plugin $rounds: behaves as the plain build"
		python3 "$OBSERVED/check.py" "${sources[@]}" <run.json >complaints 2>&1
		verdict $? "plugin $rounds"
		rm -f complaints
	done
	# The plain library in the observed host, as third-party code would be.
	./host ./plugin.plain.so 20 >output 2>err && "$UNSNARL" exec -- ./host ./plugin.plain.so 20 >>output 2>>err
	verdict $? "plugin: an ordinary library in an observed program"
}

# More children than the run area has room for: they run all the same, and unsnarl says so.
test_many_children() {
	cat >children.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int value;
int main(void)
{
	int good = 0, status;
	for (int i = 0; i < 100; i++) {
		if (fork() == 0) {
			value = i;
			_exit(value == i ? 7 : 8);
		}
		wait(&status);
		good += WEXITSTATUS(status) == 7;
	}
	printf("%d\n", good);
	return 0;
}
C
	build children children.c -O2
	compare_alone children 0
	rm -rf store
	"$UNSNARL" run --store store -- ./children >out 2>err
	verdict $? "100 children: run"
	grep -Eq '^Incomplete: ' out
	verdict $? "100 children: unsnarl says that it has not seen them all"
}

# Seconds of processor time that a command and its children take.
cpu_of() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)' "$@"
}

# Hooks that nobody listens to are passed over: not as fast as a plain build, but never slower than observed.
test_alone() {
	cat >sums.c <<'C'
#include <stdio.h>
static double table[4096];
static short small[4096];
int main(void)
{
	for (int turn = 0; turn < 8000; turn++)
		for (int i = 0; i < 4096; i++) {
			table[i] += turn;
			small[i] ^= (short)turn;
		}
	printf("%g %d\n", table[7], small[7]);
	return 0;
}
C
	"$UNSNARL" cc -g -O1 -o sums sums.c
	verdict $? "alone: builds"
	local alone observed
	alone=$(cpu_of ./sums)
	observed=$(cpu_of "$UNSNARL" run -n 1 --store alone.store -- ./sums)
	python3 -c "import sys; sys.exit(not $alone < $observed)"
	verdict $? "alone it takes $alone s, observed $observed s"
}

if [ "$only" = "  " ]; then
	test_options
	test_alone
	test_plugin
	test_many_children
fi
test_programs
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
