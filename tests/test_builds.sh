#!/usr/bin/env bash
# What build files ask of a compiler beyond compiling, and what happens to programs in
# odd places: thread-locals of libraries, programs without a runtime, no limit on the
# stack, coverage, temporary files, options of gcc, interruptions.
. "$(dirname "$0")/counting.sh"

# Sends a signal after a while; leaves the status as a shell sees it, and the seconds it took to end.
interrupt() { # interrupt SIGNAL SECONDS COMMAND...
	python3 - "$@" <<'PY' >took 2>&1
import signal, subprocess, sys, time
number = getattr(signal, sys.argv[1])
signal.signal(number, signal.SIG_DFL)
process = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=open("out", "w"), stderr=open("err", "w"),
                           start_new_session=True)
time.sleep(float(sys.argv[2]))
process.send_signal(number)
start = time.monotonic()
code = process.wait(120)
print(code if code >= 0 else 128 - code, int(time.monotonic() - start))
PY
	read -r status seconds <took
}

cat >locals.c <<'C'
static __thread int small;
__thread int shared_one;
static __thread char large[200000];
int f(int i)
{
	small += i;
	shared_one += i;
	large[i] = 1;
	return small + shared_one + large[i];
}
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *library = dlopen("./liblocals.so", RTLD_NOW);
	if (!library)
		return puts(dlerror()), 1;
	int (*f)(int) = (int (*)(int))dlsym(library, "f");
	return f(3) != 7;
}
C
cat >user.c <<'C'
int f(int);
int main(void) { return f(3) != 7; }
C
cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
static int x;
static void *add(void *unused) { x++; return unused; }
int main(int argc, char **argv)
{
	pthread_t t;
	struct rlimit limit;
	pthread_create(&t, 0, add, 0);
	x++;
	pthread_join(t, 0);
	getrlimit(RLIMIT_STACK, &limit);
	printf("%s %d %d\n", argv[0], argc, limit.rlim_cur == RLIM_INFINITY);
	return 0;
}
C

# ---- thread-locals, programs without a runtime ----
"$UNSNARL" cc -O1 -g -fPIC -c locals.c -o locals.o && "$UNSNARL" cc -shared locals.o -o liblocals.so
verdict $? "thread-locals in a library"
"$UNSNARL" cc host.c -o host -ldl && ./host
verdict $? "a library with large thread-locals is loaded"
clang-19 host.c -o plain -ldl && ./plain
verdict $? "a library with hooks in a program without, loaded"
clang-19 user.c -o linked ./liblocals.so && ./linked
verdict $? "a library with hooks in a program without, linked"
"$UNSNARL" cc user.c -o hooked ./liblocals.so
call run --json -- ./hooked
expect out '"predecessors"' "a library with hooks in a program with hooks is observed"
printf '{ global: f; local: *; };' >map
"$UNSNARL" cc -shared -Wl,--version-script=map locals.o -o liblocals.so && ./plain
verdict $? "a library that shows one function"
call run --json -- ./hooked
expect_status 0 "a library that shows one function, observed"
missing=$(comm -23 <(nm "$(dirname "$UNSNARL")/libunsnarl_rt.a" 2>/dev/null | awk '$2 == "T" && $3 ~ /^unsnarl_/ { print $3 }' | sort -u) \
	<(nm -D --defined-only "$(dirname "$UNSNARL")/libunsnarl_absent.so" | awk '{ print $3 }' | sort -u) |
	grep -v -e unsnarl_failure -e unsnarl_here)
[ -z "$missing" ]
verdict $? "hooks that a library would miss where no runtime is: $missing"

# ---- no limit on the stack ----
"$UNSNARL" cc -pthread threads.c -o threads
if (ulimit -s unlimited) 2>/dev/null; then
	(ulimit -s unlimited && ./threads a b) >out 2>err
	expect out '^./threads 3 1$' "no limit on the stack"
	(ulimit -s unlimited && "$UNSNARL" hunt --budget 20 -- ./threads) >out 2>err </dev/null
	expect out '20 passed' "no limit on the stack, hunted"
fi

# ---- coverage, temporary files, options ----
"$UNSNARL" cc --coverage -O0 -pthread -c threads.c -o sub.o && "$UNSNARL" cc --coverage -pthread sub.o -o covered &&
	./covered >/dev/null && [ -s sub.gcno ] && [ -s sub.gcda ]
verdict $? "--coverage writes what gcov reads"
call run -n 5 --json -- ./covered
expect_status 0 "--coverage, observed"
mkdir -p temps && cp locals.c temps/a.c && cp locals.c temps/b.c
(cd temps && "$UNSNARL" cc -save-temps -c a.c && "$UNSNARL" cc -save-temps -c b.c && [ -e a.i ] && [ -e b.i ] && [ ! -e 1.s ])
verdict $? "-save-temps leaves files named after their sources alone"
expect_mistake 'ThreadSanitizer and unsnarl cannot both' cc -fsanitize=thread -c locals.c
expect_mistake 'ThreadSanitizer and unsnarl cannot both' cc -fsanitize=undefined,thread locals.c
expect_mistake 'need the same parts of memory' cc -fsanitize=memory -c locals.c
expect_mistake 'need the same parts of memory' cc -fsanitize=undefined,hwaddress locals.c
call cc -Werror -fipa-pta -fno-var-tracking-assignments -fno-gcse -c locals.c
expect_status 0 "options of gcc's alone"
expect err 'note: -fipa-pta is an option of gcc' "options of gcc's alone"
call cc -fno-such-option-anywhere -c locals.c
expect_status 1 "an option that nobody knows"
"$UNSNARL" cc -pthread -Wl,--exclude-libs,ALL threads.c -o excluded
call run --json -- ./excluded
expect out '"passed": 1' "--exclude-libs,ALL"

# ---- one word, a program for a verb, long names ----
"$(dirname "$UNSNARL")/unsnarl-cc" -c locals.c -o one.o && "$(dirname "$UNSNARL")/unsnarl-c++" --version >out
verdict $? "compilers of one word"
expect_mistake 'to diagnose a program write: unsnarl -- ./threads' ./threads
expect_mistake 'to diagnose a program write: unsnarl -- ./threads' threads
expect_mistake 'did you mean hunt' hnt
expect_mistake 'unsnarl-cc where it must be one word' -o g.o -c g.S
if command -v cmake >/dev/null; then
	mkdir -p made && printf '.globl g\ng: mov $5, %%eax\n ret\n' >made/g.S && cp user.c made/ && sed -i 's/f(3) != 7/g() != 5/; s/int f(int)/int g(void)/' made/user.c
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C CXX ASM)\nadd_executable(p user.c g.S)\n' >made/CMakeLists.txt
	CC="$(dirname "$UNSNARL")/unsnarl-cc" CXX="$(dirname "$UNSNARL")/unsnarl-c++" cmake -S made -B made/b >out 2>err && cmake --build made/b >>out 2>&1 && made/b/p
	verdict $? "cmake with assembly"
fi
long=$folder/$(printf 'long-name-%.0s' {1..20})/$(printf 'y%.0s' {1..240})/$(printf 'z%.0s' {1..240})
mkdir -p "$long" && cp threads.c "$long" && (cd "$long" && "$UNSNARL" cc -pthread threads.c -o threads && "$UNSNARL" hunt --budget 20 -- ./threads </dev/null) >out 2>err
verdict $? "a long working folder"

# ---- interruptions ----
cat >hang.c <<'C'
#include <pthread.h>
static volatile unsigned long i;
static void *spin(void *unused) { for (;;) i++; return unused; }
int main(void) { pthread_t t; pthread_create(&t, 0, spin, 0); spin(0); return 0; }
C
"$UNSNARL" cc -O1 -pthread hang.c -o hang
for verb in "hunt" "run -n 50 -j 2" "diagnose"; do
	for number in SIGINT SIGTERM; do
		interrupt $number 1.5 "$UNSNARL" $verb --timeout 100 -- ./hang # the end is not waited for
		[ "$status" -eq 130 ] && [ "$seconds" -lt 50 ]
		verdict $? "$verb, $number: exit status $status after $seconds seconds"
	done
done
for i in {1..300}; do echo "int f$i(int a) { int s = 0; for (int i = 0; i < a; i++) s += i * a; return s; }"; done >large.c
mkdir tmp
for number in SIGINT SIGTERM; do
	TMPDIR=$folder/tmp interrupt $number 0.3 "$UNSNARL" cc -O3 -c large.c large.c large.c large.c large.c large.c
	[ "$status" -ge 129 ]
	verdict $? "cc, $number: exit status $status"
	[ -z "$(ls tmp)" ]
	verdict $? "cc, $number: nothing temporary stays"
done

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
