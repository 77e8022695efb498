#!/usr/bin/env bash
# The binary loom from outside: programs without hooks are run, hunted, replayed and
# diagnosed as they are. UNSNARL names the tool (default build/unsnarl), SOURCE the source
# folder, COMPARE_TRACE the program of tests/compare_trace.c.
. "$(dirname "$0")/counting.sh"
BUILD=$(dirname "$UNSNARL")
TOOL=$BUILD/loom/grind
COMPARE_TRACE=${COMPARE_TRACE:-$BUILD/tests/compare_trace}
if [ ! -x "$TOOL/unsnarl-amd64-linux" ]; then
	echo "this unsnarl was built without the binary loom"
	exit 77
fi

make_programs() {
	cat >lost.c <<'C'
#include <pthread.h>
#include <stdio.h>
static long count;
static void *add(void *unused)
{
	for (int i = 0; i < 3; i++) {
		long value = count;
		count = value + 1;
	}
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", count);
	return count != 6;
}
C
	cat >killed.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
static volatile int zero;
static void *work(void *name)
{
	switch (*(char *)name) {
	case 'F': /* FPE */
		return zero = 77 / zero, name;
	case 'I': /* ILL */
		__builtin_trap();
	case 'B': { /* BUS: nothing is behind this page */
		char *page = mmap(0, 4096, PROT_WRITE, MAP_SHARED, open("empty", O_RDWR | O_CREAT, 0600), 0);
		return *page = 1, name;
	}
	default: /* SEGV */
		return *(volatile int *)8 = 1, name;
	}
}
int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, argv[argc - 1]);
	pthread_join(thread, NULL);
	return 0;
}
C
	cat >leaves.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *wait_for_ever(void *unused)
{
	struct pollfd polled = { .fd = ends[0], .events = POLLIN };
	poll(&polled, 1, -1);
	return unused;
}
int main(void)
{
	pthread_t thread;
	if (pipe(ends) != 0)
		return 1;
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	usleep(1000);
	return 0; /* while the thread waits */
}
C
	cat >grows.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char *text = malloc(8);
	strcpy(text, "kept");
	text = realloc(text, 100000);
	return strcmp(text, "kept") != 0;
}
C
	cat >freed.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int *box;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *unused)
{
	int *mine = box;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (mine)
		printf("%d\n", mine[1]);
	return unused;
}
int main(void)
{
	pthread_t thread;
	box = calloc(2, sizeof *box);
	pthread_create(&thread, NULL, use, NULL);
	int *old = box;
	box = NULL;
	free(old);
	pthread_join(thread, NULL);
	return 0;
}
C
	cat >heap.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static char *block;
static int what;
static void *use(void *unused)
{
	if (what == 'b')
		block[20] = 1;
	if (what == 'd' || what == 'u')
		free(block);
	if (what == 'u')
		block[3] = 1;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	what = argv[1][0];
	block = malloc(20);
	pthread_create(&thread, NULL, use, NULL);
	pthread_join(thread, NULL);
	if (what != 'u')
		free(block);
	return 0;
}
C
	gcc -g -O1 -w -pthread heap.c -o heap && gcc -g -O1 -w -pthread lost.c -o lost && gcc -O1 -w -pthread -s lost.c -o bare &&
		gcc -g -O1 -w -pthread freed.c -o freed &&
		gcc -g -O1 -w -pthread -I"$SOURCE/tests/controlled" "$SOURCE/tests/controlled/bad/deadlock_two.c" -o deadlock &&
		gcc -g -O0 -w -pthread killed.c -o killed &&
		gcc -g -O0 -w -pthread leaves.c -o leaves && gcc -g -O0 -w grows.c -o grows &&
		gcc -g -O1 -w -pthread -I"$SOURCE/tests/controlled" -I"$SOURCE/tests/correct" "$SOURCE/tests/correct/pipe.c" -o pipes
	verdict $? "the programs build"
	printf '#!/bin/sh\nexec ./lost\n' >wrapper
	cp lost other
	printf '#!/bin/sh\n./other >/dev/null\nexec ./lost\n' >two
	chmod +x wrapper two
}

# PROGRAM FLAGS: of compare_trace.
compare_with_reference() {
	program=$1 && shift
	VALGRIND_LIB=$TOOL VALGRIND_LAUNCHER=/usr/bin/valgrind.bin timeout 120 "$COMPARE_TRACE" "$@" \
		"$TOOL/unsnarl-amd64-linux" --tool=unsnarl -q --log-file=/dev/null \
		--vex-guest-chase=no --vgdb=no "$program" >out 2>err
}

# What is observed is what tests/reference.c says of the trace.
test_reference() {
	for seed in 3 13 14 27 17; do # 17: contexts of eight events, which have no room for a mark
		[ $((seed % 2)) -eq 0 ] && kind= || kind=--serial
		python3 "$SOURCE/tests/random_program.py" $kind $seed >random.c
		gcc -w -g -O$((seed % 3)) -pthread random.c -o random
		for alone in "" -p; do
			compare_with_reference ./random -c $((seed % 9)) $alone
			verdict $? "random program $seed is observed as the reference observes it${alone:+, pairs alone}"
		done
	done
	# Also without the log, on the ways that are short then.
	for name in byte_turns handover joined members places rows turns whole_blocks; do
		gcc -w -g -O2 -pthread "$SOURCE/tests/serial/$name.c" -o "$name"
		# Two runs are compared, which on a busy machine may differ by an access: a wrong pair comes each time.
		for try in 1 2 3; do
			compare_with_reference "./$name" -ps && break
			[ "$try" -lt 3 ]
		done
		verdict $? "pairs of $name.c are the same without the log"
	done
}

test_run() {
	call run -n 2 -- ./lost
	expect_status 0 "a run without hooks"
	expect out '^2 runs of ./lost' "a run without hooks"
	call show 1
	expect out 'lost.c:[78] add +T[12] (read|write) count ' "a pair has its line, and a global variable its name"
	call run --store bare.store -- ./bare
	call show 1 --store bare.store
	expect out 'bare\+0x' "without debug information: the file and the address"
	cat >day.c <<'C'
#include <time.h>
int main(void) {
	time_t t = 1000000000;
	gmtime(&t);
	return gmtime(&t)->tm_year != 101;
}
C
	gcc -g -O1 -w day.c -o day && call run --store day.store -- ./day
	call show day.c:5 --store day.store
	expect out 'write of localtime.result' "what libc keeps for all threads"
	call run --loom compiled -- ./lost
	expect_status 2 "the compiled loom does not take it"
	expect err 'without hooks; build it with: unsnarl cc' "the compiled loom does not take it"
	call run --loom leather -- ./lost
	expect_status 2 "there is no such loom"
}

test_hunt() {
	call hunt --budget 60 --seed 5 -j 1 --store hunt.store -- ./lost
	expect_status 1 "a lost update is found"
	expect out 'lost.c:[78]|[78]: (long value = count|count = value)' "it is told by its lines"
	call replay last -n 4 --store hunt.store
	expect_status 1 "it is replayed"
	expect out '^4 of 4 identical' "every replay is the same"
	call hunt --budget 60 --seed 5 -j 1 --store again.store -- ./lost
	call show last --store again.store --json
	cp out again.json
	call show last --store hunt.store --json
	python3 -c 'import json
a, b = (json.load(open(f)) for f in ("out", "again.json"))
assert a.get("schedule") == b.get("schedule")'
	verdict $? "the same seed finds the same schedule"
	for signal in FPE ILL BUS SEGV; do
		call hunt --budget 2 --seed 1 -j 1 --store $signal.store -- ./killed $signal
		expect_status 1 "a program that gets SIG$signal in a controlled run fails"
		expect out "SIG$signal" "SIG$signal is told as what it is"
	done
	call hunt --budget 3 --seed 1 -j 1 --store leaves.store -- ./leaves
	expect out '3 passed, 0' "a program ends while a thread of it waits for input"
	call hunt --budget 40 --seed 1 -j 1 --store dead.store -- ./deadlock
	expect_status 1 "a deadlock is found"
	expect out 'deadlock: no thread can go on' "a deadlock is found"
	expect out 'waits for mutex [0-9]+ at deadlock_two.c:10' "it says who waits for what"
	call hunt --budget 60 --seed 1 -j 1 --store freed.store -- ./freed
	expect_status 1 "a use after free is found"
	expect out 'use after free: read of 4 bytes, 4 bytes into a block of 8 bytes' "it says what was freed"
	call hunt --budget 6 --seed 1 -j 1 --no-reduce --store pipes.store -- ./pipes
	expect_status 0 "pipes between threads pass"
	sed 's/long value = count;/long value = __atomic_fetch_add(\&count, 1, __ATOMIC_SEQ_CST);/; s/count = value + 1;/(void)value;/' lost.c >sound.c
	gcc -g -O1 -static -pthread sound.c -o sound
	call hunt --budget 10 --seed 1 -j 1 --no-reduce --store sound.store -- ./sound
	expect_status 0 "a sound program without shared libraries passes"
	expect out '10 passed' "a sound program without shared libraries passes"
	call hunt --budget 8 --seed 5 -j 1 --no-reduce --store wrapper.store -- ./wrapper
	expect_status 1 "a program behind a script is controlled"
}

# Faults of the heap end a controlled run with a sentence.
test_heap() {
	for fault in 'd:free\(\): double free detected' 'b:write of 1 bytes, 0 bytes beyond the end of a block of 20' \
		'u:use after free: write of 1 bytes, 3 bytes into a block of 20' 'n:No schedule failed'; do
		call hunt --budget 2 --seed 1 -j 1 --no-reduce --store "heap${fault%%:*}.store" -- ./heap "${fault%%:*}"
		expect out "${fault#*:}" "heap fault ${fault%%:*}"
	done
}

# Of what a script starts, one program is looked at.
test_program() {
	call hunt --budget 8 --seed 5 -j 1 --no-reduce --program lost --store program.store -- ./two
	expect_status 1 "the named program is controlled, not the first one"
	call replay last -n 2 --program lost --store program.store
	expect out '^2 of 2 identical' "it is replayed"
	call run --program lost --store program.store -- ./grows
	expect out '1 passed, 0 failed' "a program that is not observed keeps what it reallocates"
	call hunt --program some/lost -- ./two
	expect_status 2 "--program takes no path"
	expect err 'name of a program.s file without its folder' "--program takes no path"
}

test_gdb() {
	if ! command -v gdb >/dev/null; then
		return
	fi
	printf 'bt 3\ninfo threads\n' >commands
	call replay last --store hunt.store --at lost.c:8 --gdb-commands commands
	expect out '#0 .*add \(.*lost.c' "gdb stops a replay at a line"
	call replay last --store hunt.store --gdb-commands commands
	expect out 'exit' "gdb stops a replay where it ends"
}

# An unsnarl whose Valgrind was replaced, or is gone.
test_valgrind() {
	mkdir -p replaced/loom/grind replaced/valgrind
	cp "$UNSNARL" replaced/unsnarl
	ln -sfn "$TOOL"/* replaced/loom/grind/
	for file in vgpreload_core-amd64-linux.so default.supp; do
		cp -L "$TOOL/$file" "replaced/valgrind/$file"
		ln -sfn "$PWD/replaced/valgrind/$file" "replaced/loom/grind/$file"
	done
	local whole=$UNSNARL
	UNSNARL=$PWD/replaced/unsnarl
	printf 'valgrind-%%s\0in valgrind-3.22.0.GIT\0' >replaced/valgrind/none-amd64-linux
	call run --store other.store -- ./lost
	expect_status 2 "a Valgrind of another version is refused"
	expect err 'is version 3.22.0.GIT in .*, but unsnarl was built with 3.19.0' "both versions are told"
	printf 'valgrind-%%s\0in valgrind-3.19.0\0' >replaced/valgrind/none-amd64-linux
	call run --store other.store -- ./lost
	expect_status 0 "the same version is taken"
	rm replaced/valgrind/default.supp
	call run --store other.store -- ./lost
	expect err 'Valgrind, which programs without hooks need, is not there any more' "half of Valgrind is none"
	rm -r replaced/valgrind
	call hunt --store other.store -- ./lost
	expect_status 2 "a hunt needs Valgrind, too"
	expect err 'install Valgrind 3.19.0' "it says what to do"
	"$whole" cc -g -O1 -w -pthread lost.c -o hooked
	"$whole" hunt --budget 60 --seed 5 -j 1 --no-reduce --store hooked.store -- ./hooked >out 2>err
	"$whole" replay last --store hooked.store --export hooked.schedule >out 2>err
	sed -i 's/^build .*/build 0x1/' hooked.schedule
	call replay hooked.schedule -- ./hooked
	expect_status 2 "another build, and no Valgrind to ask whether it was seen as it is"
	expect err 'is not the build that hooked.schedule was recorded with' "another build, no Valgrind"
	rm replaced/loom/grind/unsnarl-amd64-linux
	call run --store other.store -- ./lost
	expect err 'was built without the binary loom' "an unsnarl without the tool says so"
	UNSNARL=$whole
}

# A sanitizer's shadow memory has no room under Valgrind: every run would end with a failure that is not the program's.
test_sanitizers() {
	gcc -g -pthread -fsanitize=address lost.c -o addressed
	for verb in run hunt diagnose isolate; do
		call $verb -- ./addressed
		expect_status 2 "$verb refuses a build with AddressSanitizer"
		expect err 'AddressSanitizer, which does not run under Valgrind' "$verb says why"
	done
}

# How waits for conditions end is in the loom's hands: a signal can be kept, a wait can end for nothing or go on. A call
# of C11 comes down to one of POSIX, and is one call.
test_waits() {
	cat >missed.c <<'C'
#include <threads.h>
static mtx_t lock;
static cnd_t news;
static int ready;
static int await(void *unused)
{
	mtx_lock(&lock);
	if (!ready)
		cnd_wait(&news, &lock);
	mtx_unlock(&lock);
	return 0;
}
int main(void)
{
	thrd_t thread;
	mtx_init(&lock, mtx_plain);
	cnd_init(&news);
	thrd_create(&thread, await, NULL);
	ready = 1;
	cnd_signal(&news);
	thrd_join(thread, NULL);
	return 0;
}
C
	cat >woken.c <<'C'
#include <pthread.h>
static struct item { struct item *next; } items[3], *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static void *take(void *none)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		if (!head)
			pthread_cond_wait(&some, &lock);
		head = head->next;
		pthread_mutex_unlock(&lock);
	}
	return none;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, take, 0);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		items[i].next = head;
		head = &items[i];
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&some);
	}
	pthread_join(thread, 0);
	return 0;
}
C
	gcc -g -O1 -pthread missed.c -o missed && gcc -g -O1 -pthread woken.c -o woken
	call diagnose --budget 300 -j 1 --seed 1 --store missed.store -- ./missed
	expect out '^Cause +lost wake-up' "a signal that comes too early"
	expect out '^How sure +Proven\.' "kept, it helps"
	[ "$(grep -c 'holds lock since :7' out)" -eq 1 ]
	verdict $? "a lock of C11 is held once"
	call diagnose --budget 300 -j 1 --seed 1 --store woken.store -- ./woken
	expect out 'was woken, and went on without' "a wait that does not look again"
	expect out '^How sure +Proven\. Forced' "a wait that ends for nothing fails, one that goes on does not"
}

# An access in a small function is told with its caller.
test_callers() {
	cat >accessor.c <<'C'
#include <pthread.h>
static int sum;
static int get(void) { return sum; }
static void put(int value) { sum = value; }
static void *add(void *unused)
{
	put(get() + 1);
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sum != 2;
}
C
	for level in 0 2; do
		gcc -O$level -g -pthread accessor.c -o accessor
		call diagnose --budget 100 -j 1 --seed 1 --store callers.store -- ./accessor
		expect out 'called at :7 add|write accessor.c:7 add' "the caller, at -O$level"
	done
}

# Without debug information places are functions and offsets, in whatever is said of them, and each is one of its own.
test_offsets() {
	gcc -O0 -w -pthread lost.c -o plain
	call diagnose --budget 100 -j 1 --seed 1 --store plain.store -- ./plain
	expect out '^ +1  read add\+0x[0-9a-f]+ *$' "an access has its function and its offset"
	expect out "lock from add\\+0x[0-9a-f]+ to" "the advice has them"
	reject out ':0' "there is no line 0"
	call diagnose --budget 100 -j 1 --seed 1 --json --store json.store -- ./plain
	python3 -c 'import json
accesses = json.load(open("out"))["findings"][0]["accesses"]
assert len({a["function"] for a in accesses}) > 1 and not any(a["file"] or a["line"] for a in accesses), accesses'
	verdict $? "in JSON there are no files and no lines"
	call replay last --story --store plain.store
	expect out 'w add\+0x' "a story has them"
}

# A program that fails under Valgrind alone is not blamed.
test_blame() {
	cat >touchy.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *nothing(void *none) { return none; }
int main(void)
{
	const char *preloaded = getenv("LD_PRELOAD");
	pthread_t thread;
	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	return preloaded && strstr(preloaded, "vgpreload");
}
C
	gcc -g -pthread touchy.c -o touchy
	call hunt --budget 20 --store touchy.store -- ./touchy
	expect out '20 failed' "it fails in every schedule"
	expect out 'the control is to blame' "a program that fails under Valgrind alone"
}

# Functions of libc read whole words, beyond the end of short blocks: also when others do in the middle of it.
test_words()
{
	cat >words.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *names[4];
static void *find(void *arg) {
	volatile size_t n = 3;
	int same = 0;
	for (int round = 0; round < 6; round++)
		for (int i = 0; i < 4; i++) {
			same += memcmp(names[i], names[(i + 1) % 4], n) == 0;
			names[i][2] = 'c';
		}
	return (void *)(long)same;
}
int main(void) {
	pthread_t a, b;
	for (int i = 0; i < 4; i++)
		names[i] = memcpy(malloc(3), "abc", 3);
	pthread_create(&a, NULL, find, NULL);
	pthread_create(&b, NULL, find, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
	gcc -g -O1 -w -pthread words.c -o words
	call hunt --budget 60 --seed 1 --store words.store -- ./words
	expect out 'No schedule failed' "words read at once by two threads"
}

# What a thread's calls end is its own stack, not the heap below it; and free runs change places all the time.
test_free()
{
	cat >below.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t made, seen;
static long *block;
static __attribute__((noinline)) void leaf(void) {
	__asm__ volatile("" ::: "memory");
}
static void *work(void *arg) {
	block[0] = 1;
	block[100] = 2;
	sem_post(&made);
	sem_wait(&seen);
	for (int i = 0; i < 3; i++)
		leaf();
	return arg;
}
int main(void) {
	pthread_t thread;
	block = malloc(1000);
	sem_init(&made, 0, 0);
	sem_init(&seen, 0, 0);
	pthread_create(&thread, NULL, work, NULL);
	sem_wait(&made);
	long sum = block[0];
	sem_post(&seen);
	pthread_join(thread, NULL);
	sum += block[100];
	return sum != 3;
}
C
	gcc -g -O1 -pthread below.c -o below
	call run --store below.store -- ./below
	call show 1 --store below.store
	expect out 'below.c:11 ' "heap that lies below the stack of who wrote it is not forgotten with that stack"
	cat >frame.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t go, done;
static int *volatile place;
static void *work(void *arg) {
	sem_wait(&go);
	*place = 7;
	sem_post(&done);
	return arg;
}
static __attribute__((noinline)) int first(void) {
	volatile int slot = 1;
	place = (int *)&slot;
	sem_post(&go);
	sem_wait(&done);
	return slot;
}
static __attribute__((noinline)) int second(void) {
	volatile int slot;
	__asm__ volatile("" : "=m"(slot));
	return slot;
}
int main(void) {
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	int sum = first();
	sum += second();
	pthread_join(thread, NULL);
	return sum == 0;
}
C
	gcc -g -O1 -w -pthread frame.c -o frame
	call run --store frame.store -- ./frame
	call show 1 --store frame.store
	expect out 'frame.c:16 first' "a variable of a frame that another thread writes to"
	reject out 'frame.c:21 second' "the frame of the next function, at the same place"
	# By themselves they would change places once or twice in a round. One round in which they do it often is enough.
	cat >turns.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static char own[8192];
static volatile int last = 2, round_of[2];
static void *work(void *arg) {
	int me = arg != 0;
	for (int i = 0; i < 8192; i += 8)
		((volatile char *)own)[i] = 1;
	for (int round = 1; round <= 300; round++) {
		int changes = 0;
		round_of[me] = round;
		while (round_of[!me] < round)
			;
		for (int i = 0; i < 50000; i++)
			if (last != me) {
				last = me;
				if (++changes == 10)
					exit(0);
			}
	}
	return arg;
}
int main(void) {
	pthread_t thread;
	pthread_create(&thread, NULL, work, own);
	work(NULL);
	pthread_join(thread, NULL);
	return 1;
}
C
	gcc -g -O1 -pthread turns.c -o turns
	call exec --loom binary -- ./turns
	expect_status 0 "threads that change places all the time"
}

# Vector registers that are written in pieces.
test_numbers()
{
	cat >numbers.c <<'C'
#include <emmintrin.h>
#include <stdio.h>
#include <stdlib.h>
static double d[8];
static float f[8];
static __attribute__((noinline)) double mixed(const double *a, const float *b, int n) {
	double sum = 0;
	for (int i = 0; i < n; i++) {
		__m128d whole = _mm_load_sd(a + i), pair = _mm_loadh_pd(whole, a + (i + 1) % n);
		__m128 low = _mm_load_ss(b + i);
		low = _mm_move_ss(_mm_set1_ps(3), low);
		sum += a[i] * b[i] - (double)i / (i + 1);
		sum += _mm_cvtsd_f64(_mm_add_pd(pair, _mm_unpackhi_pd(pair, pair)));
		sum += _mm_cvtsd_f64(_mm_unpackhi_pd(whole, whole));
		sum += _mm_cvtss_f32(_mm_shuffle_ps(low, low, 0x39)) + (float)(i * 7);
		if (sum > 1e9)
			return _mm_cvtsd_f64(_mm_unpackhi_pd(_mm_load_sd(a), whole));
	}
	return sum;
}
int main(void) {
	double sum = 0;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 8; i++) {
			d[i] = (i + round) / 3.0;
			f[i] = (float)(i - round) / 7;
		}
		sum += mixed(d, f, 8);
	}
	printf("%.17g\n", sum);
	return 0;
}
C
	for level in 0 1 2 3; do
		gcc -g -w -O$level numbers.c -o numbers
		./numbers >expected
		call exec --loom binary -- ./numbers
		cmp -s out expected
		verdict $? "numbers at -O$level are what they are without Valgrind"
	done
}

make_programs
test_free
test_numbers
test_valgrind
test_sanitizers
test_blame
test_reference
test_run
test_hunt
test_waits
test_callers
test_offsets
test_heap
test_words
test_program
test_gdb
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
