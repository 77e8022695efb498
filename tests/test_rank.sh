#!/usr/bin/env bash
# unsnarl rank from outside: a bug of the corpus is found at its lines, pictures are drawn,
# the monitor logs what tests never showed, and bad files are refused with a sentence.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"

check_json() { # check_json EXPRESSION WHAT: over `answer`
	python3 -c 'import json, sys
answer = json.load(open("out"))
sys.exit(not eval(sys.argv[1]))' "$1" 2>err
	verdict $? "$2: $1"
}

stats=$SOURCE/corpus/string-stats/string-stats.c
"$UNSNARL" cc -O2 -g -pthread -o stats "$stats" 2>err
verdict $? "build"

# ---- nothing to compare yet ----
call rank
expect_status 2 "no store"
call run -n 10 --label pass -- ./stats
call rank --campaign 1
expect_status 2 "only passed runs"
expect err 'none of these runs failed' "only passed runs"
call rank last
expect err 'no recorded run has failed' "rank last without a failure"
call rank 77
expect_status 2 "a run that is not there"
call rank nonsense
expect err 'is no run number' "nonsense"
rm -rf .unsnarl

# ---- with labels ----
for _ in 1 2 3 4; do
	call run -n 30 -j 2 -- ./stats
	call run -n 30 -j 2 --jitter=20 -- ./stats
done
call rank --json --top 1000
expect_status 1 "rank"
check_json 'answer["command"] == "rank" and answer["context"] == 5 and answer["findings"][0]["method"] == "bugaboo"' "rank --json"
check_json 'any((f["point"]["line"] in (59, 69, 110, 111)) for f in answer["findings"][:3])' "the bug is among the first three"
check_json 'all(f["rank"] == i + 1 == f["inspections"] >= f["functions"] for i, f in enumerate(answer["findings"]))' "inspections"
check_json '[f["score"] for f in answer["findings"] if not f["aftermath"]] == sorted((f["score"] for f in answer["findings"] if not f["aftermath"]), reverse=True)' "falling scores"
check_json 'all(f["aftermath"] for f in answer["findings"] if f["point"]["line"] == 117)' "the error message is aftermath"
cp out first
call rank --json --top 1000
cmp -s out first
verdict $? "twice the same"
call rank --top 2
expect out '^  1\. .*string-stats.c:[0-9]+:[0-9]+ ' "text"
expect out 'FAILED \(so in [0-9]+ of [0-9]+\) +USUAL' "side by side"
expect out 'more \(--top' "more"
python3 -c 'import sys
sys.exit(any(len(l.rstrip("\n")) > 80 for l in open("out", encoding="utf-8") if "/string-stats.c:" not in l))'
verdict $? "fits 80 columns"
call rank last --json
check_json 'answer["findings"][0]["runs"]["failed"] == 1 and answer["findings"][0]["runs"]["passed"] > 1' "one failed run against all passed"
call rank --unlabelled --json
check_json 'answer["findings"][0]["runs"]["passed"] == 0' "unlabelled"
call rank --formula paper --json
check_json '0 <= answer["findings"][0]["rarity"] <= 1' "the paper's formula"
call rank --context 0 --json
check_json 'answer["context"] == 0' "shorter contexts"

# ---- the same with contexts that were recorded short ----
call run -n 5 --context 2 --label pass -- ./stats
call rank --json
check_json 'answer["context"] == 5 and answer["skipped_runs"] == 5' "runs with other contexts are left out"
"$UNSNARL" cc -O2 -g -pthread -DNDEBUG -O1 -o other "$stats" 2>err
call run --json -- ./other
call rank 1 "$(python3 -c 'import json; print(json.load(open("out"))["last"])')"
expect err 'only runs of one program' "two campaigns"

# ---- pictures ----
call rank --campaign 1 1 2 3 4 5 --picture x
[ "$status" -eq 2 ]
verdict $? "a picture without an ending"
call rank $(seq 1 240) --picture difference.dot
expect difference.dot '^digraph' "dot"
expect difference.dot 'color="#b00020", fontcolor' "edges of failed runs are marked"
expect difference.dot 'LcRd|LcWr|RmRd|RmWr' "contexts in the picture"
if command -v dot >/dev/null; then
	call rank $(seq 1 240) --picture difference.svg
	expect difference.svg '<svg' "svg"
	[ "$(find . -name 'difference.svg.dot*' | wc -l)" -eq 0 ]
	verdict $? "nothing left beside the picture"
fi
PATH_BEFORE=$PATH
mkdir empty
PATH=$folder/empty "$UNSNARL" rank $(PATH=$PATH_BEFORE seq 1 240) --picture missing.svg >out 2>err
status=$?
expect_status 2 "without Graphviz"
expect err 'install graphviz' "without Graphviz"

# ---- the simulated machine ----
call run -n 4 --machine=4 --store machine --json -- ./stats
check_json 'answer["machine"]["read_misses"] > 0 and answer["machine"]["accesses"] > answer["machine"]["read_misses"]' "run --machine"
call run -n 4 --store exact -- ./stats
call rank --store exact --compare ./machine --json
expect_status 0 "compare"
check_json '0 < answer["points"] and 0 <= answer["missed"] < answer["points"] and answer["graph"]["edges"] > 0' "compare"
call rank --store exact --compare machine
expect_status 2 "compare with a way in which nothing was recorded"
expect err 'recorded with --machine; unsnarl run --machine' "compare with a way in which nothing was recorded"
call run -n 4 --machine=4 --store exact --json -- ./stats
call rank --store exact --compare machine
expect out 'communicating code points' "compare as text"
expect out 'Here: 4 runs, exact. There: 4 runs, on a simulated machine' "compare runs of one store"
call rank --store exact --compare line
expect err 'granularity line' "compare with lines"
call runs --store exact --json
check_json 'sum(1 for r in answer["campaigns"][0]["runs"] if r["machine"] and r["machine"]["read_misses"] > 0 and r["settings"]["machine"]) == 4 and sum(1 for r in answer["campaigns"][0]["runs"] if r["machine"] is None) == 4' "counts of the machine are stored"
call runs --store exact
expect out '4 runs on a simulated machine' "runs sums up the machines"
call show 8 --store exact
expect out 'machine  [0-9]+ accesses to lines' "show tells the machine's counts"
call run --store elsewhere -- ./other
call rank --store exact --compare elsewhere
expect err 'no runs of this build' "compare with another program"

# ---- a read without an edge that came before all other threads ----
cat >early.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t ready, go;
static int *options;
static int seen;
static void *use(void *argument)
{
	int early = options != NULL;
	sem_post(&ready);
	if (!getenv("LATE"))
		sem_wait(&go);
	seen = early + (options == NULL); /* the read in question */
	return argument;
}
int main(void)
{
	static int value;
	pthread_t thread;
	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	pthread_create(&thread, NULL, use, NULL);
	sem_wait(&ready);
	if (!getenv("LATE")) {
		options = &value;
		sem_post(&go);
	}
	pthread_join(thread, NULL);
	options = &value;
	return seen;
}
EOF
"$UNSNARL" cc -O0 -g -pthread -o early early.c 2>err
call run -n 4 --store early.store -- ./early
LATE=1 "$UNSNARL" run -n 4 --store early.store -- ./early >out 2>err
call rank --store early.store --json
line=$(grep -n 'the read in question' early.c | cut -d: -f1)
check_json "[f for f in answer[\"findings\"] if f[\"point\"][\"line\"] == $line and f[\"context_needed\"] == 0]" "a read that came before all other threads"
call rank --store early.store --unlabelled --json
check_json "not [f for f in answer[\"findings\"] if f[\"point\"][\"line\"] == $line and f[\"odd\"][\"source\"] is None]" "labels stay out of a ranking without them"

# ---- a write without an edge ----
cat >quiet.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static volatile int ready, value, seen;
static sem_t go, done;
static void *helper(void *argument)
{
	if (getenv("EARLY"))
		seen += ready;
	sem_post(&done);
	sem_wait(&go);
	value = 1;
	sem_post(&done);
	if (!getenv("EARLY")) {
		sem_wait(&go);
		seen += ready;
	}
	return argument;
}
int main(void)
{
	pthread_t thread;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, helper, NULL);
	sem_wait(&done);
	ready = 1; /* over what was read too early */
	sem_post(&go);
	sem_wait(&done);
	int got = value; /* the witness */
	sem_post(&go);
	pthread_join(thread, NULL);
	return got - seen;
}
EOF
"$UNSNARL" cc -O0 -g -pthread -o quiet quiet.c 2>err
call run -n 4 --store quiet.store -- ./quiet
EARLY=1 "$UNSNARL" run -n 4 --store quiet.store -- ./quiet >out 2>err
call rank --store quiet.store --json
line=$(grep -n 'read too early' quiet.c | cut -d: -f1)
witness=$(grep -n 'the witness' quiet.c | cut -d: -f1)
check_json "[(f[\"point\"][\"line\"], f[\"silent\"]) for f in answer[\"findings\"] if f[\"point\"][\"line\"] in ($line, $witness)] == [($line, True), ($witness, False)]" "a write that only contexts tell of comes before what they tell it of"
check_json "[a[\"line\"] for f in answer[\"findings\"] if f[\"silent\"] for a in f[\"accesses\"]][0] == $line" "it is among its own accesses"
call rank --store quiet.store
expect out 'such a write is' "a write without an edge, in words"
python3 -c 'import sys
sys.exit(any(len(l.rstrip("\n")) > 80 for l in open("out", encoding="utf-8")))'
verdict $? "a write without an edge fits 80 columns"
call rank --store quiet.store --formula paper --json
check_json 'not [f for f in answer["findings"] if f["silent"]]' "the paper's formula knows no such writes"

# ---- in the field ----
call run -n 20 --observe edges --store field -- ./stats
call rank --store field --export graph --log relative
expect err 'absolute path' "a relative log"
call rank --store field --export graph --log "$folder/log"
expect_status 0 "export"
expect out 'UNSNARL_MONITOR=graph' "export"
# The program has a bug of its own: it fails now and then without anybody's help.
good_run() {
	local tries
	for tries in 1 2 3 4 5 6 7 8 9 10 11 12; do
		./stats >out 2>err && return
	done
	return 1
}
good_run
cp out plain
UNSNARL_MONITOR=graph good_run
verdict $? "a monitored program"
[ ! -s err ]
verdict $? "the monitor is silent"
cmp -s plain out
verdict $? "a monitored program prints the same"
# Of another program's tests nothing is known: all it does is news.
call run -n 1 --observe edges --label pass --store foreign -- ./other
call rank --store foreign --export foreign.graph --campaign 1
UNSNARL_MONITOR=foreign.graph UNSNARL_MONITOR_LOG=news ./stats >out 2>err
[ -s news ] && [ "$(($(stat -c %s news) % 65536))" -eq 0 ]
verdict $? "the log is in blocks"
call rank news --store field --json
[ "$status" -le 1 ]
verdict $? "a log of what the tests know: exit status $status"
# One passed run teaches little: runs with delays do what it did not.
call run --observe edges --label pass --store little -- ./stats
call rank --store little --campaign 1 --export little.graph --threshold 5
for _ in 1 2 3 4 5 6 7 8; do
	UNSNARL_MONITOR=little.graph UNSNARL_MONITOR_LOG=news2 ./stats >/dev/null 2>&1
done
call rank news2 --store little --json
expect_status 1 "rank LOG"
check_json 'answer["findings"] and answer["findings"][0]["runs"]["passed"] == 1' "rank LOG"

# ---- bad files ----
for bad in "" "head -c 100 graph" "head -c 2000 graph" "cat graph graph" "head -c 5000 /dev/urandom"; do
	${bad:-true} >bad.graph
	UNSNARL_MONITOR=bad.graph UNSNARL_MONITOR_LOG=never good_run
	verdict $? "the program runs with '$bad' as its graph"
	expect err 'unsnarl monitor: .*unobserved' "a bad graph: '$bad'"
done
python3 - <<'PY'
import random
graph = bytearray(open("graph", "rb").read())
random.seed(3)
for i in range(40):
    bad = bytearray(graph)
    for _ in range(8):
        bad[random.randrange(len(bad))] = random.randrange(256)
    open(f"bad{i}.graph", "wb").write(bad)
news = bytearray(open("news", "rb").read())
for i in range(40):
    bad = bytearray(news)
    for _ in range(12):
        bad[random.randrange(8, 4000)] = random.randrange(256)
    open(f"bad{i}.log", "wb").write(bad)
PY
crashes=0
for i in $(seq 0 39); do
	UNSNARL_MONITOR=bad$i.graph UNSNARL_MONITOR_LOG=never ./stats >out 2>err
	[ $? -le 1 ] || crashes=$((crashes + 1))
	call rank bad$i.log --store field
	[ "$status" -le 2 ] || crashes=$((crashes + 1))
done
[ "$crashes" -eq 0 ]
verdict $? "$crashes crashes on damaged graphs and logs"
UNSNARL_MONITOR=/nonexistent good_run
verdict $? "a graph that is not there"
UNSNARL_MONITOR=foreign.graph UNSNARL_MONITOR_LOG=/nonexistent/log good_run
verdict $? "a log that cannot be written"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
