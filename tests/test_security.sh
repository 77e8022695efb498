#!/usr/bin/env bash
# What others may try: environments of programs with more rights than the caller, links
# where a file is about to be made, stores changed by hand.
. "$(dirname "$0")/counting.sh"
skipped=0
chmod 755 "$folder"

cat >racy.c <<'C'
#include <pthread.h>
static int shared, other;
static void *add(void *unused)
{
	shared++;
	other += shared;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	pthread_create(&thread, 0, add, 0);
	if (argc > 1)
		other = shared;
	add(0);
	pthread_join(thread, 0);
	return 0;
}
C
"$UNSNARL" cc -g -O1 -pthread racy.c -o racy || exit 2
call run -n 4 -- ./racy
expect_status 0 "runs are recorded"

# ---- the store is its owner's ----
[ "$(stat -c %a .unsnarl)" = 700 ] && [ "$(stat -c %a .unsnarl/store.db)" = 600 ]
verdict $? "the store can be read by its owner alone"
(umask 0; rm -rf loose; "$UNSNARL" run --store loose -- ./racy >/dev/null 2>&1 </dev/null)
[ "$(stat -c %a loose)" = 700 ] && [ "$(stat -c %a loose/store.db)" = 600 ]
verdict $? "the store can be read by its owner alone, whatever the umask"

# ---- setuid programs take no orders from the environment ----
call rank --export graph --log "$folder/plain.log"
expect_status 0 "a testing graph"
UNSNARL_MONITOR=graph ./racy more
[ -s plain.log ]
verdict $? "the monitor logs what is new"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=12345 --regid=12345 --clear-groups true 2>/dev/null; then
	cp racy privileged && chmod 4755 privileged
	for variables in "UNSNARL_MONITOR=graph UNSNARL_MONITOR_LOG=$folder/made.log" \
		"UNSNARL_AREA=3" "UNSNARL_SERVER=3 LD_BIND_NOW=unsnarl"; do
		env $variables setpriv --reuid=12345 --regid=12345 --clear-groups ./privileged more 3<racy.c
		verdict $? "a setuid program runs as it is with $variables"
	done
	[ ! -e made.log ]
	verdict $? "a setuid program makes no log that its caller names"
	before=$(stat -c %s plain.log)
	UNSNARL_MONITOR=graph setpriv --reuid=12345 --regid=12345 --clear-groups ./privileged more
	[ "$(stat -c %s plain.log)" = "$before" ]
	verdict $? "a setuid program adds nothing to a log that its caller names"
else
	skipped=$((skipped + 1))
	echo "skipped: setuid programs: root is needed to make one"
fi

# ---- links where a file is to be made ----
echo precious >precious
ln -s precious link.log
UNSNARL_MONITOR=graph UNSNARL_MONITOR_LOG=$PWD/link.log ./racy more
[ "$(cat precious)" = precious ]
verdict $? "the monitor follows no link"

call learn -o learnt.guard
expect_status 0 "a guard set"
ln -s precious learnt.guard.new
call learn -o learnt.guard
[ "$(cat precious)" = precious ] && [ -f learnt.guard ] && [ ! -L learnt.guard ] && [ "$(stat -c %a learnt.guard)" = "$(printf %o $((0666 & ~$(umask))))" ]
verdict $? "a guard set is written through no link beside it"

# ---- a store changed by hand: an answer or a sentence, never a crash ----
change() { # change SQL: in a copy of the store
	rm -rf changed && cp -r .unsnarl changed
	python3 - "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect("changed/store.db")
db.execute("PRAGMA foreign_keys = OFF")
db.executescript(sys.argv[1])
db.commit()
PY
}
for edit in "UPDATE unit SET count = count + 1" "UPDATE unit SET count = count - 1" "UPDATE unit SET sites = x'00'" \
	"UPDATE unit SET base = 7" "UPDATE unit SET sites = zeroblob(100)" "UPDATE run SET details = x'00ff'" \
	"UPDATE run SET pairs = 999" "UPDATE run SET campaign = 77" "UPDATE batch SET items = x'01'" \
	"UPDATE batch SET kind = 9" "UPDATE batch SET count = 100000000" "UPDATE membership SET bits = x'00'" \
	"UPDATE campaign SET arguments = x'41'" "DELETE FROM unit" "DELETE FROM membership" "DELETE FROM campaign" \
	"UPDATE run SET outcome = 99, label = 99" "UPDATE run SET threads = -1, dropped = -1, observe = -1" \
	"UPDATE run SET reason = NULL, output = x'00'"; do
	change "$edit"
	for verb in "show 1" "show last" "runs" "runs --curve" "locate" "rank" "show racy.c:5" "replay 1"; do
		call ${verb%% *} --store changed ${verb#"${verb%% *}"}
		[ "$status" -le 2 ]
		verdict $? "$edit: unsnarl $verb: exit status $status"
	done
done

[ "$skipped" -eq 0 ] || echo "$skipped skipped"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
