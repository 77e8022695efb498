#!/usr/bin/env bash
# Runs start alike: files, network and input of a run are as they were for the one before,
# as root, as a user, and where the kernel gives no private views.
. "$(dirname "$0")/counting.sh"
skipped=0
rm -f /tmp/unsnarl-test-start /dev/shm/sem.unsnarl-test-start

skip() { # skip WHAT
	skipped=$((skipped + 1))
	printf 'skipped: %s\n' "$1"
}

prepare() { # prepare FOLDER: the folder that runs start in
	rm -rf "$1"
	mkdir -p "$1/old/inner" && cp "$folder/start" "$1/"
	echo 7 >"$1/count"
	touch "$1/gone" "$1/old/file"
	cd "$1" || exit 2
}

# Everything in a folder, with contents.
contents() {
	find . -path ./.unsnarl -prune -o -name out -o -name err -o -type f -exec cksum {} + | sort
}

feed() { printf 'hello\nworld\n'; }

verb() { # verb WRAPPER ARGUMENTS...: unsnarl with input
	local wrapper=$1
	shift
	feed | timeout "${LIMIT:-120}" $wrapper "$UNSNARL" "$@" >out 2>err
	status=$?
}

all_pass() { # all_pass WHAT WRAPPER LETTERS
	verb "$2" hunt --budget 120 --seed 1 -j 2 --passes 5 -- ./start "$3"
	expect_status 0 "$1, hunt, $3"
	verb "$2" run -n 6 -j 2 --json -- ./start "$3"
	expect out '"failed": 0' "$1, run, $3"
}

"$UNSNARL" cc -g -O1 -pthread -Wno-unused-result -o start "$SOURCE/tests/world/start.c" || exit 2
private=no
prepare "$folder/work"
verb "" run -n 2 -j 2 -- ./start l
grep -q 'no private view' err || private=yes

# ---- private views ----
if [ $private = yes ]; then
	before=$(contents)
	for letters in "" l t c d m s p n i w lcdmspniw; do
		all_pass "private" "" "$letters"
	done
	[ "$(id -u)" -ne 0 ] || all_pass "private" "" r
	[ "$(contents)" = "$before" ] && [ ! -e /tmp/unsnarl-test-start ]
	verdict $? "runs have left no files"
	verb "" run -- ./start l
	expect err 'is gone with its runs; --share-files' "a file was written"
	verb "" run -- ./start i
	reject err 'share-files' "no file was written"
	# Where the program is, also behind a fork server and after its layers were renewed.
	WANTED=$PWD verb "" hunt --budget 60 --seed 1 -j 2 -- ./start dw
	expect_status 0 "the program and its folder are where they were"
	verb "" run -n 2 --check 'test -e lock' -- ./start l
	expect out '2 passed' "the check sees what the run wrote"

	# Replays and diagnoses find the same.
	verb "" hunt --budget 40 --seed 1 -j 2 --no-reduce -- ./start lcdmspnif
	expect_status 1 "a program that always fails"
	verb "" replay last -n 6 -j 2
	expect out '^6 of 6 identical' "replays start like the run that was recorded"
	verb "" diagnose --time 5 -- ./start lcdmspni
	expect_status 0 "a diagnosis of runs that write and bind"

	prepare "$folder/deep/$(printf 'very-long-name-%.0s' {1..14})/$(printf 'x%.0s' {1..200})"
	all_pass "long path" "" lcdm
	prepare "$folder/work"
else
	skip "private views: not on this system"
fi

# ---- the machine has its addresses in a network of its own, too ----
cat >"$folder/addresses.c" <<'C'
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_ADDRCONFIG };
	struct addrinfo *found = NULL;
	struct sockaddr_in port = { .sin_family = AF_INET, .sin_port = htons(28417) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), bad = 0;
	if (bind(fd, (struct sockaddr *)&port, sizeof port))
		return 3;
	printf("%d\n", getaddrinfo(NULL, "28418", &hints, &found));
	struct ifaddrs *all;
	getifaddrs(&all);
	for (struct ifaddrs *one = all; one; one = one->ifa_next)
		if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && one->ifa_flags & IFF_UP) {
			int other = socket(AF_INET, SOCK_STREAM, 0);
			bad |= bind(other, one->ifa_addr, sizeof(struct sockaddr_in));
			printf("%s\n", inet_ntoa(((struct sockaddr_in *)one->ifa_addr)->sin_addr));
			close(other);
		}
	return bad;
}
C
if [ $private = yes ]; then
	"$UNSNARL" cc -g -w "$folder/addresses.c" -o addresses && ./addresses >plain.txt
	call run -n 3 -j 2 --json --expect plain.txt -- ./addresses
	expect out '"failed": 0' "the machine's addresses can be bound"
fi

# ---- shared ----
verb "" run --share-files -- ./start l
expect_status 0 "shared files"
[ -e lock ]
verdict $? "what a run wrote with --share-files stays"
rm -f lock

# ---- input ----
feed >input
call run -n 4 -j 2 --json --input input -- ./start i
expect out '"failed": 0' "--input FILE"
timeout 60 "$UNSNARL" run -n 4 --json -- ./start i <input >out 2>err
expect out '"failed": 0' "input from a file"
{ head -c 3 >/dev/null; timeout 60 "$UNSNARL" run -n 4 --json -- ./start i; } < <(printf 'abc'; feed) >out 2>err
expect out '"failed": 0' "the rest of an input"
call run -n 2 --json -- ./start i
expect out '"failed": 2' "no input"
expect_mistake 'cannot read the input missing: No such file' run --input missing -- ./start i
expect_mistake 'is a folder; give a file' run --input . -- ./start i
# A pipe that stays open and silent: the program must not wait for it.
mkfifo silent
(exec 3<>silent; timeout 60 "$UNSNARL" run --json -- ./start "" <&3 >out 2>err; echo $? >status)
expect err 'nothing has come through standard input.*--input -' "a silent pipe"
[ "$(cat status)" -eq 0 ]
verdict $? "a silent pipe keeps nobody waiting"
yes | head -c 100000 >large
timeout 60 "$UNSNARL" run -n 2 --json -- ./start i <large >out 2>err
"$UNSNARL" show last 2>/dev/null >shown
expect out '"failed": 2' "a large input"

# ---- as a user, and where the kernel refuses ----
as_user="setpriv --reuid=12345 --regid=12345 --clear-groups"
if [ $private = yes ] && [ "$(id -u)" -eq 0 ] && $as_user unshare -Ur true 2>/dev/null &&
	$as_user test -x "$UNSNARL"; then
	chmod 755 "$folder"
	prepare "$folder/user"
	chown -R 12345:12345 .
	before=$(contents)
	for letters in l c d m s p n i lcdmspni; do
		all_pass "as a user" "$as_user" "$letters"
	done
	reject err 'no private view' "as a user"
	[ "$(contents)" = "$before" ]
	verdict $? "as a user: runs have left no files"
	chgrp 0 count
	all_pass "as a user, a file of another group" "$as_user" "lcdmi"
	expect err 'no private view' "as a user, a file of another group"
else
	skip "as a user: root is needed to become one, and user namespaces"
fi
refuse() { # no namespaces and no mounts, as in many containers
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces &&
		exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$0" "$@"' "$@"
}
if refuse true 2>/dev/null; then
	prepare "$folder/copied"
	before=$(contents)
	for letters in l c d m r i lcdmri; do
		feed | refuse timeout 100 "$UNSNARL" hunt --budget 40 --seed 1 -j 2 -- ./start $letters >out 2>err
		status=$?
		expect_status 0 "refused, $letters"
		expect err 'runs worked in copies of the folder' "refused, $letters"
	done
	[ "$(contents)" = "$before" ] && [ -z "$(ls -d "${TMPDIR:-/tmp}"/unsnarl-?????? 2>/dev/null)" ]
	verdict $? "refused: runs have left no files"
	feed | refuse timeout 100 "$UNSNARL" run -n 6 -j 3 -- ./start p >out 2>err
	expect err 'binds a port.*one run at a time' "refused, a port"
	reject out 'Address already in use' "refused, a port"
	head -c 80000000 /dev/zero >large
	feed | refuse timeout 100 "$UNSNARL" run -n 4 -j 2 -- ./start i >out 2>err
	expect err 'too large to copy: one run at a time' "refused, a large folder"
	expect out '4 passed' "refused, a large folder"
else
	skip "refusing namespaces: it takes one to do so"
fi

cd "$folder" || exit 2
[ "$skipped" -eq 0 ] || echo "$skipped skipped"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
