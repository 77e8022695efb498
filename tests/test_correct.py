#!/usr/bin/env python3
"""A correct program is never accused: test_correct.py UNSNARL [options] [PROGRAM...]

The programs of tests/correct are correct: each prints the same and ends with
status 0 whatever the interleaving. They have to do so as a plain build, with
hooks, observed, and in every schedule of a hunt. There may be no failure, no
hang, and where nothing is outside of control no run that is too slow to tell.

A program whose opening comment says `uncontrolled:` uses what is not under
control, and the hunt has to say so.
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

PROGRAMS = pathlib.Path(__file__).resolve().parent / "correct"
FREE_SECONDS = 60    # for tests that hang
HUNT_SECONDS = 1800


class Failed(Exception):
    pass


def call(words, folder, seconds, good=(0,)):
    """The ended process; Failed with a sentence when it ends otherwise than `good`, or not at all."""
    try:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words[:2])} did not end within {seconds} seconds") from None
    if done.returncode not in good:
        said = (done.stderr or done.stdout).strip()[-600:]
        raise Failed(f"{' '.join(words[:2])} ended with {done.returncode}: {said}")
    return done


def build(unsnarl, source, folder, level):
    cxx = source.suffix == ".cc"
    flags = [*(["-std=c++20"] if cxx else []), "-w", "-g", level, "-pthread"]
    call(["clang++-19" if cxx else "clang-19", *flags, "-o", f"{source.stem}.plain", str(source)], folder, 300)
    call([unsnarl, "c++" if cxx else "cc", *flags, "-o", source.stem, str(source)], folder, 300)


def check(unsnarl, source, folder, words):
    name = source.stem
    build(unsnarl, source, folder, words.level)
    printed = call([f"./{name}.plain"], folder, FREE_SECONDS).stdout
    for what in ([f"./{name}"], [unsnarl, "exec", "--", f"./{name}"]):
        got = call(what, folder, FREE_SECONDS).stdout
        if got != printed:
            raise Failed(f"{what[-1]} prints {got!r} where the plain build prints {printed!r}")
    (folder / f"{name}.txt").write_text(printed)
    call([unsnarl, "run", "-n", "2", "--store", f"observed-{name}", "--expect", f"{name}.txt", "--", f"./{name}"],
         folder, FREE_SECONDS)
    # A hunt by time counts what it could do: a busy machine does fewer schedules, and is no failure.
    budget = f"{words.seconds}s" if words.seconds else str(words.budget)
    answer = json.loads(call([unsnarl, "hunt", "--json", "--seed", str(words.seed), "--budget", budget, "--passes", "5",
                              "-j", str(words.threads), "--no-reduce", "--store", f"store-{name}",
                              "--expect", f"{name}.txt", "--", f"./{name}"], folder, HUNT_SECONDS, (0, 1)).stdout)
    if answer["failed"] or answer["findings"]:
        failure = answer.get("failure") or {}
        raise Failed(f"accused: {answer['failures']} of {answer['schedules']} schedules; first: "
                     f"{failure.get('reason')}; output: {(failure.get('output') or '')[-300:]!r}")
    named = bool(re.search(r"uncontrolled: ", source.read_text()))
    # What is outside of control may keep a run waiting in reality: that claims nothing, but it has to stay rare.
    if answer["inconclusive"] * 4 > (answer["schedules"] if named else 0):
        raise Failed(f"{answer['inconclusive']} of {answer['schedules']} schedules were too slow to tell")
    if not words.seconds and answer["schedules"] != words.budget:
        raise Failed(f"{answer['schedules']} schedules instead of {words.budget}")
    if named and not answer["uncontrolled"]:
        raise Failed("what is not under control is not named")
    if not named and answer["uncontrolled"] and not re.search(r"may be named", source.read_text()):
        raise Failed(f"named as not under control: {answer['uncontrolled']}")
    return answer["schedules"]


def attempt(unsnarl, source, folder, words):
    try:
        return check(unsnarl, source, folder, words), None
    except Failed as failed:
        return 0, str(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("unsnarl", nargs="?", default=os.environ.get("UNSNARL", "build/unsnarl"))
    parser.add_argument("--budget", type=int, default=200, help="schedules of each program")
    parser.add_argument("--seconds", type=float, default=0, help="for each program, instead of a number of schedules")
    parser.add_argument("--threads", type=int, default=2, help="jobs of each hunt")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", default="-O1", help="how to compile, as in --level=-O2")
    parser.add_argument("--load", type=int, default=0, help="processes that keep the machine busy beside it")
    parser.add_argument("--folder", default=str(PROGRAMS), help="other correct programs")
    parser.add_argument("programs", nargs="*")
    words = parser.parse_intermixed_args()
    unsnarl = str(pathlib.Path(words.unsnarl).resolve())
    sources = sorted(path for pattern in ("*.c", "*.cc", "*.cpp") for path in pathlib.Path(words.folder).resolve().glob(pattern))
    if words.programs:
        sources = [source for source in sources if source.stem in words.programs]
    load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(words.load)]
    passed = failed = schedules = 0
    try:
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
            work = lambda source: attempt(unsnarl, source, pathlib.Path(folder), words)
            for source, (done, failure) in zip(sources, pool.map(work, sources)):
                passed += failure is None
                failed += failure is not None
                schedules += done
                print(f"not ok: {source.name}: {failure}" if failure else f"ok: {source.name} ({done} schedules)", flush=True)
    finally:
        for process in load:
            process.kill()
            process.wait()
    print(f"{schedules} schedules without an accusation")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
