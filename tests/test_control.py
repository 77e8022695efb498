#!/usr/bin/env python3
"""The runtime under control, without the rest of the tool: test_control.py UNSNARL DRIVER [PROGRAM...]

What a schedule may be is compared with a naive twin that enumerates all
interleavings; the same seed must give the same turns in a forked child and in
a fresh process, and every run must replay from its turns. What is not under
control must be named.
"""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

POLICIES = ["random", "pct", "pos", "surw", "random-places", "pct-groups", "pos-places", "surw-places"]
CORRECT = pathlib.Path(__file__).resolve().parent / "correct"
SERIAL = pathlib.Path(__file__).resolve().parent / "serial"
passed = failed = 0


def verdict(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"not ok: {what}")


def build(unsnarl, name, text):
    pathlib.Path(f"{name}.c").write_text(text)
    done = subprocess.run([unsnarl, "cc", "-w", "-O1", "-g", "-pthread", "-o", name, f"{name}.c"],
                          capture_output=True, text=True)
    verdict(done.returncode == 0, f"{name}: built: {done.stderr[-300:]}")


def drive(driver, *words):
    done = subprocess.run([driver, *words], capture_output=True, text=True, errors="replace", timeout=120,
                          stdin=subprocess.DEVNULL)
    return done.stdout


# ---- all interleavings, by hand and by policy ----

SUMS = """
#include <pthread.h>
#include <stdio.h>
static volatile int x;
static void *add(void *p) { for (int i = 0; i < 2; i++) x = x + (long)p; return NULL; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, add, (void *)1L);
	pthread_create(&b, NULL, add, (void *)10L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("sum %d\\n", x);
}
"""


def reachable():
    """Final values of x over every order of the two threads' reads and writes."""
    found = set()
    for first in itertools.combinations(range(8), 4):
        x, held, steps = 0, [0, 0], [0, 0]
        for at in range(8):
            thread = 0 if at in first else 1
            if steps[thread] % 2 == 0:
                held[thread] = x
            else:
                x = held[thread] + (1, 10)[thread]
            steps[thread] += 1
        found.add(x)
    return found


def test_interleavings(unsnarl, driver):
    build(unsnarl, "sums", SUMS)
    wanted = reachable()
    together = set()
    for policy in POLICIES:
        text = drive(driver, "-p", policy, "-n", "400", "-d", "4", "-g", "./sums")
        found = {int(value) for value in re.findall(r"^sum (\d+)$", text, re.M)}
        verdict(found <= wanted, f"{policy}: values that no interleaving gives: {found - wanted}")
        verdict(len(found) > 2, f"{policy}: finds only {found}")
        together |= found
        if policy in ("random", "pos"):
            verdict(found == wanted, f"{policy}: does not reach {wanted - found}")
    verdict(together == wanted, f"never reached: {wanted - together}")
    stay = drive(driver, "-p", "stay", "-n", "20", "./sums")
    verdict(set(re.findall(r"^sum (\d+)$", stay, re.M)) == {"22"}, "stay: one thread after the other")


LATE = '''
#include <pthread.h>
#include <stdio.h>
static char text[16];
static volatile int n;
static void work(int digits) { snprintf(NULL, 0, "%0*d", digits, 1); }
static void *once(void *p) { work(100000000); text[n++] = 'a'; return p; }
static void *often(void *p) { for (int i = 0; i < 8; i++) { work(100); text[n++] = 'b'; } return p; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, once, NULL);
	pthread_create(&b, NULL, often, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("order %s\\n", text);
}
'''


def test_clock(unsnarl, driver):
    """Who has the longer way to go comes later, though it began first and nothing stops it on the way."""
    build(unsnarl, "late", LATE)
    text = drive(driver, "-p", "clock", "-n", "10", "-g", "./late")
    found = re.findall(r"^order (\w+)$", text, re.M)
    verdict(len(found) == 10 and found.count("bbbbbbbba") > 5, f"clock: {found}")


# ---- the same again ----

def turns(text):
    return [line for line in text.splitlines() if re.match(r"  \d+: thread|seed", line)]


def test_determinism(driver, program):
    for policy in POLICIES + ["stay"]:
        words = ["-v", "-g", "-p", policy, "-n", "5", "-s", "7", "-k", "100", program]
        forked, again, fresh = drive(driver, *words), drive(driver, *words), drive(driver, "-f", *words)
        verdict(len(turns(forked)) > 5, f"{program} {policy}: has turns")
        verdict(turns(forked) == turns(again), f"{program} {policy}: the same seed, the same turns")
        verdict(turns(forked) == turns(fresh), f"{program} {policy}: the same in a fresh process")
        slow = drive(driver, "-l", *words)
        verdict(turns(forked) == turns(slow), f"{program} {policy}: the same when no access takes a short way")


def test_replay(driver, program, *more):
    for policy in POLICIES + ["stay"]:
        text = drive(driver, "-q", "-r", "-g", "-p", policy, "-n", "10", *more, program)
        verdict("10 of 10 identical" in text, f"{program} {policy}: replays: {text[-300:]}")


# ---- what is observed ----

def observed(text):
    """All but orders: those of a granule's bytes may be of its last access of that kind."""
    return re.sub(r" orders [0-9a-f]+", "", "".join(re.findall(r"^  observed: .*|^seed .*", text, re.M)))


def test_observed(unsnarl, driver):
    """Long runs, most of whose accesses take short ways, teach what they teach without short ways."""
    for source in sorted(SERIAL.glob("*.c")):
        for level in ("-O0", "-O2"):
            name = f"./{source.stem}{level}"
            done = subprocess.run([unsnarl, "cc", "-w", level, "-g", "-pthread", "-o", name, source])
            verdict(done.returncode == 0, f"{name}: built")
            short, long = (observed(drive(driver, "-v", *more, "-p", "pos", "-s", "7", name)) for more in ([], ["-l"]))
            verdict("pairs" in short and short == long, f"{name}: short ways: {short}; none: {long}")


STACKS = """
#include <alloca.h>
#include <pthread.h>
static int table[20000];
static __attribute__((noinline)) void fill(int *p, long n)
{
	for (long i = 0; i < n; i++)
		p[i] += (int)i;
	__asm__ volatile("" : : "r"(p) : "memory");
}
static void *work(void *n) { fill(alloca((long)n * sizeof(int)), (long)n); return NULL; }
int main(void)
{
	pthread_t t;
	fill(table, 20000);
	for (int i = 0; i < 4; i++) {
		pthread_create(&t, NULL, work, (void *)512L);
		pthread_join(t, NULL);
	}
}
"""


def test_stacks(unsnarl, driver):
    """Each thread has the stack of the one before: no pair, however late in the run."""
    build(unsnarl, "stacks", STACKS)
    text = drive(driver, "-p", "stay", "./stacks")
    verdict("status 0" in text and " pairs 0" in text, f"stacks of threads one after the other: {text}")


# ---- ends ----

CROSSED = """
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *ab(void *p) { pthread_mutex_lock(&a); pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return p; }
static void *ba(void *p) { pthread_mutex_lock(&b); pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return p; }
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, ab, NULL);
	pthread_create(&u, NULL, ba, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
}
"""

EARLY = """
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *tell(void *p) { pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, tell, NULL);
	pthread_mutex_lock(&m);
	pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
}
"""

ENDLESS = """
#include <pthread.h>
#include <sched.h>
volatile int flag;
static void *spin(void *p) { while (!flag) sched_yield(); return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, spin, NULL);
	pthread_join(t, NULL);
}
"""

# Its child is not under control.
FORKS = """
#include <pthread.h>
#include <unistd.h>
static void *rest(void *p) { sleep(1); return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, rest, NULL);
	if (fork() == 0) { usleep(100); _exit(0); }
	pthread_join(t, NULL);
	return 0;
}
"""


def test_ends(unsnarl, driver):
    build(unsnarl, "crossed", CROSSED)
    text = drive(driver, "-n", "100", "./crossed")
    verdict("end deadlock" in text, "crossed: deadlock")
    verdict(re.search(r"thread 1 waits: kind 1 object \d holder 2", text), "crossed: who holds what")
    test_replay(driver, "./crossed")
    build(unsnarl, "early", EARLY)
    text = drive(driver, "-n", "50", "./early")
    verdict("end lost-wakeup" in text and "missed by 1" in text, "early: lost wake-up, who signalled")
    verdict("end deadlock" not in text, "early: no deadlock")
    test_replay(driver, "./early")
    build(unsnarl, "endless", ENDLESS)
    text = drive(driver, "-n", "3", "-m", "20000", "./endless")
    verdict(text.count("end livelock") == 3, "endless: livelock")
    build(unsnarl, "forks", FORKS)
    text = drive(driver, "-n", "3", "./forks")
    verdict("fork: children run free" in text and "3 passed" in text, "forks: fork is named")


def test_programs(unsnarl, driver, only):
    """The programs of tests/correct replay from their turns in a fresh process, but for those that are not all under control."""
    for source in sorted(CORRECT.glob("*.c")):
        text = source.read_text()
        if (only and source.stem not in only) or "uncontrolled:" in text or "may be named" in text:
            continue
        done = subprocess.run([unsnarl, "cc", "-w", "-O1", "-g", "-pthread", "-o", source.stem, str(source)],
                              capture_output=True, text=True)
        verdict(done.returncode == 0, f"{source.stem}: built")
        runs = 40 if "timer" in source.stem else 4  # seldom does a wait end early just before a timer
        for policy in ("random", "pos"):
            text = drive(driver, "-q", "-r", "-g", "-p", policy, "-n", str(runs), f"./{source.stem}")
            verdict(f"{policy}: {runs} passed 0 failed" in text, f"{source.stem} {policy}: passes: {text[-300:]}")
            verdict(f"{runs} of {runs} identical" in text, f"{source.stem} {policy}: replays: {text[-300:]}")


def main():
    unsnarl, driver = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if not sys.argv[3:] or sys.argv[3] == "-":
            test_interleavings(unsnarl, driver)
            test_clock(unsnarl, driver)
            test_determinism(driver, "./sums")
            test_replay(driver, "./sums")
            test_observed(unsnarl, driver)
            test_stacks(unsnarl, driver)
            test_ends(unsnarl, driver)
        test_programs(unsnarl, driver, sys.argv[3:])
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
