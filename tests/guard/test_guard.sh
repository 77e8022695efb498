#!/bin/bash
# Guarded programs from end to end: learn, build, violations held and logged, relaxed,
# told; an observed program under guard; an emergency patch; and what must not hurt:
# a full disk, limits on files, many threads, forks, signals, emptied sets.
set -u
unsnarl=$(realpath "${UNSNARL:?}")
source_dir=$(realpath "${SOURCE:?}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failed=0

ok() { echo "ok $1"; }
bad() { echo "not ok $1"; failed=1; }
check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then ok "$name"; else bad "$name"; fi
}
count() { # PATTERN FILE
	grep -c -- "$1" "$2" 2>/dev/null || true
}

for name in order update crowd; do cp "$source_dir/tests/guard/$name.c" .; done
flags="-O2 -g -pthread"

# --- learning ---
$unsnarl cc $flags -o order order.c || exit 2
# A rare order may come late among the runs: then it takes more of them.
for more in 1 2 3 4 5; do
	check "learn from runs" $unsnarl learn -o order.guard -n 80 -- ./order right >learn.txt
	grep -q '^Converged' learn.txt && break
done
check "told in 80 columns" awk 'length > 80 && !/[^ -~]/ { exit 1 }' learn.txt
check "it has converged" grep -q '^Converged' learn.txt
check "the set names the read" grep -q ' read .*order.c .* use shared.value ' order.guard
$unsnarl learn --explain order.c:34 >explain.txt
check "explained: the read comes after the write" grep -q 'write of shared.value at order.c:24 in make' explain.txt
check "and after nothing else" test "$(count 'of shared.value at' explain.txt)" = 2
$unsnarl learn --json -o order.json.guard >learn.json
check "JSON is JSON" python3 -c 'import json; j = json.load(open("learn.json")); assert j["converged"] and j["curve"]'
$unsnarl learn --campaign 99 2>err.txt
check "no such campaign" test $? = 2
$unsnarl learn --store nowhere 2>err.txt
check "no such store" test $? = 2

# --- what cannot be is said before any run ---
refused() { # NAME PATTERN OPTIONS...
	local name=$1 pattern=$2
	shift 2
	$unsnarl learn --store untouched "$@" 2>err.txt
	check "$name" test "$? $(count "$pattern" err.txt) $(ls -d untouched 2>/dev/null)" = "2 1 "
}
refused "a share that is none" 'is no share' --bias much -- ./order
refused "a file that cannot be written" 'cannot write /nowhere/set' -o /nowhere/set -- ./order
refused "a place that is none" 'is no place' --explain order.c -- ./order
refused "a program that is none" 'cannot find the program' -- ./nothing
for option in --guard --guard-log --limit; do
	$unsnarl cc order.c $option 2>err.txt
	check "$option without a value" test "$? $(count "$option wants a value" err.txt)" = "2 1"
done

# --- programs that teach nothing ---
echo 'int main(int argc, char **argv) { return argc > 1; }' >alone.c
$unsnarl cc $flags -o alone alone.c
for verb in "learn" "expose"; do
	$unsnarl $verb --store alone.store -- ./alone 2>err.txt
	check "$verb: its runs passed, and nothing is shared" test "$? $(count 'runs of .*alone passed' err.txt)" = "2 1"
done
$unsnarl learn --store bad.store -- ./alone bad 2>err.txt
check "no run passes: it does not go on for long" grep -q 'all 60 runs of ./alone failed' err.txt

# --- a guarded build ---
check "a guarded build" $unsnarl cc --guard order.guard --limit 20000 $flags -o guarded order.c
plain=0 held=0
for i in 1 2 3 4 5 6 7 8; do
	UNSNARL_GUARD=off ./guarded wrong >/dev/null || plain=$((plain + 1))
	UNSNARL_GUARD_LOG=guard.log ./guarded wrong >/dev/null || held=$((held + 1))
done
check "it fails without the guard ($plain of 8)" test $plain -ge 1
check "never with it" test $held = 0
check "what was held is logged as resolved" test "$(count ' resolved ' guard.log)" -ge 1
check "and nothing as unresolved" test "$(count ' unresolved ' guard.log)" = 0
UNSNARL_GUARD_LOG=right.log ./guarded right >/dev/null
check "nothing is said of the right order" test ! -e right.log
: >victim.txt
ln -s victim.txt link.log
ln victim.txt hard.log
for i in 1 2 3; do
	UNSNARL_GUARD_LOG=link.log ./guarded wrong >/dev/null
	UNSNARL_GUARD_LOG=hard.log ./guarded wrong >/dev/null
done
check "a log that somebody else laid there is not written to" test ! -s victim.txt
$unsnarl guard --report guard.log >report.txt
check "violations are findings" test $? = 1
check "in 80 columns" awk 'length > 80 { exit 1 }' report.txt
check "told in the source" grep -q 'read of shared.value at order.c:34 in use' report.txt
$unsnarl guard --report guard.log --json >report.json
check "as JSON too" python3 -c 'import json; f = json.load(open("report.json"))["findings"][0]; assert f["resolved"] and f["accesses"][-1]["line"] == 34'

# --- an unrelated edit ---
{ echo 'static int unrelated(int a) { return a + 1; }'; sed 's/argc > 1/unrelated(argc) > 2/' order.c; } >edited.c
mv edited.c order.c
check "the set fits after an unrelated edit" $unsnarl cc --guard order.guard --limit 20000 $flags -o edited order.c
held=0
for i in 1 2 3; do ./edited wrong >/dev/null || held=$((held + 1)); done
check "and still holds" test $held = 0

# --- the limit ---
$unsnarl cc --guard order.guard --limit 5 $flags -o short order.c
begin=$(date +%s)
UNSNARL_GUARD_LOG=short.log timeout 60 ./short wrong >/dev/null
check "stalls end at the limit" test $(($(date +%s) - begin)) -lt 30

# --- what is not guarded is what clang makes of it ---
cat >aside.c <<END
#include <stdlib.h>
#include <string.h>
int total;
char *aside(const char *text)
{
	char copy[64];
	char *kept = malloc(64);
	strncpy(copy, text, 63);
	for (int i = 0; i < 63; i++) total += copy[i];
	return kept ? memcpy(kept, copy, 64) : kept;
}
END
body() { objdump -d --no-show-raw-insn "$1" | sed 1,3d; }
check "the set says what memory is touched" grep -q ' in lasting' order.guard
sed 's/ in stack$/ in lasting/' order.guard >still.guard
$unsnarl cc -c --guard still.guard $flags -o aside.o aside.c
clang-19 -c $flags -o aside.plain.o aside.c
check "a unit with nothing to guard is plain code" test "$(body aside.o)" = "$(body aside.plain.o)"
fresh() { # SET SYMBOL: does code made with it announce memory?
	$unsnarl cc -c --guard "$1" $flags -o aside.o aside.c && objdump -dr aside.o | grep -q "$2\>"
}
check "with accesses to stacks its variables are announced" fresh order.guard unsnarl_guard_fresh_stack
check "and no blocks" test "$(objdump -dr aside.o | grep -c 'unsnarl_guard_fresh\>')" = 0
sed 's/ in [a-z+]*$//' order.guard >untold.guard
check "both when the set does not say" fresh untold.guard unsnarl_guard_fresh_stack
check "blocks too" fresh untold.guard unsnarl_guard_fresh
cat >thrown.cpp <<END
struct kept { ~kept(); };
void use(char *, kept *);
char *either(bool fresh, char *other)
{
	kept k;
	char *block = fresh ? new char[64] : other;
	use(block, &k);
	return block;
}
END
$unsnarl c++ -c --guard untold.guard -O2 -g -o thrown.o thrown.cpp
check "also those from calls that may throw, where others arrive" test "$(objdump -dr thrown.o | grep -c 'unsnarl_guard_fresh\>')" = 1

# --- an observed program under guard ---
cp "$source_dir/tests/guard/order.c" .
UNSNARL_GUARD= $unsnarl guard --limit 20000 --log armed.log order.guard -- ./order wrong >armed.txt
check "an observed program is held as well" test "$(cat armed.txt)" = 42
check "and logs" test "$(count ' resolved ' armed.log)" -ge 1

# --- observed only where memory was shared: the monitor in the field ---
check "a sparse build" $unsnarl cc --sparse order.guard --sample 0 $flags -o sparse order.c
hooks() { objdump -d --no-show-raw-insn "$1" | grep -c 'call.*<unsnarl_'; }
check "has fewer hooks" test "$(hooks sparse)" -lt "$(hooks order)"
# How often the user looks before the value is there differs from run to run: tested until nothing is new.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	rm -f news
	$unsnarl run --store field -n 5 --observe edges -- ./sparse right >/dev/null
	$unsnarl rank --store field --export graph >/dev/null
	UNSNARL_MONITOR=graph UNSNARL_MONITOR_LOG=$PWD/news ./sparse right >/dev/null
	[ -e news ] || break
done
check "the monitor knows what was tested" test ! -e news
for i in 1 2 3 4 5 6 7 8; do UNSNARL_MONITOR=graph UNSNARL_MONITOR_LOG=$PWD/news ./sparse wrong >/dev/null; done
check "and logs what was not" test -s news
$unsnarl cc --sparse order.guard --sample few $flags -o x order.c 2>err.txt
check "a sample that is no number is refused" test $? = 2
check "and says what to give" grep -q 'one in N' err.txt
$unsnarl cc --sparse order.guard --guard order.guard $flags -o x order.c 2>err.txt
check "one build cannot be both" test $? = 2

# --- relax ---
grep ' resolved ' guard.log >held.log
$unsnarl relax --set order.guard -o wide.guard held.log >relax.txt
check "what waiting resolved never happened: relax adds nothing" grep -q '^wide.guard: 0 members added' relax.txt
check "and says so" grep -q 'resolved by waiting' relax.txt
$unsnarl relax --held --set order.guard -o wide.guard guard.log >relax.txt
check "relax adds what came before" grep -q ': [1-9][0-9]* members\? added' relax.txt
$unsnarl cc --guard wide.guard --limit 5 $flags -o wide order.c
UNSNARL_GUARD_LOG=wide.log ./wide wrong >/dev/null
check "what was let in is not held" test "$(count ' read .* after nobody' wide.log)" = 0
$unsnarl relax --bad guard.log >/dev/null
check "of bad runs they are findings" test $? = 1
echo rubbish >rubbish
$unsnarl relax order.guard rubbish 2>err.txt
check "a foreign log is refused" test $? = 2
$unsnarl cc --guard rubbish $flags -o x order.c 2>err.txt
check "a foreign set is refused" test $? = 2
check "with a sentence" grep -q 'no guard set' err.txt
$unsnarl guard order.guard -- /bin/true 2>err.txt
check "a program without hooks is refused" test $? = 2

# --- annotations ---
{
	echo '#include "unsnarl.h"'
	sed 's/^\tpthread_t maker, user;/\tpthread_t maker, user;\n\tUNSNARL_GUARD_ADDRESS(\&shared.value);/' \
		"$source_dir/tests/guard/order.c"
} >marked.c
$unsnarl cc $flags -I"$source_dir/include" -o marked marked.c
$unsnarl learn -n 70 --annotated -o marked.guard -- ./marked right >marked.txt
check "annotated accesses only" test "$(count '^site ' marked.guard)" = 2
$unsnarl cc --guard marked.guard --limit 20000 $flags -I"$source_dir/include" -o marked.guarded marked.c
held=0
for i in 1 2 3; do ./marked.guarded wrong >/dev/null || held=$((held + 1)); done
check "the marked address is held" test $held = 0
sed 's/UNSNARL_GUARD_ADDRESS(&shared.value)/UNSNARL_GUARD_FUNCTION/' marked.c >function.c
$unsnarl cc $flags -I"$source_dir/include" -o function function.c
$unsnarl learn -n 10 --annotated -o function.guard -- ./function right >/dev/null
check "of a marked function its own accesses only" test "$(grep '^site ' function.guard | grep -vc ' main ')" = 0
check "marks are nothing elsewhere" clang-19 -Wall -Werror -pthread -I"$source_dir/include" -o plain marked.c
$unsnarl learn --annotated --campaign 1 2>err.txt
check "without marks there is nothing to guard" test $? = 2

# --- exposing ---
sed 's/while (!wrong \&\& !made)/for (int i = 0; i < 300 \&\& !made; i++)/' "$source_dir/tests/guard/order.c" >hoping.c
$unsnarl cc $flags -o hoping hoping.c
$unsnarl expose --json -n 60 --tries 6 -- ./hoping right >expose.json
check "an order that is only hoped for is exposed" test $? = 1
check "it is the use before the making" python3 -c 'import json; f = json.load(open("expose.json"))["findings"]; assert any([a["line"] for a in g["accesses"]] == [34, 24] for g in f)'
$unsnarl expose -n 60 --tries 3 -- ./order right >expose.txt
check "one that is kept is not" test $? = 0

# --- an emergency patch ---
$unsnarl cc $flags -o update update.c
cat >finding.json <<END
{"program": "$folder/update", "findings": [{"rank": 1, "class": "atomicity-violation", "accesses": [
 {"thread": 1, "kind": "read", "file": "update.c", "line": 15, "column": 0, "function": "add"},
 {"thread": 2, "kind": "write", "file": "update.c", "line": 20, "column": 0, "function": "add"},
 {"thread": 1, "kind": "write", "file": "update.c", "line": 20, "column": 0, "function": "add"}]}]}
END
check "a patch of a finding" $unsnarl guard --only finding.json --limit 20000 -o patch >patch.txt
check "it says what it does" grep -q 'one step for other threads' patch.txt
$unsnarl cc --guard patch $flags -o patched update.c
plain=0 held=0
for i in 1 2 3 4 5 6; do
	UNSNARL_GUARD=off ./patched >/dev/null || plain=$((plain + 1))
	./patched >/dev/null || held=$((held + 1))
done
check "it fails without the patch ($plain of 6)" test $plain -ge 1
check "never with it" test $held = 0
# The other thread changes the same variable elsewhere: the finding does not name that place.
sed -e '/^int main/i static void *put(void *amount)\n{\n\tfor (long i = 0; inside < 1 && i < 30000000; i++)\n\t\t;' \
	-e '/^int main/i \\tshared.total += (long)amount;\n\tinside++;\n\treturn NULL;\n}\n' \
	-e 's/NULL, add,/NULL, i ? put : add,/' update.c >twice.c
sed 's|/update"|/twice"|; s|update\.c|twice.c|g' finding.json >other.json
$unsnarl cc $flags -o twice twice.c
check "a patch knows other places of the variable" $unsnarl guard --only other.json --limit 20000 -o patch
$unsnarl cc --guard patch $flags -o patched twice.c
plain=0 held=0
for i in 1 2 3 4 5 6; do
	UNSNARL_GUARD=off ./patched >/dev/null || plain=$((plain + 1))
	./patched >/dev/null || held=$((held + 1))
done
check "it fails without the patch ($plain of 6), never with it ($held)" test $plain -ge 1 -a $held = 0
check "and into a learned set" $unsnarl guard --only other.json --set order.guard -o both
grep -v "^rule\|^end\|^limit\|^sites" order.guard >before.txt
check "which stays as it was" test "$(grep -c -v -x -F -f both before.txt)" = 0
check "with the rule" test "$(count '^rule' order.guard) $(count '^rule atomic' both)" = "0 1"
$unsnarl cc --guard both --limit 20000 $flags -o patched twice.c
held=0
for i in 1 2 3 4 5 6; do ./patched >/dev/null || held=$((held + 1)); done
check "it never fails with both ($held)" test $held = 0
$unsnarl guard --only rubbish -o x 2>err.txt
check "rubbish is no finding" test $? = 2

# --- what must not hurt ---
$unsnarl cc $flags -o crowd crowd.c
$unsnarl learn -o crowd.guard --free -n 3 -- ./crowd >/dev/null
sed 's/^  after.*/  after/' crowd.guard >empty.guard
$unsnarl cc --guard empty.guard --limit 2 $flags -o crowded crowd.c
for log in crowd.log /dev/full /nowhere/log ""; do
	UNSNARL_GUARD_LOG=$log timeout 120 ./crowded >crowd.txt
	check "a crowd with emptied sets, log '$log'" test "$? $(cat crowd.txt)" = "0 2560 0"
done
check "its log is whole" test "$(count '^violation 1 ' crowd.log)" = "$(wc -l <crowd.log)"
(ulimit -f 0; UNSNARL_GUARD_LOG=limited.log timeout 120 ./crowded) | cat >crowd.txt
check "a limit on files does not end it" test "$(cat crowd.txt)" = "2560 0"
$unsnarl cc -c --guard order.guard $flags -o one.o order.c
$unsnarl cc --guard wide.guard $flags -o mixed one.o 2>err.txt
check "objects of different sets do not link" test $? != 0
exit $failed
