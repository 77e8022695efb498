#!/usr/bin/env bash
# Sites of synchronisation calls: the table names each call with the program's
# line, in C and C++, optimised or not; the runtime learns the number of the site
# before the call; the ids of accesses do not depend on the calls between them.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"
PROGRAMS=$SOURCE/tests/sync_sites

# Every site of an ELF file: number from 1, id, kind, file, line, variable (model/unit_format.h).
sites() { # sites FILE
	python3 - "$1" <<'PY'
import os, struct, subprocess, sys, tempfile
with tempfile.NamedTemporaryFile() as table:
    subprocess.run(["objcopy", "-O", "binary", "--only-section=unsnarl_units", sys.argv[1], table.name], check=True)
    data = table.read()
at = number = 0
while at < len(data):
    magic, version, size, _, nsites, strings = struct.unpack_from("<QIIQII", data, at)
    def text(offset):
        start = at + strings + offset
        return data[start:data.index(b"\0", start)].decode()
    for i in range(nsites):
        id, line, column, _, function, file, variable, kind, _ = struct.unpack_from("<QIIIIIIII", data, at + 32 + i * 40)
        number += 1
        print(number, f"{id:016x}", kind, os.path.basename(text(file)), line, text(variable) or "-")
    at += size
PY
}

# Compares the table with the comments of the source: named FILE. A name with ? may be missing.
named() {
	sites object.o | awk '$3 == 5 { print $4, $5, $6 }' >all
	python3 - "$1" >out 2>err <<'PY'
import os, re, sys
wanted, optional = set(), set()
name = os.path.basename(sys.argv[1])
for number, line in enumerate(open(sys.argv[1]), 1):
    found = re.search(r"sync: ([^*\n]*)", line)
    for word in found.group(1).split() if found else []:
        (optional if word.endswith("?") else wanted).add((name, str(number), word.rstrip("?")))
have = {tuple(line.split()) for line in open("all")}
for place in sorted(wanted - have):
    print("missing:", *place)
for place in sorted(have - wanted - optional):
    print("too many:", *place)
sys.exit(wanted - have != set() or have - wanted - optional != set())
PY
}

test_names() {
	local level
	for level in -O0 -O1 -O2 -O3; do
		"$UNSNARL" cc "$level" -w -c -o object.o "$PROGRAMS/calls.c" >out 2>err && named "$PROGRAMS/calls.c"
		verdict $? "the table of a C file names its synchronisation calls at $level"
		"$UNSNARL" c++ -std=c++20 "$level" -w -c -o object.o "$PROGRAMS/calls.cc" >out 2>err &&
			named "$PROGRAMS/calls.cc"
		verdict $? "the table of a C++ file names its synchronisation calls at $level"
	done
	"$UNSNARL" cc -O2 -D_FORTIFY_SOURCE=2 -w -c -o object.o "$PROGRAMS/calls.c" >out 2>err &&
		named "$PROGRAMS/calls.c"
	verdict $? "checked variants of functions have their plain names"
}

# Both what it is and what it does: a hooked access before, and a call.
test_both() {
	echo '#include <unistd.h>
char buffer[8]; long get(int file) { return read(file, buffer, 8); }' >both.c
	"$UNSNARL" cc -O1 -c -o both.o both.c >out 2>err && sites both.o >out
	grep -q ' 2 both.c 2 buffer' out && grep -q ' 5 both.c 2 read$' out
	verdict $? "read is an access and a synchronisation call"
}

# The number in the thread at the time of the call, over two units.
test_numbers() {
	local level
	cat >one.c <<'C'
#include <unistd.h>
int first, second;
void two(void);
void elsewhere(void);
int main(void)
{
	first = lockf(0, 7, 0);
	elsewhere();
	if (first == 0)
		second = lockf(0, 8, 0);
	two();
	lockf(0, 10, 0);
	elsewhere();
}
C
	cat >two.c <<'C'
#include <unistd.h>
void two(void)
{
	lockf(0, 3, 0);
}
C
	for level in -O0 -O2; do
		clang-19 -w -I"$SOURCE" -O1 -c -o where.o "$PROGRAMS/where.c" >out 2>err &&
			"$UNSNARL" cc "$level" -o numbers one.c two.c where.o >out 2>err &&
			"$UNSNARL" exec -- ./numbers >numbers.out 2>err &&
			sites numbers | awk '$3 == 5 { print ($4 == "one.c" ? ($5 == 7 ? 7 : $5 == 10 ? 8 : 10) : 3), $1 }' >wanted &&
			sort -n numbers.out >out && sort -n wanted | cmp -s - out && [ "$(wc -l <out)" -eq 4 ]
		verdict $? "the thread knows its synchronisation call's site at $level"
		./numbers >out 2>err
		verdict $? "a program with such sites runs alone at $level"
	done
}

# Calls more or fewer leave the ids of the accesses alone.
test_ids() {
	cat >ids.c <<'C'
#include <pthread.h>
extern pthread_mutex_t mutex;
int a, b;
void both(void)
{
	a++;
	LOCK b++;
}
C
	"$UNSNARL" cc -O2 "-DLOCK=pthread_mutex_lock(&mutex);" -c -o with.o ids.c >out 2>err &&
		"$UNSNARL" cc -O2 -DLOCK= -c -o without.o ids.c >out 2>err &&
		sites with.o | awk '$3 != 5 { print $2, $3, $6 }' >with &&
		sites without.o | awk '{ print $2, $3, $6 }' >without && cmp with without >out && [ "$(wc -l <with)" -eq 4 ]
	verdict $? "the ids of accesses do not change with calls between them"
}

test_show() {
	cat >show.c <<'C'
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *work(void *none)
{
	pthread_mutex_lock(&mutex);
	total++; pthread_mutex_unlock(&mutex);
	return none;
}
int main(void)
{
	pthread_t one, two;
	pthread_create(&one, 0, work, 0);
	pthread_create(&two, 0, work, 0);
	pthread_join(one, 0);
	pthread_join(two, 0);
	return total != 2;
}
C
	"$UNSNARL" cc -O1 -o show show.c >out 2>err && "$UNSNARL" run -n 3 -- ./show >out 2>err
	verdict $? "a program with synchronisation runs"
	"$UNSNARL" show show.c:6 >out 2>err
	[ $? -eq 2 ] && grep -q 'show.c:6 is a call of pthread_mutex_lock' err
	verdict $? "show says what a synchronisation call is"
	"$UNSNARL" show show.c:7 >out 2>err && grep -q 'Also there: #[0-9]*, a call of pthread_mutex_unlock' out
	verdict $? "show names the synchronisation call beside an access"
	"$UNSNARL" show --json show.c:7 >out 2>err &&
		python3 -c 'import json, sys
kinds = {(site["kind"], site["variable"]) for site in json.load(sys.stdin)["sites"]}
sys.exit(not {("sync", "pthread_mutex_unlock"), ("write", "total")} <= kinds)' <out
	verdict $? "show --json has it as a site of kind sync"
}

test_names
test_both
test_numbers
test_ids
test_show
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
