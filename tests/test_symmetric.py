#!/usr/bin/env python3
"""Many threads that run the same code, and one that does not: test_symmetric.py UNSNARL

The programs in tests/symmetric fail when one switch comes at one place. Hunts are repeatable, so
whether a seed finds the failure within its budget does not depend on the machine."""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent / "symmetric"
BUDGET = 5000
HUNTS = [  # program, threads, policy, seeds
    ("torn", 50, "auto", [1]), ("torn", 100, "auto", [1]),
    ("stable", 50, "auto", [1]), ("stable", 100, "auto", [1, 2]),
    ("first", 50, "auto", [1]), ("first", 100, "auto", [1, 2]),
    ("stable", 100, "random-places", [1]), ("stable", 100, "pos-places", [1]), ("stable", 100, "surw-places", [1]),
    ("first", 100, "pct2-groups", [1]), ("first", 100, "pct3-groups", [1]),
]


def build(unsnarl, name, folder):
    subprocess.run([unsnarl, "cc", "-O1", "-g", "-pthread", "-o", name, PROGRAMS / f"{name}.c"], cwd=folder, check=True)


def hunt(unsnarl, name, threads, policy, seed, folder):
    words = [unsnarl, "hunt", "--json", "--seed", str(seed), "--budget", str(BUDGET), "--policy", policy, "--passes", "0",
             "--failures", "1", "--no-reduce", "-j", "1", "--timeout", "60", "--", f"./{name}", str(threads)]
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=900)
    return json.loads(done.stdout)


def main():
    unsnarl, failed, passed = str(pathlib.Path(sys.argv[1]).resolve()), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted({name for name, *_ in HUNTS}):
            build(unsnarl, name, folder)
        for name, threads, policy, seeds in HUNTS:
            for seed in seeds:
                answer = hunt(unsnarl, name, threads, policy, seed, folder)
                found = answer["failed"] and set(answer["failures"]) == {"SIGABRT"}
                print(f"{'ok' if found else 'not ok'} {name} with {threads} threads, {policy}, seed {seed}: "
                      f"{'failed after' if found else 'nothing in'} {answer['schedules']} schedules", flush=True)
                failed += not found
                passed += found
        again = [hunt(unsnarl, "first", 50, "auto", 1, folder) for _ in range(2)]
        same = all(again[0][key] == again[1][key] for key in ("schedules", "points", "turns"))
        print(f"{'ok' if same else 'not ok'} the same seed finds the same schedule")
    print(f"{passed + same} passed, {failed + (not same)} failed")
    return failed != 0 or not same


if __name__ == "__main__":
    sys.exit(main())
