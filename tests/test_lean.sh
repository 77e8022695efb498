#!/usr/bin/env bash
# The tool carries nothing that a verb does not need: LLVM is loaded by cc alone, and
# what exec takes for itself is not said of the program. Nor does an observed program
# carry what only others need.
. "$(dirname "$0")/counting.sh"

! ldd "$UNSNARL" | grep -q LLVM
verdict $? "the tool is linked with LLVM"
cat >peak.c <<'C'
#include <stdio.h>
#include <sys/resource.h>
int main(void)
{
	struct rusage usage;
	char line[256];
	long peak = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, status))
		sscanf(line, "VmHWM: %ld", &peak);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld of its own, %ld in all\n", peak, usage.ru_maxrss);
	return usage.ru_maxrss > peak + peak / 4;
}
C
"$UNSNARL" cc -O1 peak.c -o peak
verdict $? "cc loads what it needs"
# What each thread of each run has to make ready (the guard's memos take seven KiB).
size=$(($(readelf -lW peak | awk '$1 == "TLS" { print $6 }')))
[ "$size" -gt 0 ] && [ "$size" -le 1024 ]
verdict $? "threads of an observed program have $size bytes of the runtime's own"
# Libraries that its runs would have to map.
! readelf -dW peak | grep -q 'NEEDED.*libgcc_s'
verdict $? "an observed program in C needs no libgcc_s"
# What asks the processor when it starts, in each of them.
! nm peak | grep -q '__cpu_model'
verdict $? "an observed program does not ask which processor it has"
cat >ends.c <<'C'
#include <pthread.h>
int main(void)
{
	pthread_exit(NULL);
}
C
"$UNSNARL" cc -O1 ends.c -o ends && readelf -dW ends | grep -q 'NEEDED.*libgcc_s' && ./ends
verdict $? "one that names pthread_exit is linked with libgcc_s"
for observe in all none; do
	call exec --observe $observe -- ./peak
	expect_status 0 "exec --observe $observe: the peak is the program's own"
done
# Without the module: a sentence from cc, and verbs that do without it work.
mkdir alone && cp "$UNSNARL" alone/ && cp "$(dirname "$UNSNARL")"/libunsnarl_rt.a alone/ 2>/dev/null
alone/unsnarl help >out 2>err </dev/null
verdict $? "help without the module"
alone/unsnarl cc -c peak.c >out 2>err </dev/null
status=$?
expect_status 2 "cc without the module"
expect err 'libunsnarl_llvm.so is missing beside .*: install unsnarl again' "cc without the module"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
