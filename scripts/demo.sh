#!/bin/sh
# The main job on an example: build it, run it many times, look at a failure, have it
# explained.
# Usage: demo.sh BUILD
set -eu

example=$(realpath "$(dirname "$0")/../examples/tickets.c")
PATH=$(realpath "$1"):$PATH
folder=$1/demo
rm -rf "$folder"
mkdir -p "$folder"
cp "$example" "$folder"
cd "$folder"

step() { # step WORDS COMMAND...
	printf '\n%s\n$ ' "$1"
	shift
	echo "$*"
	"$@"
}

step "A ticket office sells the seats of one evening. Build it with hooks:" \
	unsnarl cc -g -O2 -pthread -o tickets tickets.c
step "Run it 50 times, with small random delays where threads share data:" \
	unsnarl run -n 50 --jitter -- ./tickets
step "What was recorded:" unsnarl runs
if unsnarl show last >/dev/null 2>&1; then
	step "The last run that failed, and what its threads did to each other's data:" unsnarl show last
	line=$(grep -n '= SOLD' tickets.c | cut -d: -f1)
	step "The line that sells a seat: its pairs, over all runs:" unsnarl show "tickets.c:$line" --pairs
else
	step "No run failed this time; what the threads of the last one did:" unsnarl show 50
fi
echo
echo "Now the main job: make it fail, find out why."
echo "$ unsnarl -- ./tickets"
status=0
unsnarl -- ./tickets || status=$?
[ "$status" -le 1 ] || exit "$status"
printf '\nAll of this lies in %s: look around with unsnarl runs and unsnarl show.\n' "$folder"
