#!/usr/bin/env python3
"""Entry and iteration of the loops in which the two ends of a pair stood: test_loops.py UNSNARL [binary]

Programs with hooks are built for it (cc --loops); programs as they are, by gcc, are asked for it (run --loops), and
must tell the same."""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <pthread.h>
#include <semaphore.h>
static sem_t ready, go, gone;
static volatile int value;
static void put(int i) { value = i; }

static void *writer(void *argument)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 9; i++) {
			if (round == 1 && i == 4) {
				sem_wait(&ready);
				put(i); /* second entry of the inner loop, fifth iteration */
				sem_post(&go);
				sem_wait(&gone);
			}
		}
	return argument;
}

int main(void)
{
	pthread_t thread;
	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&gone, 0, 0);
	pthread_create(&thread, 0, writer, 0);
	int sum = 0;
	for (int i = 0; i < 20; i++) {
		if (i == 6) {
			sem_post(&ready);
			sem_wait(&go);
			sum += value; /* seventh iteration */
			sem_post(&gone);
		}
		for (int k = 0; k < 5; k++)
			value += k;
	}
	pthread_join(thread, 0);
	return sum < 0 || value < 0; /* after the loops */
}
"""


# The threads take turns, so every run has the same pairs. Loops that are left by return, break, longjmp and by the end of
# a recursion, and one around a switch, which is a jump through a table.
TURNS = r"""
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
static sem_t mine, theirs;
static int value, steps[9];
static jmp_buf away;
static void meet(sem_t *give, sem_t *take)
{
	sem_post(give);
	sem_wait(take);
}

static int find(int wanted)
{
	for (int i = 0; i < 9; i++)
		if (i == wanted)
			return i + value; /* leaves the loop */
	return 0;
}

static void jump(int depth)
{
	for (int i = 0; i < 4; i++) {
		if (depth == 2 && i == 3)
			longjmp(away, 1);
		if (i == 2) {
			value += depth; /* third iteration, at any depth */
			if (depth < 2)
				jump(depth + 1);
		}
	}
}

static int interpret(const int *code)
{
	int sum = 0;
	for (;;) {
		int step = *code++;
		switch (step) {
		case 0: sum += 1; break;
		case 1: sum += value; break; /* sixth iteration */
		case 2: sum *= 2; break;
		case 3: sum ^= 5; break;
		case 4: sum -= 3; break;
		case 5: sum |= 8; break;
		case 6: return sum;
		}
	}
}

static void *other(void *argument)
{
	sem_wait(&theirs);
	for (int i = 0; i < 5; i++) {
		if (i == 3)
			value = i; /* fourth iteration */
		meet(&mine, &theirs);
	}
	value = 9; /* after the loop */
	sem_post(&mine);
	return argument;
}

int main(void)
{
	static const int code[] = { 0, 2, 3, 4, 5, 1, 6 };
	pthread_t thread;
	sem_init(&mine, 0, 0);
	sem_init(&theirs, 0, 0);
	pthread_create(&thread, 0, other, 0);
	for (int i = 0; i < 4; i++) {
		meet(&theirs, &mine);
		steps[0] += find(i);
	}
	if (!setjmp(away))
		jump(0);
	for (int i = 0; i < 2; i++) {
		meet(&theirs, &mine);
		steps[1] += interpret(code);
		for (int k = 0; k < 3; k++)
			value += k;
	}
	pthread_join(thread, 0);
	return value < 0;
}
"""

def ends(pairs, kind, head, tail):
    """The first pair of this kind between these functions."""
    return next(p for p in pairs if p["kind"] == kind and p["head"]["function"] == head and p["tail"]["function"] == tail)


def check(unsnarl, folder, level):
    (folder / "loops.c").write_text(PROGRAM)
    call = lambda *words: subprocess.run([unsnarl, *words], cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    call("cc", "--loops", level, "-g", "-pthread", "loops.c", "-o", "loops")
    call("run", "-n", "1", "--store", f"store{level}", "--", "./loops")
    pairs = json.loads(call("show", "1", "--store", f"store{level}", "--json"))["pairs"]
    pair = ends(pairs, "write-read", "put", "main")
    writer, reader = pair["head"]["loop"], pair["tail"]["loop"]
    failures = []
    # A write in a function called from the loop stands in that loop. At -O2 the compiler may
    # merge, peel or unroll loops, so only -O0 and -O1 have the iterations of the source.
    if writer["iteration"] != 5:
        failures.append(f"the write was in iteration 5, not {writer['iteration']}")
    if writer["header"]["function"] != "writer":
        failures.append(f"the write's loop is in writer, not {writer['header']['function']}")
    if reader["iteration"] != 7 or reader["entry"] != 1:
        failures.append(f"the read was in entry 1, iteration 7, not {reader}")
    return failures


def told(unsnarl, folder, name, *options):
    """Of each pair of a run, by its lines: loop and iteration of both ends, and how entries differ."""
    call = lambda *words: subprocess.run([unsnarl, *words], cwd=folder, check=True, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL).stdout
    call("run", "-n", "1", "--store", f"{name}.store", *options, "--", f"./{name}")
    run = json.loads(call("show", "1", "--store", f"{name}.store", "--json"))
    assert run["label"] == "pass", run["outcome"]
    pairs = run["pairs"]
    place = lambda end: (end["loop"]["header"]["line"], end["loop"]["iteration"]) if end["loop"] else None
    return {(p["kind"], p["head"]["line"], p["tail"]["line"]): (place(p["head"]), place(p["tail"])) for p in pairs}


def check_as_it_is(unsnarl, folder, level):
    (folder / "turns.c").write_text(TURNS)
    subprocess.run(["gcc", "-g", level, "-pthread", "turns.c", "-o", "plain"], cwd=folder, check=True)
    plain = told(unsnarl, folder, "plain", "--loops")
    failures = [] if plain else ["no pairs"]
    if not any(any(ends) for ends in plain.values()):
        failures.append("no loops")
    if not any(head is None and tail for head, tail in plain.values()):
        failures.append("no pair from behind a loop into one")
    if level == "-O0":  # else the two compilers make different loops
        subprocess.run([unsnarl, "cc", "--loops", level, "-g", "-pthread", "turns.c", "-o", "hooked"], cwd=folder,
                       check=True)
        hooked = told(unsnarl, folder, "hooked")
        failures += [f"{pair}: with hooks {hooked.get(pair)}, as it is {plain.get(pair)}"
                     for pair in sorted(hooked.keys() | plain.keys()) if hooked.get(pair) != plain.get(pair)]
    asked = subprocess.run([unsnarl, "run", "--loops", "--loom", "compiled", "--", "./plain"], cwd=folder, capture_output=True)
    if asked.returncode == 0:
        failures.append("run --loops was taken for a program with hooks")
    return failures


def main():
    unsnarl = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = 0
    checks = [(check, "-O0"), (check, "-O1")]
    if "binary" in sys.argv[2:]:
        checks += [(check_as_it_is, "-O0"), (check_as_it_is, "-O2")]
    with tempfile.TemporaryDirectory() as folder:
        for verify, level in checks:
            name = f"{verify.__name__} at {level}"
            for failure in verify(unsnarl, pathlib.Path(folder), level) or [None]:
                passed += failure is None
                failed += failure is not None
                print(f"not ok: {name}: {failure}" if failure else f"ok: {name}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
