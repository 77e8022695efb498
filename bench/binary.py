#!/usr/bin/env python3
"""What observing costs on the binary loom, beside Valgrind's own tools.

Stock programs (those that are installed) and the kernels of bench/programs, built by plain
gcc, run in turn alone, observed by unsnarl (pairs, all) and under DRD and Helgrind. DRD leaves the
variables on stacks out unless it is told not to; unsnarl and Helgrind look at them. So DRD stands here
twice: as it comes (drd), and with --check-stack-var=yes (drd+stack), which is the same work as ours.
Processor time counts, the median of the rounds; every run must end with 0. Bars: pairs at most 0.6 of
each of the two tools, all observers at most 0.8. Shares are told of the cheapest tool as it comes, and
of the cheapest that does the same work.

usage: binary.py [--build DIR] [--rounds N] [--size KB] [PROGRAM...]
Exit status: 0 every run was good (whether or not the bars are met), 1 a run went wrong,
2 something needed is missing.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent
PAIRS_BAR, ALL_BAR = 0.6, 0.8
COMPARED = [("drd", "helgrind"), ("drd+stack", "helgrind")]  # as they come; with the same work
STOCK = {
    "pigz": ["pigz", "-kf", "-p2"],
    "pbzip2": ["pbzip2", "-kfq", "-p2", "-b1"],
    "xz": ["xz", "-T2", "-1", "-kf", "--block-size=500000"],
    "zstd": ["zstd", "-T2", "-qkf"],
}
KERNELS = {
    "fft": ["-m", "18"],
    "lu": ["-n", "600"],
    "radix": ["-n", "2000000"],
    "squeeze": ["-n", "4096"],
}


def make_input(path, size):
    """Text of words with repeats, the same in every round."""
    chance = random.Random(5)
    words = ["".join(chance.choice("etaoinshrdlu") for _ in range(chance.randint(2, 9))) for _ in range(3000)]
    with open(path, "w", encoding="ascii") as file:
        written = 0
        while written < size:
            line = " ".join(words[min(chance.randrange(3000), chance.randrange(3000))] for _ in range(12)) + "\n"
            written += file.write(line)


def commands(names, folder, size):
    """(name, command) of every program that can be run here."""
    make_input(folder / "input", size)
    for name, words in STOCK.items():
        if names and name not in names:
            continue
        if not shutil.which(words[0]):
            print(f"{name} is not measured: {words[0]} is not installed", file=sys.stderr)
            continue
        yield name, [shutil.which(words[0]), *words[1:], str(folder / "input")]
    for name, words in KERNELS.items():
        if names and name not in names:
            continue
        program = folder / name
        subprocess.run(["gcc", "-O2", "-g", "-w", "-std=gnu11", "-pthread", "-o", program,
                        BENCH / "programs" / f"{name}.c", "-lm"], check=True)
        yield name, [str(program), *words]


def variants(unsnarl):
    valgrind = ["valgrind", "-q", "--log-file=/dev/null"]
    return {
        "alone": [],
        "none": [*valgrind, "--tool=none"],
        "pairs": [unsnarl, "exec", "--loom", "binary", "--observe", "pairs", "--"],
        "all": [unsnarl, "exec", "--loom", "binary", "--"],
        "drd": [*valgrind, "--tool=drd"],
        "drd+stack": [*valgrind, "--tool=drd", "--check-stack-var=yes"],
        "helgrind": [*valgrind, "--tool=helgrind"],
    }


def seconds(command, folder):
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execvp(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status:
        print(f"status {status} of: {' '.join(map(str, command))}", file=sys.stderr)
        raise SystemExit(1)
    return usage.ru_utime + usage.ru_stime


def measure(name, command, ways, rounds, folder):
    taken = {way: [] for way in ways}
    for _ in range(rounds):
        for way, words in ways.items():
            taken[way].append(seconds([*words, *command], folder))
    middle = {way: statistics.median(times) for way, times in taken.items()}
    print(f"{name:8}" + "".join(f"{middle[way]:10.2f}" for way in ways), end="")
    met = []
    for tools in COMPARED:
        best = min(middle[tool] for tool in tools)
        pairs, everything = middle["pairs"] / best, middle["all"] / best
        met.append((pairs <= PAIRS_BAR, everything <= ALL_BAR))
        print(f"{pairs:12.2f} {everything:8.2f}", end="")
    print(flush=True)
    return met


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=4000)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unsnarl = Path(options.build).resolve() / "unsnarl"
    if not (unsnarl.parent / "loom" / "grind" / "unsnarl-amd64-linux").exists() or not shutil.which("valgrind"):
        print("binary.py: there is no binary loom here: install Valgrind and build again", file=sys.stderr)
        return 2
    ways = variants(str(unsnarl))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        print("processor time in seconds; pairs and all as shares of the cheaper one of DRD and Helgrind: as they "
              "come, then with the same work (DRD with variables on stacks)")
        print(f"{'':8}" + "".join(f"{way:>10}" for way in ways) + f"{'pairs':>12} {'all':>8}" * len(COMPARED))
        results = [measure(name, command, ways, options.rounds, folder)
                   for name, command in commands(options.names, folder, options.size * 1000)]
    for i, words in enumerate(("as they come", "with the same work")):
        print(f"bars, {words}: pairs at most {PAIRS_BAR} on {sum(met[i][0] for met in results)} of {len(results)} "
              f"programs, all at most {ALL_BAR} on {sum(met[i][1] for met in results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
