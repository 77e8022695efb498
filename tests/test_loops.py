#!/usr/bin/env python3
"""Entry and iteration of the loops in which the two ends of a pair stood: test_loops.py UNSNARL"""
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


def main():
    unsnarl = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O1"):
            for failure in check(unsnarl, pathlib.Path(folder), level) or [None]:
                passed += failure is None
                failed += failure is not None
                print(f"not ok: loops at {level}: {failure}" if failure else f"ok: loops at {level}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
