#!/bin/bash
# The emergency patch that diagnose offers, from end to end: named in both forms of the
# answer with what it was tried on and what it costs, and a program built with it holds.
set -u
unsnarl=$(realpath "${UNSNARL:?}")
source_dir=$(realpath "${SOURCE:?}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failed=0

check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then echo "ok $name"; else echo "not ok $name"; failed=1; fi
}

cp "$source_dir/tests/guard/count.c" .
flags="-O2 -g -pthread"
$unsnarl cc $flags -o count count.c || exit 2
$unsnarl diagnose --json --time 20 -- ./count >found.json
check "it fails" test $? = 1
check "the answer has the patch, its proof and its cost" python3 -c '
import json
patch = json.load(open("found.json"))["patch"]
proof = patch["proof"]
assert patch["guard_set"] == ".unsnarl/patch.guard" and patch["accesses"] > 0
assert proof["failed"] >= 3 and proof["held"] == 0 and proof["plain_s"] > 0 and proof["patched_s"] > 0'
check "which is a guard set" grep -q '^unsnarl guard set [0-9]' .unsnarl/patch.guard
check "a build with it" $unsnarl cc --guard .unsnarl/patch.guard --limit 20000 $flags -DSLOW -o patched count.c
plain=0 held=0
for i in 1 2 3 4 5; do
	UNSNARL_GUARD=off ./patched >/dev/null || plain=$((plain + 1))
	./patched >/dev/null || held=$((held + 1))
done
check "fails with the guard off ($plain of 5)" test $plain -ge 1
check "and never with it" test $held = 0

rm -r .unsnarl
$unsnarl diagnose --time 20 -- ./count >found.txt
check "the terminal has it too" grep -q '^Meanwhile unsnarl cc --guard .unsnarl/patch.guard' found.txt
check "with its cost" grep -q 'processor time' found.txt
check "within 80 columns" test "$(LC_ALL=C.UTF-8 wc -L <found.txt)" -le 80

# A correct program has none.
sed 's/long now = look();/long now = 0;/; s/total = now + 1/total = total + 1/' count.c >right.c
$unsnarl cc $flags -o right right.c
$unsnarl diagnose --json --time 3 --budget 200 -- ./right >found.json
check "a correct program has no patch" python3 -c '
import json
assert json.load(open("found.json"))["patch"] is None'
exit $failed
