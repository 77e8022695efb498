#!/usr/bin/env bash
# unsnarl cc and unsnarl c++ in place of a compiler: what build systems ask of
# one, what must be in the objects, and that programs behave as clang's do.
# UNSNARL names the tool (default build/unsnarl), SOURCE the source folder.
SHOWN=12
. "$(dirname "$0")/counting.sh"
mkdir "$folder/work" "$folder/tmp"
cd "$folder/work" || exit 2
export TMPDIR=$folder/tmp

# Compiles; leaves status, out and err.
cc() {
	"$UNSNARL" cc "$@" >out 2>err
	status=$?
}

cxx() {
	"$UNSNARL" c++ "$@" >out 2>err
	status=$?
}

good() { # good WHAT: the last compilation succeeded without a word
	[ "$status" -eq 0 ] && [ ! -s err ]
	verdict $? "$1"
}

like_clang() { # like_clang WHAT ARGS...: the last compilation succeeded with clang's own words, which differ with the machine
	local what=$1
	shift
	[ "$status" -eq 0 ] && clang-19 "$@" -o by-clang 2>&1 | diff - err >differs
	verdict $? "$what"
}

bad() { # bad REGEX WHAT: it failed like clang does
	[ "$status" -eq 1 ] && grep -Eq -- "$1" err
	verdict $? "$2"
}

is_file() { # is_file FILE...
	local file
	for file; do
		[ -s "$file" ]
		verdict $? "$file was made"
	done
}

hooked() { # hooked FILE: an object or program with site table and bitcode
	readelf -SW "$1" 2>/dev/null | grep -q ' unsnarl_units ' && readelf -SW "$1" | grep -q ' \.llvmcmd '
	verdict $? "$1 has sites and bitcode"
}

prints() { # prints TEXT COMMAND...: alone and observed
	local text=$1
	shift
	[ "$("$@" 2>err)" = "$text" ]
	verdict $? "$* prints $text"
	[ "$("$UNSNARL" exec -- "$@" 2>err)" = "$text" ]
	verdict $? "$* prints $text under exec"
}

# Every site of an ELF file: id, kind, function, file, line, variable (model/unit_format.h).
sites() { # sites FILE...
	python3 - "$@" <<'PY'
import struct, subprocess, sys, tempfile
for path in sys.argv[1:]:
    with tempfile.NamedTemporaryFile() as table:
        subprocess.run(["objcopy", "-O", "binary", "--only-section=unsnarl_units", path, table.name], check=True)
        data = table.read()
    at = 0
    while at < len(data):
        magic, version, size, _, nsites, strings = struct.unpack_from("<QIIQII", data, at)
        assert magic == 0x54494e554c52534e and version == 1 and size % 16 == 0, hex(magic)
        def text(offset):
            start = at + strings + offset
            return data[start:data.index(b"\0", start)].decode()
        for i in range(nsites):
            id, line, column, _, function, file, variable, kind, _ = struct.unpack_from("<QIIIIIIII", data, at + 32 + i * 40)
            print(f"{id:016x}", kind, text(function) or "-", text(file), f"{line}:{column}", text(variable) or "-")
        at += size
PY
}

write_sources() {
	cat >main.c <<'C'
#include <stdio.h>
#include "part.h"
#ifndef GREETING
#define GREETING "hello"
#endif
static int state;
static int step(int by) { return state += by; }
int main(void)
{
	step(1);
	printf("%s %d\n", GREETING, step(2) + part_step(4));
	return 0;
}
C
	cat >part.h <<'C'
int part_step(int by);
C
	cat >part.c <<'C'
#include "part.h"
static int state = 10;
static int step(int by) { return state += by; }
int part_step(int by) { return step(by) + step(by); }
C
	cat >wide.cc <<'C'
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
template <typename T> struct Box { T value; T get() const { return value; } };
static std::atomic<int> total{0};
static std::once_flag flag;
static std::mutex lock;
static std::map<std::string, int> table;
int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back([i] {
			std::call_once(flag, [] { total += 100; });
			std::lock_guard<std::mutex> hold(lock);
			table["key"] += Box<int>{i}.get();
			total.fetch_add(i);
		});
	for (std::thread &thread : threads)
		thread.join();
	try {
		throw std::runtime_error("thrown");
	} catch (const std::exception &error) {
		std::cout << error.what() << ' ' << total << ' ' << table["key"] << std::endl;
	}
	return 0;
}
C
}

test_steps() {
	cc -c main.c
	good "-c"
	hooked main.o
	cc -c part.c -o sub.o
	good "-c -o"
	hooked sub.o
	cc main.o sub.o -o linked
	good "linking objects"
	prints "hello 35" ./linked
	hooked linked
	cc -O2 main.c part.c -o several
	good "several sources in one call"
	prints "hello 35" ./several
	rm -f main.o part.o
	cc -c main.c part.c
	good "-c with several sources"
	is_file main.o part.o
	cc main.o part.c
	good "an object and a source, no -o"
	prints "hello 35" ./a.out
	cc -O1 -S main.c
	good "-S"
	grep -q 'unsnarl_units' main.s
	verdict $? "assembly has the sites"
	cc -o from-assembly main.s part.c
	good "linking assembly"
	prints "hello 35" ./from-assembly
	cc -S -o - main.c
	grep -q '^main:' out
	verdict $? "-S -o -"
	cc -E main.c
	grep -q 'int main(void)' out
	verdict $? "-E"
	cc -E -o main.i main.c
	cc -c main.i -o from-i.o
	good "a preprocessed source"
	hooked from-i.o
	cc -r main.o part.o -o both.o
	good "-r"
	cc both.o -o from-both
	prints "hello 35" ./from-both
	printf 'int x; int main(void) { return x; }\n' | "$UNSNARL" cc -x c - -o from-stdin >out 2>err
	status=$?
	good "-x c -"
	hooked from-stdin
	printf 'int x; int f(void) { return x; }\n' | "$UNSNARL" cc -c -x c -o from-stdin.o - >out 2>err
	status=$?
	good "-c -x c -o FILE -"
	cp main.c main.weird
	cc -x c main.weird -x none part.o -o from-weird
	good "-x c FILE -x none OBJECT"
	prints "hello 35" ./from-weird
	printf '.globl from_s\nfrom_s: ret\n' >plain.s
	cc -c plain.s && cc -c main.c plain.s
	is_file plain.o main.o
	rm -f plain.o main.o
	cc -c main.c plain.s
	is_file plain.o main.o
}

test_options() {
	mkdir -p "a folder/include"
	echo '#define GREETING "from a header"' >"a folder/include/greeting file.h"
	cc -I . -I "a folder/include" -include "greeting file.h" main.c part.c -o "a folder/pro gram"
	good "spaces in paths, -I and -include with separate values"
	prints "from a header 35" "./a folder/pro gram"
	cp main.c "a folder/ma in.c"
	cc -I. -c "a folder/ma in.c"
	good "a source with a space"
	is_file "ma in.o"
	cc -D 'GREETING="two words"' main.c part.c -o defined
	prints "two words 35" ./defined
	cat >arguments.rsp <<'R'
-O2 "-DGREETING=\"from a file\""
main.c 'part.c' @more.rsp
R
	echo '-o responded' >more.rsp
	cc @arguments.rsp
	good "response files"
	prints "from a file 35" ./responded
	echo '@again.rsp' >again.rsp
	cc @again.rsp
	[ "$status" -ne 0 ] && [ -s err ]
	verdict $? "a response file that names itself"
	local option
	for option in -O0 -O1 -O2 -O3 -Os "-Og -g0" "-O3 -ffast-math -march=native" "-fPIC -pthread -flto" \
		"-fPIE -flto=thin" -no-pie "-g3 -fno-omit-frame-pointer -fstack-protector-all -fvisibility=hidden" \
		"-fuse-ld=lld -Wl,--as-needed" "-s -rdynamic -fno-plt -Wl,-z,now -gdwarf-4" -fsanitize=undefined \
		"-O2 -D_FORTIFY_SOURCE=2 -ffunction-sections -fdata-sections -Wl,--gc-sections"; do
		# shellcheck disable=SC2086 # several words
		cc $option main.c part.c -o optioned
		# shellcheck disable=SC2086
		like_clang "$option" $option main.c part.c
		[ "$(./optioned 2>err)" = "hello 35" ] && [ "$("$UNSNARL" exec -- ./optioned 2>>err)" = "hello 35" ]
		verdict $? "$option: the program runs"
		hooked optioned
	done
	cc -v -c main.c
	[ "$status" -eq 0 ] && grep -q 'clang version' err
	verdict $? "-v"
	local flag
	for flag in -fsyntax-only "-c -o /dev/null" "-c -Wall -Wextra -Werror" "-c -pipe" "-c -fdiagnostics-color=always" \
		"-c -Wno-some-unknown-warning" "-c -save-temps=obj" "-c --coverage" "-c -fprofile-instr-generate"; do
		# shellcheck disable=SC2086
		cc $flag main.c
		[ "$status" -eq 0 ]
		verdict $? "$flag"
	done
}

test_standards() {
	local standard
	for standard in c89 c99 gnu11 c17; do
		cc -std=$standard -O1 main.c part.c -o standard
		good "-std=$standard"
		prints "hello 35" ./standard
	done
	for standard in c++11 c++17 c++20; do
		cxx -std=$standard -O1 -pthread wide.cc -o wide
		good "-std=$standard"
		prints "thrown 103 3" ./wide
	done
	cxx -O0 -pthread wide.cc -o wide
	prints "thrown 103 3" ./wide
	hooked wide
	cp wide.cc wide.cpp && cp wide.cc wide.C
	cxx -c wide.cpp && cxx -c wide.C -o wide2.o && cc -c wide.cpp -o wide3.o
	good "C++ by its ending"
	cxx wide3.o -o wide -pthread
	prints "thrown 103 3" ./wide
	printf 'extern "C" int puts(const char *);\nint n; int main() { n++; return !puts("c++"); }\n' >cee.c
	cxx -Wno-deprecated cee.c -o cee
	good "c++ compiles .c as C++"
	prints "c++" ./cee
}

# Dependency files name the object that was asked for and every header.
test_dependencies() {
	local target
	rm -f ./*.d
	cc -c -MD main.c
	good "-MD"
	grep -q '^main.o:.*main.c' main.d && grep -q 'part.h' main.d && grep -q stdio.h main.d
	verdict $? "-MD: main.d"
	mkdir -p build
	cc -c -MMD main.c -o build/main.o
	grep -q '^build/main.o: main.c part.h' build/main.d && ! grep -q stdio.h build/main.d
	verdict $? "-MMD -o build/main.o: build/main.d"
	cc -c -MMD -MP -MF named.d -MT 'the target' main.c -o build/main.o
	grep -q '^the target: main.c' named.d && grep -q '^part.h:' named.d
	verdict $? "-MP -MF -MT"
	cc -c -MMD -MFjoined.d -MQ 'a$b' main.c
	grep -q '^a$$b: main.c' joined.d
	verdict $? "-MF and its value in one word, -MQ"
	rm -f asked.d
	cc -c -Wp,-MD,asked.d main.c -o build/main.o
	good "-Wp,-MD,FILE"
	grep -q 'part.h' asked.d 2>/dev/null
	verdict $? "-Wp,-MD,FILE lists headers"
	target=$(clang-19 -c -Wp,-MD,theirs.d main.c -o build/theirs.o && head -c 14 theirs.d)
	[ "$(head -c 12 asked.d 2>/dev/null)" = "$(printf %s "${target/theirs/main}" | head -c 12)" ]
	verdict $? "-Wp,-MD,FILE names the target as clang does: $(head -n 1 asked.d 2>/dev/null)"
	cc -M main.c
	grep -q '^main.o: main.c' out
	verdict $? "-M"
	cc -MM main.c -MT other -MF out.d
	grep -q '^other: main.c part.h' out.d
	verdict $? "-MM -MF"
	rm -f ./*.d
	clang-19 -MD main.c part.c -o theirs && target=$(ls ./*.d | tr '\n' ' ') && rm -f ./*.d
	cc -MD main.c part.c -o mine
	[ "$(ls ./*.d 2>/dev/null | tr '\n' ' ' | sed s/mine/theirs/g)" = "$target" ]
	verdict $? "-MD and linking: $(ls ./*.d 2>/dev/null | tr '\n' ' ')instead of $target"
}

test_libraries() {
	mkdir -p lib
	cc -c part.c -o lib/part.o && rm -f lib/libpart.a && ar rc lib/libpart.a lib/part.o
	cc main.c -Llib -lpart -o with-archive
	good "static library"
	prints "hello 35" ./with-archive
	cc -shared -fPIC part.c -o lib/libshared.so
	good "shared library"
	hooked lib/libshared.so
	! nm -D --defined-only lib/libshared.so | grep -q ' pthread_create\| free$'
	verdict $? "a shared library carries no runtime"
	cc main.c -Llib -lshared -Wl,-rpath,"$PWD/lib" -o with-shared
	good "linking a shared library"
	prints "hello 35" ./with-shared
	local option
	for option in -Wl,-z,defs -Wl,--no-undefined "-Wl,--no-undefined -Wl,--as-needed" "-z defs" \
		"-fuse-ld=lld -Wl,-z,defs" "-Wl,-soname,libx.so.1 -Wl,-Bsymbolic"; do
		# shellcheck disable=SC2086
		cc -shared -fPIC $option part.c -o lib/libstrict.so
		good "shared library with $option"
	done
	printf '{ global: part_step; local: *; };\n' >exports
	cc -shared -fPIC -Wl,--version-script=exports part.c -o lib/libshared.so
	good "shared library with a version script"
	prints "hello 35" ./with-shared
	cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*step)(int) = library ? (int (*)(int))dlsym(library, "part_step") : NULL;
	printf("%d\n", step ? step(1) : -1);
	return !step;
}
C
	cc host.c -ldl -o host
	prints "23" ./host lib/libshared.so
	clang-19 -shared -fPIC part.c -o lib/libplain.so
	prints "23" ./host lib/libplain.so
	cc -c -fPIC part.c -o lib/pic.o && cc -shared lib/pic.o -o lib/libtwo.so
	good "a shared library from an object"
	clang-19 -c part.c -o lib/plain.o
	cc main.c lib/plain.o -o mixed
	good "a plain object in an observed program"
	prints "hello 35" ./mixed
}

test_mistakes() {
	cc
	bad 'no input files' "no arguments"
	cc nosuch.c
	bad "no such file or directory: 'nosuch.c'" "missing file"
	printf 'int main(void) { return 1 }\n' >syntax.c
	cc -c syntax.c
	bad "syntax.c:1:.*error: expected ';'" "syntax error"
	[ ! -e syntax.o ]
	verdict $? "no object of a wrong source"
	cc syntax.c main.c part.c -o never
	bad "expected ';'" "syntax error while linking"
	[ ! -e never ]
	verdict $? "no program of a wrong source"
	rm -f part.o
	cc -c syntax.c part.c
	bad "expected ';'" "syntax error in one of two"
	is_file part.o # as clang, go on with the others
	cc main.c -o never
	bad 'undefined reference to .part_step' "undefined reference"
	cc --nosuchoption main.c
	bad "unsupported option '--nosuchoption'|unknown argument" "unknown option"
	cc -c main.c part.c -o one.o
	bad 'cannot specify -o' "-o with several objects"
	cc -c main.c -o nosuch/main.o
	bad 'nosuch/main.o' "an object in a missing folder"
	cc -static main.c part.c -o static
	[ "$status" -ne 0 ] && grep -q -- '-static' err
	verdict $? "-static is refused with a sentence"
	printf 'int f(int n) { int unused; return n = n; }\n' >warned.c
	cc -Wall -Wextra -c warned.c
	[ "$status" -eq 0 ] && [ "$(grep -c 'warning: unused variable' err)" -eq 1 ]
	verdict $? "warnings are kept, once"
	cc -Wall -Wextra -Werror -c warned.c
	bad 'error: unused variable' "-Werror"
	cc --version
	[ "$status" -eq 0 ] && grep -q 'clang version 19' out
	verdict $? "--version"
	cc -dumpmachine && grep -q x86_64 out
	verdict $? "-dumpmachine"
	cc -print-prog-name=ld && grep -q ld out
	verdict $? "-print-prog-name"
	cc -m32 -c part.c
	[ "$status" -ne 0 ] && [ "$(wc -l <err)" -eq 1 ]
	verdict $? "-m32 is refused with a sentence"
	[ -z "$(ls -A "$TMPDIR")" ]
	verdict $? "nothing is left in TMPDIR: $(ls "$TMPDIR" | head -n 3)"
}

# The same source gives the same ids; a program has no id twice.
test_ids() {
	cc -g -O1 main.c part.c -o one && cc -g -O1 main.c part.c -o two
	sites one >one.sites 2>err && sites two >two.sites 2>err
	verdict $? "site tables can be read"
	[ -s one.sites ] && cmp -s one.sites two.sites
	verdict $? "two builds have the same sites"
	cc -g -O1 -c main.c && cc -g -O1 -c part.c
	sites main.o part.o | cut -d' ' -f1 | sort >apart.ids
	cut -d' ' -f1 one.sites | sort | cmp -s - apart.ids
	verdict $? "compiled one by one or in one call: the same ids"
	grep -Eq "^[0-9a-f]+ [12] (step|main) $PWD/main.c 7:[0-9]+ state\$" one.sites
	verdict $? "a site says function, file, line and variable"
	# The optimiser makes two variables of it.
	printf 'struct stats { long requests, bytes; };\nstatic struct stats stats;\nvoid note(long n) { stats.requests++; stats.bytes += n; }\nlong all(void) { return stats.requests; }\nlong sum(void) { return stats.bytes; }\n' >apart.c
	cc -g -O1 -c apart.c && sites apart.o >apart.sites
	grep -Eq "apart.c 3:[0-9]+ stats.requests\$" apart.sites && grep -Eq "apart.c 3:[0-9]+ stats.bytes\$" apart.sites
	verdict $? "members of a structure that was taken apart have their names"
	# The same name in two folders, each compiled where it lies, as recursive makes do.
	mkdir -p north south
	cp part.c part.h north && sed 's/part_step/south_step/' part.c >south/part.c && cp part.h south
	(cd north && "$UNSNARL" cc -c part.c) && (cd south && "$UNSNARL" cc -w -c part.c)
	printf 'int south_step(int); int part_step(int);\nint main(void) { return part_step(1) + south_step(1) != 46; }\n' >poles.c
	cc poles.c north/part.o south/part.o -o poles
	good "poles"
	sites poles >poles.sites
	[ -s poles.sites ] && [ -z "$(cut -d' ' -f1 poles.sites | sort | uniq -d)" ]
	verdict $? "ids are unique though names and functions are the same"
	cxx -O1 -pthread wide.cc -o wide
	[ -z "$(sites wide | cut -d' ' -f1 | sort | uniq -d)" ]
	verdict $? "ids are unique in C++"
}

test_build_systems() {
	cat >Makefile <<'M'
CFLAGS = -O2 -MMD
program: main.o part.o
	$(CC) $(LDFLAGS) -o $@ $^
-include main.d part.d
M
	rm -f main.o part.o
	make -j2 CC="$UNSNARL cc" >out 2>err
	verdict $? "make"
	prints "hello 35" ./program
	hooked program
	touch part.h
	make -q CC="$UNSNARL cc" >out 2>err
	[ $? -eq 1 ]
	verdict $? "make knows the headers"
	mkdir -p tree && cp main.c part.c part.h wide.cc tree
	cat >tree/CMakeLists.txt <<'M'
cmake_minimum_required(VERSION 3.10)
project(example C CXX)
find_package(Threads REQUIRED)
set(CMAKE_CXX_STANDARD 17)
include(CheckFunctionExists)
check_function_exists(strlcpy_surely_not HAVE_NOT)
check_function_exists(qsort HAVE_QSORT)
if(HAVE_NOT OR NOT HAVE_QSORT)
  message(FATAL_ERROR "checks go wrong")
endif()
add_library(part SHARED part.c)
add_executable(program main.c)
target_link_libraries(program part)
add_executable(wide wide.cc)
target_link_libraries(wide Threads::Threads)
M
	(CC="$UNSNARL cc" CXX="$UNSNARL c++" cmake -S tree -B tree/build -DCMAKE_BUILD_TYPE=Release &&
		cmake --build tree/build -j2) >out 2>err
	verdict $? "cmake with CC and CXX"
	prints "hello 35" tree/build/program
	prints "thrown 103 3" tree/build/wide
	hooked tree/build/libpart.so
	cat >configure <<'S'
#!/bin/sh
# What autoconf's checks do, in small.
check() { echo "$2" >conftest.c; $CC $CFLAGS -o conftest$3 conftest.c $4 >conftest.log 2>&1; echo "$1 $?"; }
echo 'int main(void) { return 0; }' >conftest.c
$CC conftest.c && test -x a.out && echo "default a.out"
$CC -V >/dev/null 2>&1 || echo "no -V"
$CC -o conftest conftest.c && ./conftest && echo "runs"
$CC -c conftest.c && test -f conftest.o && echo "object suffix o"
$CC -E conftest.c >/dev/null && echo "preprocesses"
$CC -c conftest.c -o conftest2.o && $CC -c conftest.c -o conftest2.o && echo "-c with -o"
check header '#include <pthread.h>
int main(void) { return 0; }'
check missing '#include <no/such/header.h>'
check function 'char pthread_create(); int main(void) { return pthread_create(); }' '' -lpthread
check library 'char deflate_surely_not(); int main(void) { return deflate_surely_not(); }'
check size 'static int test[1 - 2 * !(sizeof(long) == 8)]; int main(void) { return test[0] = 0; }'
check wrong 'static int test[1 - 2 * !(sizeof(long) == 4)]; int main(void) { return test[0] = 0; }'
echo 'void f(void) {}' | $CC -x c -c - -o conftest3.o && echo "from standard input"
nm conftest.o | grep -q ' T main' && echo "nm finds main"
S
	mkdir -p conf && (cd conf && CC="$UNSNARL cc" CFLAGS=-g sh ../configure) >out 2>err
	(mkdir -p conf2 && cd conf2 && CC=clang-19 CFLAGS=-g sh ../configure) >expected 2>/dev/null
	cmp out expected 2>>err
	verdict $? "configure finds what it finds with clang"
}

test_sanitizers() {
	cc -O1 -fsanitize=address main.c part.c -o addressed
	good "-fsanitize=address builds"
	prints "hello 35" ./addressed
	printf '#include <stdlib.h>\nint main(int n, char **v) { int *p = malloc(8); free(p); return p[n]; }\n' >after.c
	cc -g -fsanitize=address after.c -o after
	./after >out 2>err
	grep -q 'heap-use-after-free' err
	verdict $? "AddressSanitizer still finds a use after free"
	printf '#include <stdlib.h>\nchar *volatile lost; int main(void) { lost = malloc(8); lost = NULL; return 0; }\n' >leak.c
	cc -g -fsanitize=address leak.c -o leak
	"$UNSNARL" run -n 1 --store leaks -- ./leak >out 2>err
	grep -q '1 passed, 0 failed' out
	verdict $? "a leak is no failure of a run"
	ASAN_OPTIONS=detect_leaks=1 "$UNSNARL" run -n 1 --store leaks -- ./leak >out 2>err
	grep -q '0 passed, 1 failed' out
	verdict $? "unless it is asked for"
	"$UNSNARL" hunt --budget 1 --store leaks -- ./leak >out 2>err
	test $? = 2 && grep -q 'build it without -fsanitize=address' err
	verdict $? "a hunt of an AddressSanitizer build is refused"
}

# A rough bar: hooks must not make builds a matter of patience.
test_time() {
	local plain observed
	cat >slow.py <<'P'
for f in range(300):
    print(f"static long v{f}[64]; long f{f}(int n) {{ long s = 0; for (int i = 0; i < n; i++) "
          f"{{ v{f}[i % 64] += i * {f}; s += v{f}[(i + {f}) % 64]; if (s % 7 == {f} % 7) v{f}[s & 63] = s; }} return s; }}")
P
	python3 slow.py >slow.c
	plain=$( { TIMEFORMAT=%U; time clang-19 -g -O2 -c slow.c -o slow.plain.o; } 2>&1)
	observed=$( { TIMEFORMAT=%U; time "$UNSNARL" cc -g -O2 -c slow.c -o slow.o; } 2>&1)
	python3 -c 'import sys; sys.exit(float(sys.argv[2]) > 4 * float(sys.argv[1]) + 0.5)' "$plain" "$observed" 2>err
	verdict $? "compiling took $observed s instead of $plain s"
}

write_sources
test_steps
test_options
test_standards
test_dependencies
test_libraries
test_mistakes
test_ids
test_build_systems
test_sanitizers
test_time
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
