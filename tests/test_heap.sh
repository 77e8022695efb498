#!/usr/bin/env bash
# Memory faults under control: each kind is found although nothing crashes, with where the block
# was allocated, freed and used, and found again by replay; correct programs are never accused.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"

heap=$SOURCE/tests/heap
"$UNSNARL" cc -O2 -g -pthread -o faults "$heap/faults.c" 2>err
verdict $? "build faults"

line_of() { # line_of TEXT: the first line of faults.c that has it
	grep -nF -- "$1" "$heap/faults.c" | head -n 1 | cut -d: -f1
}

# fault ARGUMENTS KIND USED FREED: by the texts of their lines; FREED may be empty
fault() {
	local name=$1 kind=$2 used=$3 freed=$4
	rm -rf .unsnarl
	# shellcheck disable=SC2086
	call hunt --budget 1 -- ./faults $name
	expect_status 1 "$name"
	expect out "$kind" "$name"
	expect out "allocated it at .*faults.c:$(line_of 'block = malloc')" "$name"
	expect out "(uses it|frees it again) at .*faults.c:$(line_of "$used")" "$name"
	[ -z "$freed" ] || expect out "freed it at .*faults.c:$(line_of "$freed")" "$name"
	call replay last -n 2
	expect out '^2 of 2 identical' "$name again"
}

fault read 'after it was freed' 'sink = block[3]' 'free(block)'
fault write 'after it was freed' 'block[3] = 1' 'free(block)'
fault memcpy 'after it was freed' 'memcpy(copy' 'free(block)'
fault strlen 'after it was freed' 'strlen(block)' 'free(block)'
fault strcmp 'after it was freed' 'strcmp(block' 'free(block)'
fault moved 'after it was freed' 'sink = block[3]' 'realloc(block'
fault twice 'freed twice' 'free(block)' 'free(block)'
fault behind 'beyond a heap block' 'block[eleven] = 1' ''
fault far 'beyond a heap block' 'block[eleven + 20]' ''
fault before 'beyond a heap block' 'block[-(long)eleven' ''
fault search 'beyond a heap block' 'strchr(block' ''
fault fill 'beyond a heap block' 'memset(block' ''
fault 'copy 01234567890' 'beyond a heap block' 'strcpy(block, argv' ''
call hunt --json --budget 1 -- ./faults read
python3 -c 'import json
finding = json.load(open("out"))["findings"][0]
assert finding["class"] == "memory-error", finding
assert [a["kind"] for a in finding["accesses"]] == ["allocate", "free", "read"], finding' 2>err
verdict $? "hunt --json"

# Only under control: a free run is as it would be without us.
call run -n 2 --json -- ./faults read
expect_status 0 "a free run"

# ---- nobody is accused ----
rm -rf .unsnarl
"$UNSNARL" cc -O2 -g -pthread -o sound "$heap/sound.c" 2>err
verdict $? "build sound"
"$UNSNARL" cc -O2 -g -pthread -o own_malloc "$heap/own_malloc.c" 2>err
verdict $? "build own_malloc"
"$UNSNARL" c++ -O2 -g -pthread -o sound_cc "$heap/sound.cc" 2>err
verdict $? "build sound.cc"
for program in './faults none' ./sound './sound fork' ./own_malloc ./sound_cc; do
	# shellcheck disable=SC2086
	call hunt --budget 40 -- $program
	expect_status 0 "$program"
	expect out '^No schedule failed' "$program"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
