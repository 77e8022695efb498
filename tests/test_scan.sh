#!/usr/bin/env bash
# unsnarl scan from outside: what it must see and see through, with and without the
# optimiser, what it leaves out and why, damaged and foreign bitcode.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"

shapes=$SOURCE/tests/scanned/shapes.c

line() { # line COMMENT: where it stands
	grep -n "/\* $1 \*/" "$shapes" | cut -d: -f1
}

check_json() { # check_json EXPRESSION WHAT: over `answer`, `has` and `lines`
	python3 -c 'import json, sys
answer = json.load(open("out"))
def lines(c): return {a["line"] for a in c["accesses"]}
def has(a, b, kind=None):
    return [c for c in answer["findings"] if {int(a), int(b)} <= lines(c) and (not kind or c["class"] == kind)]
sys.exit(not eval(sys.argv[1]))' "$1" 2>>err
	verdict $? "$2: $1"
}

for level in -O0 -O2; do
	"$UNSNARL" cc $level -g -pthread -o shapes "$shapes" 2>err
	verdict $? "build $level"
	call scan --json --all ./shapes
	expect_status 1 "scan $level"
	check_json "has($(line 'late: by the thread'), $(line 'late: by main'), 'data-race')" "$level: a plain race"
	check_json "has($(line 'late: by the thread'), $(line 'late: by the thread'))" "$level: a thread against its like"
	check_json "not has($(line 'started: before the threads'), $(line 'started: by main'))" "$level: before creation"
	check_json "not any($(line 'thread-local') in lines(c) for c in answer['findings'])" "$level: thread-local"
	check_json "has($(line 'guided: read'), $(line 'guided: written')) and not has($(line 'guided: read'), $(line 'guided: written'), 'data-race')" "$level: reader-writer lock"
	check_json "not has($(line 'under the wrapped lock'), $(line 'under the wrapped lock'), 'data-race')" "$level: a wrapped lock"
	check_json "has($(line 'under the wrapped lock'), $(line 'under the wrapped lock'), 'order-violation')" "$level: a wrapped lock leaves the order"
	check_json "not has($(line 'under the tried lock'), $(line 'under the tried lock'), 'data-race')" "$level: trylock"
	check_json "has($(line 'one before two'), $(line 'two before one'), 'deadlock')" "$level: a circle of locks"
	check_json "not any($(line 'used: after the joins') in lines(c) for c in answer['findings'])" "$level: after the joins"
	check_json "answer['scan']['pruned']['before-create'] > 0 and answer['scan']['pruned']['after-join'] > 0" "$level: counts of rules"
done

# ---- two variables that belong together ----
"$UNSNARL" cc -O1 -fno-inline -g -pthread -o two "$SOURCE/tests/scanned/two.c" 2>err
verdict $? "build two"
call scan --json --all ./two
check_json "[c for c in answer['findings'] if c['class'] == 'multi-variable-atomicity-violation']" "two variables"
shapes=$SOURCE/tests/scanned/two.c
check_json "any([a['line'] for a in c['accesses']] == [$(line 'apart: length'), $(line 'together: length'), $(line 'together: capacity'), $(line 'apart: capacity')] for c in answer['findings'])" "apart here, together there"
check_json "not any($(line 'no lock: one') in lines(c) and 'multi' in c['class'] for c in answer['findings'])" "what no lock holds together is no pair"
check_json "not any('multi' in c['class'] and c['accesses'][0]['line'] == $(line 'together: length') for c in answer['findings'])" "one section is whole"
ls .unsnarl/scan-*.json >kept 2>&1
verdict $? "the list is kept in the store"
shapes=$SOURCE/tests/scanned/shapes.c

call scan --why "shapes.c:$(line 'started: before the threads'),shapes.c:$(line 'started: by main')" ./shapes
expect out 'before the other.s thread is created' "why: before creation"
call scan --why "shapes.c:$(line 'late: by the thread'),shapes.c:$(line 'late: by main')" ./shapes
expect out 'a candidate' "why: a candidate"
call scan --why "shapes.c:1,shapes.c:2" ./shapes
expect out 'nothing there touches memory' "why: nothing there"
expect_mistake 'takes two places' scan --why shapes.c:1 ./shapes
expect_mistake 'a place is FILE:LINE' scan --why shapes.c,b ./shapes
call scan --why-pruned -n 1 ./shapes
expect out 'cannot happen at a time: [1-9]' "why-pruned"
expect out 'more; --all shows them' "the rest is counted"
[ "$(awk 'length > 120' out | wc -l)" -eq 0 ]
verdict $? "lines stay short"

# ---- what keeps accesses apart without a lock ----
shapes=$SOURCE/tests/scanned/phases.c
for level in -O0 -O2; do
	"$UNSNARL" cc $level -g -pthread -o phases "$shapes" 2>err
	verdict $? "build phases $level"
	call scan --json --all ./phases
	check_json "all('barrier' in ' '.join(c['notes']) for c in has($(line 'before the barrier'), $(line 'after the barrier'), 'data-race')) and has($(line 'before the barrier'), $(line 'after the barrier'), 'data-race')" "$level: a barrier, in a wrapper"
	check_json "has($(line 'no barrier behind this'), $(line 'no barrier before this'), 'data-race') and not any('barrier' in ' '.join(c['notes']) for c in has($(line 'no barrier behind this'), $(line 'no barrier before this'), 'data-race'))" "$level: no barrier"
	check_json "all('semaphore' in ' '.join(c['notes']) for c in has($(line 'handed over'), $(line 'taken over'), 'data-race')) and has($(line 'handed over'), $(line 'taken over'), 'data-race')" "$level: a semaphore"
	check_json "not has($(line 'handed over'), $(line 'after the join of the wrapped'))" "$level: creation in a wrapper, joined by its handle"
	check_json "not any(lines(c) == {$(line 'handed over')} for c in answer['findings'])" "$level: each call of the wrapper is one thread"
	check_json "all(c['score'] < 0.5 for c in has($(line 'looks again'), $(line 'one less'), 'atomicity-violation'))" "$level: a loop that waits looks again"
	check_json "has($(line 'joins under a lock'), $(line 'needed to end'), 'deadlock')" "$level: a join under a lock"
done

check_json "any(c['score'] > 0.5 for c in has($(line 'looked at too early'), $(line 'set while it waits')))" "a wait because of an old look"

shapes=$SOURCE/tests/scanned/vector.cpp
line() { grep -n "// $1\$" "$shapes" | cut -d: -f1; }
"$UNSNARL" c++ -O2 -g -pthread -o vector "$shapes" 2>err
verdict $? "build vector"
call scan --json --all ./vector
check_json "has($(line check), $(line act), 'atomicity-violation') and has($(line check), $(line act), 'atomicity-violation')[0]['rank'] <= 3" "C++: check and act, first of all"
check_json "all('join' in ' '.join(c['notes']) for c in answer['findings'] if $(line 'freed behind the joins') in lines(c))" "C++: freed behind the joins"
check_json "not any('std_thread.h' in r for r in answer['scan']['threads']) and any('vector.cpp:$(line 'begins here')' in r for r in answer['scan']['threads'])" "C++: a thread is named by the program's line"
line() { grep -n "/\* $1 \*/" "$shapes" | cut -d: -f1; }
shapes=$SOURCE/tests/scanned/shapes.c

# ---- a library of its own, and bitcode in files ----
cat >lib.c <<'C'
int shared_total;
void library_add(int n) { shared_total += n; }
C
cat >user.c <<'C'
#include <pthread.h>
void library_add(int);
static void *run(void *n) { library_add(*(int *)n); return n; }
int main(void) { pthread_t a, b; int n = 1; pthread_create(&a, 0, run, &n); pthread_create(&b, 0, run, &n);
pthread_join(a, 0); pthread_join(b, 0); return 0; }
C
"$UNSNARL" cc -O2 -g -fPIC -shared -o libadd.so lib.c 2>err &&
	"$UNSNARL" cc -O2 -g -pthread -o user user.c ./libadd.so -Wl,-rpath,'$ORIGIN' 2>err
verdict $? "build with a library"
call scan --json ./user
check_json "any(c['class'] == 'data-race' and c['variables'] == ['shared_total'] for c in answer['findings'])" "in a library"
clang-19 -O1 -g -c -emit-llvm lib.c -o lib.bc && clang-19 -O1 -g -c -emit-llvm user.c -o user.bc
call scan --json user.bc lib.bc
check_json "any(c['variables'] == ['shared_total'] for c in answer['findings'])" "bitcode in files"

# ---- what cannot be read ----
expect_mistake 'no program to look at' scan
expect_mistake 'cannot read' scan ./missing
expect_mistake 'holds no bitcode' scan /bin/true
expect_mistake 'is neither a program nor bitcode' scan "$shapes"
: >empty
expect_mistake 'is an empty file' scan ./empty
expect_mistake 'is a folder' scan .
head -c 3000 user.bc >cut.bc
expect_mistake 'cannot be read' scan ./cut.bc

# Every damage is a sentence or an answer, never a crash.
cp user good
size=$(stat -c %s good)
python3 - "$size" <<'P'
import random, sys
random.seed(7)
data = open("good", "rb").read()
for i in range(40):
    bad = bytearray(data)
    if i % 2:
        bad = bad[: random.randrange(64, len(bad))]
    else:
        for _ in range(1 + i):
            bad[random.randrange(len(bad))] = random.randrange(256)
    open(f"bad{i}", "wb").write(bad)
code = open("user.bc", "rb").read()
for i in range(40):
    bad = bytearray(code)
    for _ in range(1 + i % 4):
        bad[random.randrange(len(bad))] ^= 1 << random.randrange(8)
    open(f"bad{40 + i}", "wb").write(bad)
P
broken=0
for i in $(seq 0 79); do
	call scan "./bad$i"
	[ "$status" -le 2 ] && { [ "$status" -ne 2 ] || [ -s err ]; } || broken=$((broken + 1))
done
[ $broken -eq 0 ]
verdict $? "damaged programs: $broken of 80 ended badly"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
