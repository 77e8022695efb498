#!/usr/bin/env bash
# Many short runs: 5000 of a small program with two threads, recorded in under 60 s
# and in a store of under 2 MB. UNSNARL names the tool (default build/unsnarl).
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
start=$(date +%s)
"$UNSNARL" run -n 5000 -j 2 -- ./tiny >/dev/null || exit 2
verdict "seconds for 5000 runs" $(($(date +%s) - start)) 60
verdict "bytes of store" "$(du -sb .unsnarl | cut -f1)" 2000000
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
