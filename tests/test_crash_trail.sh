#!/bin/bash
# diagnose asks isolate wherever a program crashes: agreement is said, a proven cause stays the first, a crash in every
# schedule is answered by it, and --time is kept.
set -u
: "${UNSNARL:?}" "${SOURCE:?}"
UNSNARL=$(realpath "$UNSNARL")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
say() { echo "not ok: $1"; failed=1; }

"$UNSNARL" exec --loom binary -- true 2>no-loom || { cat no-loom; exit 77; }

# expect NAME 'CONDITION': of the answer `a` in NAME.json.
expect() {
	python3 - "$1" "$2" <<'PY' || failed=1
import json, sys
a = json.load(open(sys.argv[1] + ".json"))
i = a["isolate"]
first = a["findings"][0] if a["findings"] else {"verdict": "none", "accesses": []}
lines = {x["line"] for x in first["accesses"]}
if not eval(sys.argv[2]):
    sys.exit(f"not ok: {sys.argv[1]}: not {sys.argv[2]}: {first['verdict']}, lines {sorted(lines)}, {i}")
PY
}

cat >closing.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int *page;
static void *reader(void *arg) {
	if (page)
		page[0]++;
	return arg;
}
static void *closer(void *arg) {
	page = NULL;
	return arg;
}
int main(void) {
	pthread_t a, b;
	page = calloc(4, sizeof *page);
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, closer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
# Built with hooks the program is made once more without; without hooks its failing schedule is followed.
"$UNSNARL" cc -g -O0 -pthread -w closing.c -o hooked || exit 1
clang-19 -g -O0 -pthread -w closing.c -o plain || exit 1
for name in hooked plain; do
	"$UNSNARL" diagnose --seed 1 --time 60 --store $name.store --json -- ./$name >$name.json 2>$name.err
	[ $? = 1 ] || say "$name: the exit status is not 1: $(cat $name.err)"
	expect $name 'first["verdict"] == "proven" and {7, 11} <= lines'
done
# On a slow machine the hunt without hooks may find nothing in the little time that it has beside a proven cause.
expect hooked 'i["agreement"] in ("same", "partly", "crash-not-met") and i["summary"]'
expect plain 'i["agreement"] == "same" and "the same accesses" in i["summary"]'
# Beside a cause that experiments have shown one execution is enough, and isolate claims nothing of its own.
expect plain 'i["agreement"] == "same" and i["finding"] is None'
expect plain 'not any(o["method"] == "isolate" and o["findings"] for o in a["opinions"])'
"$UNSNARL" diagnose --seed 1 --time 60 --store text.store -- ./plain >text 2>text.err
tr -s ' \n' '  ' <text | grep -q 'The values that the crash hangs on, followed back in one execution, lead to the same accesses' ||
	say "agreement is not said: $(cat text text.err)"

# In every schedule: isolate's is the answer, and likely only, since a write to the program's own variable may be meant.
cat >always.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static int *page, at;
static __attribute__((noinline)) void drop(void) {
	page = NULL;
}
static __attribute__((noinline)) void go(int by) {
	at += by * 100000000;
}
int main(int argc, char **argv) {
	page = calloc(4, sizeof *page);
	if (argc > 1)
		go(argc);
	else
		drop();
	printf("%d\n", page[at]);
	return 0;
}
C
"$UNSNARL" cc -g -O0 -w always.c -o always || exit 1
"$UNSNARL" diagnose --seed 1 --time 30 --json -- ./always >always.json 2>&1
expect always 'i["agreement"] == "alone" and first["verdict"] == "likely" and lines == {5}'
"$UNSNARL" diagnose --seed 1 --time 30 --store far.store --json -- ./always far >far.json 2>&1
expect far 'i["agreement"] == "alone" and first["verdict"] == "likely" and lines == {8}'

# No crash: nobody is asked. Little time: what is proven is told all the same.
cat >lost.c <<'C'
#include <pthread.h>
static int n;
static void *add(void *arg) {
	n++;
	return arg;
}
int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return n != 2;
}
C
"$UNSNARL" cc -g -O0 -pthread -w lost.c -o lost || exit 1
"$UNSNARL" diagnose --seed 1 --time 20 --store lost.store --json -- ./lost >lost.json 2>&1
expect lost 'i is None and 4 in lines'
"$UNSNARL" diagnose --seed 1 --time 4 --store short.store --json -- ./hooked >short.json 2>&1
expect short 'i and i["seconds"] < 8 and a["wall_s"] < 16'
[ "$failed" = 0 ] && echo "ok"
exit "$failed"
