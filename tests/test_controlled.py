#!/usr/bin/env python3
"""Programs that cannot go on are found: test_controlled.py UNSNARL [options] [PROGRAM...]

The opening comment of a program in tests/controlled/bad says how a hunt must
find it to end (expect: deadlock, lost-wakeup or livelock). Those that always can
go on are in tests/correct.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent / "controlled"
HUNT_SECONDS = 300
LIVELOCK_BUDGET = 10  # each takes a second
TIMEOUT, LIVELOCK_TIMEOUT = 10, 1  # of a run, in seconds of processor time; the plain run of a livelock takes all of it


class Failed(Exception):
    pass


def call(words, folder, seconds, good=(0,)):
    """The ended process; Failed with a sentence when it ends otherwise than `good`, or not at all."""
    try:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"{words[0]} did not end within {seconds} seconds") from None
    if done.returncode not in good:
        said = (done.stderr or done.stdout).strip()[-400:]
        raise Failed(f"{os.path.basename(words[0])} ended with {done.returncode}: {said}")
    return done


def build(unsnarl, source, folder, level):
    verb = ["c++", "-std=c++20"] if source.suffix == ".cc" else ["cc"]
    call([unsnarl, *verb, "-w", "-g", level, "-pthread", "-o", source.stem, str(source)], folder, 300)


def hunt(unsnarl, name, folder, budget, seed, timeout):
    words = [unsnarl, "hunt", "--json", "--seed", str(seed), "--budget", str(budget), "--passes", "5", "-j", "1",
             "--no-reduce", "--timeout", str(timeout), "--store", f"store-{name}", "--", f"./{name}"]
    return json.loads(call(words, folder, HUNT_SECONDS, (0, 1)).stdout)


def explain(answer):
    failure = answer.get("failure") or {}
    return (f"{answer['failures']} of {answer['schedules']} schedules; first: {failure.get('reason')}; "
            f"output: {(failure.get('output') or '')[-300:]!r}")


def check_bad(unsnarl, source, folder, budget, seed):
    expected = re.search(r"expect: ([a-z -]+)", source.read_text()).group(1).split()
    endless = "livelock" in expected
    answer = hunt(unsnarl, source.stem, folder, LIVELOCK_BUDGET if endless else budget, seed,
                  LIVELOCK_TIMEOUT if endless else TIMEOUT)
    if not answer["failed"]:
        raise Failed(f"no {' or '.join(expected)} in {answer['schedules']} schedules")
    if not {kind.replace("wake-up", "wakeup").replace(" ", "-") for kind in answer["failures"]} <= set(expected):
        raise Failed(f"ends otherwise than by {' or '.join(expected)}: {explain(answer)}")
    if answer["uncontrolled"]:
        raise Failed(f"not under control: {answer['uncontrolled']}")


def check(unsnarl, source, folder, words):
    try:
        build(unsnarl, source, folder, words.level)
        check_bad(unsnarl, source, folder, words.budget, words.seed)
    except Failed as failed:
        return str(failed)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("unsnarl", nargs="?", default=os.environ.get("UNSNARL", "build/unsnarl"))
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", default="-O1", help="how to compile, as in --level=-O2")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("programs", nargs="*")
    words = parser.parse_intermixed_args()
    unsnarl = str(pathlib.Path(words.unsnarl).resolve())
    sources = sorted(path for pattern in ("*.c", "*.cc") for path in PROGRAMS.glob("bad/" + pattern))
    if words.programs:
        sources = [source for source in sources if source.stem in words.programs]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        work = lambda source: check(unsnarl, source, pathlib.Path(folder), words)
        for source, failure in zip(sources, pool.map(work, sources)):
            passed += failure is None
            failed += failure is not None
            name = source.relative_to(PROGRAMS)
            print(f"not ok: {name}: {failure}" if failure else f"ok: {name}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
