#!/usr/bin/env bash
# Many short runs: 5000 of a small program with two threads, recorded in less than five times what a shell takes to
# start it as often, and in a store of under 2 MB. UNSNARL names the tool (default build/unsnarl).
set -u
UNSNARL=$(realpath "${UNSNARL:-$(dirname "$0")/../build/unsnarl}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
passed=0
failed=0

verdict() { # verdict WHAT ACTUAL LIMIT
	if [ "$2" -lt "$3" ]; then
		passed=$((passed + 1))
		echo "ok: $1: $2, below $3"
	else
		failed=$((failed + 1))
		echo "not ok: $1: $2, not below $3"
	fi
}

cat >tiny.c <<'C'
#include <pthread.h>
static int counter;
static void *up(void *argument)
{
	for (int i = 0; i < 10; i++)
		counter++;
	return argument;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, up, 0);
	pthread_create(&b, 0, up, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
"$UNSNARL" cc -O1 -g tiny.c -o tiny -pthread || exit 2
now() { date +%s%3N; }
# Before and after, so that what else the machine does hits both; a tenth of the runs.
plain() {
	local start
	start=$(now)
	for ((i = 0; i < 250; i++)); do ./tiny; done
	ms=$((ms + $(now) - start))
}
ms=0
plain
start=$(now)
"$UNSNARL" run -n 5000 -j 2 -- ./tiny >/dev/null || exit 2
recorded=$(($(now) - start))
plain
verdict "milliseconds for 5000 runs" $recorded $((ms * 10 * 5))
verdict "bytes of store" "$(du -sb .unsnarl | cut -f1)" 2000000
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
