#!/usr/bin/env python3
"""Runs the fuzz targets: every reader of files that others may have written.

usage: fuzz.py [--seconds N] [--tool UNSNARL] BUILD-FUZZ [TARGET...]

Each target starts from what it once found (tests/fuzz/corpus/TARGET, kept for good),
from sound files made with the tool, and from what earlier runs in this build folder
came upon. An input that crashes one is put into tests/fuzz/corpus/TARGET. The last
line reads `N passed, N failed`; the exit status is 0 when nothing failed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
KEPT = SOURCE / "tests" / "fuzz" / "corpus"
PROGRAM = """#include <pthread.h>
static int shared; static void *add(void *u) { shared++; return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, add, 0); shared++; pthread_join(t, 0); return shared == 1; }
"""
LOG = (b"violation 1 1700000000.123456 pid 7 set 0xab resolved waited 350 times 2 thread 3 site 0x11 "
       b"read a\\x20b.c 12:3 f x after thread 2 site 0x22 write a.c 8:1 g y\n"
       b"violation 1 1700000001.0 pid 7 set 0xab unresolved waited 1 times 1 thread 3 site 0x11 read a.c 1:3 f x after nobody\n")
CLAIM = """unsnarl claim 1
kind atomic
use forbid
role reach 3 doors 0x5
exits 0x7
role reach 1 doors
step role 0 location 1 thread 1 occurrence 1 write 0 sites 0x11 0x12
step role 1 location 1 thread 2 occurrence 1 write 1 sites 0x13
step role 0 location 1 thread 1 occurrence 2 write 1 sites 0x14
end
"""
ANSWER = """{"program": "./a", "findings": [{"rank": 1, "class": "atomicity violation", "accesses": [
 {"thread": 1, "kind": "read", "file": "a.c", "line": 2, "column": 5, "function": "add", "variable": "shared"},
 {"thread": 2, "kind": "write", "file": "a.c", "line": 3, "column": 7, "function": "main", "variable": "shared"}]}]}
"""


def call(*command, **options):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False, **options)


def make_seeds(tool, corpus):
    """Sound files: an object with its site table and bitcode, a schedule, a claim, a guard set, a scan."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "a.c").write_text(PROGRAM)
        call(tool, "cc", "-O1", "-c", "a.c", "-o", "a.o", cwd=folder)
        call(tool, "cc", "-pthread", "a.o", "-o", "a", cwd=folder)
        call(tool, "hunt", "--budget", "50", "--seed", "1", "--", "./a", cwd=folder)
        call(tool, "replay", "1", "--export", "a.schedule", cwd=folder)
        if (folder / "a.o").exists():
            (corpus / "units" / "object").write_bytes(b"\x01" + (folder / "a.o").read_bytes())
            shutil.copy(folder / "a.o", corpus / "bitcode")
        if (folder / "a.schedule").exists():
            shutil.copy(folder / "a.schedule", corpus / "schedule")
        call(tool, "learn", "-o", "a.guard", "--", "./a", cwd=folder)
        if (folder / "a.guard").exists():
            (corpus / "guard" / "set").write_bytes(b"\0" + (folder / "a.guard").read_bytes())
        (corpus / "guard" / "log").write_bytes(b"\1" + LOG)
        (corpus / "claim" / "atomic").write_text(CLAIM)
        call(tool, "scan", "./a", cwd=folder)
        for kept in (folder / ".unsnarl").glob("scan-*.json"):
            (corpus / "answers" / "scan").write_bytes(b"\1" + kept.read_bytes())
        (corpus / "answers" / "finding").write_text("\0" + ANSWER)


def fuzz(build, name, corpus, seconds):
    """Whether it went well, and its last words."""
    found = build / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    kept = KEPT / name
    folders = [corpus / name] + ([kept] if kept.is_dir() else [])
    command = [build / "tests" / "fuzz" / f"fuzz_{name}", f"-max_total_time={seconds}", "-timeout=100",
               "-rss_limit_mb=3000", "-max_len=65536", "-print_final_stats=1", f"-artifact_prefix={found}/", *folders]
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env={**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})
    for path in found.glob("slow-unit-*"):  # says more of the machine than of the input
        path.unlink()
    for path in found.iterdir():
        kept.mkdir(parents=True, exist_ok=True)
        shutil.move(path, kept / path.name)
    return done.returncode == 0, done.stdout


def figure(output, name):
    lines = [line.split()[-1] for line in output.splitlines() if name in line]
    return lines[-1] if lines else "?"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--tool", default=SOURCE / "build" / "unsnarl", type=Path)
    options.add_argument("build", type=Path)
    options.add_argument("targets", nargs="*")
    given = options.parse_args()
    build = given.build.resolve()
    names = given.targets or sorted(path.name.removeprefix("fuzz_") for path in (build / "tests" / "fuzz").iterdir()
                                    if path.is_file() and path.name.startswith("fuzz_"))
    corpus = build / "corpus"
    for name in names + ["units", "schedule", "bitcode", "guard", "claim", "answers"]:
        (corpus / name).mkdir(parents=True, exist_ok=True)
    make_seeds(given.tool.resolve(), corpus)
    passed = failed = 0
    for name in names:
        good, output = fuzz(build, name, corpus, given.seconds)
        print(f"{'ok' if good else 'FAILED'}: {name}, {figure(output, 'number_of_executed_units')} inputs", flush=True)
        passed, failed = passed + good, failed + (not good)
        if not good:
            print("\n".join("    " + line for line in output.splitlines()[-60:]))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
