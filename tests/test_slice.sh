#!/usr/bin/env bash
# unsnarl slice from outside: ballast goes, the bug stays, the slice runs as the program
# does, for every program of the corpus that is built here; listings and mistakes.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
. "$(dirname "$0")/counting.sh"

check_json() { # check_json EXPRESSION WHAT: over `answer`
	python3 -c 'import json, sys
answer = json.load(open("out"))
sys.exit(not eval(sys.argv[1]))' "$1" 2>>err
	verdict $? "$2: $1"
}

ballast=$SOURCE/tests/scanned/ballast.c
line() { grep -n "/\* $1 \*/" "$ballast" | cut -d: -f1; }
here="ballast.c:$(line criterion),ballast.c:$(line criterion)"

for level in -O0 -O2; do
	"$UNSNARL" cc $level -g -pthread -o ballast "$ballast" 2>err
	verdict $? "build $level"
	call slice --json --for "$here" -- ./ballast
	expect_status 0 "slice $level"
	check_json 'answer["sound"] and answer["instructions_kept"] < answer["instructions"]' "$level: smaller"
	check_json "not any(l['kept'] for l in answer['lines'] if l['line'] == $(line ballast))" "$level: ballast is gone"
	check_json "all(l['kept'] and l['criterion'] for l in answer['lines'] if l['line'] == $(line criterion))" "$level: the criterion stays"
	[ -x ballast.slice ] && [ ! -e ballast.slice.whole ]
	verdict $? "$level: one file is left"
	./ballast.slice >printed
	[ ! -s printed ]
	verdict $? "$level: a slice prints nothing"
done
call slice --for "$here" --prints -o kept -- ./ballast
expect_status 0 "with what it prints"
[ "$(./kept)" = "$(./ballast)" ]
verdict $? "prints the same"
call slice --for "$here" --listing --html page.html -- ./ballast
expect out "^> +$(line criterion) " "listing: the criterion"
expect out "^- +$(line ballast) " "listing: what is dropped"
expect page.html 'class="criterion"' "page"
# A slice in which the bug shows without help, as it may on a busy machine, is not trusted: then once more.
for attempt in 1 2 3; do
	call verify --slice --json --no-hunt "$here" -- ./ballast
	grep -q 'does not run as the program does' err || break
done
expect_status 1 "the bug is in the slice"
check_json 'answer["findings"][0]["sliced"]' "verify on the slice"

# Slices run as the programs do, whose bugs may show on a busy machine: then once more.
for name in bank-account file-scan log-sweep string-buffer mail-folders lazy-flush spsc-ring; do
	"$UNSNARL" cc -O2 -g -pthread -o program "$SOURCE/corpus/$name/$name.c" 2>err
	for attempt in 1 2 3; do
		call slice --for 1 -- ./program
		grep -q 'does not end as the program does' out || break
	done
	expect_status 0 "$name"
done

# What goes to a file may be read again: it is no print. A program that always ends with 3 is no broken slice.
cat >files.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int shared, got;
static void *run(void *arg) { shared++; /* criterion */ return arg; }
int main(void)
{
	pthread_t a, b;
	FILE *file = tmpfile();
	fprintf(file, "%d", 42);
	rewind(file);
	if (fscanf(file, "%d", &got) != 1 || got != 42)
		_exit(9);
	pthread_create(&a, 0, run, 0);
	pthread_create(&b, 0, run, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	printf("%d\n", shared);
	return 3;
}
C
"$UNSNARL" cc -O2 -g -pthread -o files files.c 2>err
call slice --json --for 1 -- ./files
expect_status 0 "a file that is read again"
check_json 'answer["sound"]' "ends as the program does"
./files.slice >printed
[ $? -eq 3 ] && [ ! -s printed ]
verdict $? "what is printed is left out, what goes to a file is not"

expect_mistake 'no program to slice' slice
expect_mistake 'there is no candidate 999' slice --for 999 -- ./ballast
expect_mistake 'built without hooks' slice --for 1 -- /bin/true

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
