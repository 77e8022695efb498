#!/usr/bin/env python3
"""The plan of the house: includes point down and never up, a room of the runtime is
entered through its one header, every file of the runtime compiles by itself (its
build is one translation unit and would not notice), and no two files that hold
different things have the same name.

usage: UNSNARL=… SOURCE=DIR test_rooms.py
"""

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = Path(os.environ.get("SOURCE", Path(__file__).resolve().parent.parent))
# Each room with those that it may include, beside itself.
BELOW = {
    "base": [],
    "model": ["base"],
    "loom/runtime": ["model", "loom/area.h", "loom/armed_format.h", "loom/guard", "base",
                     "loom/grind/control.h"],  # force and forbid are one engine for both looms
    "llvm": ["base", "loom/compile", "static"],
    "loom/compile": ["base", "model", "loom/runtime", "loom/guard", "llvm/llvm.h"],
    "loom": ["base", "model"],
    "store": ["base", "model"],
    "analysis": ["base", "model", "store"],
    "static": ["base", "model", "loom/compile", "loom/active"],
    "report": ["base", "model", "store", "analysis", "static/static.h"],
    "diagnose": ["base", "model", "store", "loom", "analysis", "report"],
    "isolate": ["base", "model", "store", "loom", "analysis", "report", "diagnose"],
}
# Inside the runtime: what a room may include of the others.
DOORS = {
    "observe": ["runtime.h"],
    "control": ["runtime.h", "interpose.h", "observe/observe.h"],
    "sync": ["runtime.h", "interpose.h", "observe/observe.h", "control/control.h"],
    "process": ["runtime.h", "interpose.h", "observe/observe.h", "control/control.h", "sync/sync.h"],
}
failures = []


def includes(path):
    return re.findall(r'^\s*#include "([^"]+)"', path.read_text(), re.M)


def room_of(name):
    """The longest room that a file lies in; None for what is in no room named above."""
    rooms = [room for room in BELOW if name == room or name.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def sources():
    tracked = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=SOURCE, text=True, stdout=subprocess.PIPE).stdout.split()
    names = tracked or [str(p.relative_to(SOURCE)) for room in BELOW for p in (SOURCE / room).rglob("*.[ch]")]
    return [name for name in names if (SOURCE / name).exists()]


def check(condition, sentence):
    if not condition:
        failures.append(sentence)
        print("not ok", sentence)


def check_directions(names):
    for name in names:
        room = room_of(name)
        if room is None:
            continue
        for other in includes(SOURCE / name):
            if "/" not in other:
                continue
            theirs = room_of(other)
            allowed = theirs == room or any(other == low or other.startswith(low + "/") for low in BELOW[room])
            check(allowed, f"{name} includes {other}, which is not below {room}/")


def check_doors(names):
    for name in names:
        parts = name.split("/")
        if parts[:2] != ["loom", "runtime"] or len(parts) < 4:
            continue
        for other in includes(SOURCE / name):
            if not other.startswith("loom/runtime/"):
                continue
            inner = other[len("loom/runtime/"):]
            check(inner.startswith(parts[2] + "/") or inner in DOORS[parts[2]],
                  f"{name} enters another room by {other}")


def check_alone(names):
    for name in names:
        if name.startswith("loom/runtime/") and name.endswith(".c"):
            command = ["clang-19", "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", "-mcx16", "-I.", name]
            result = subprocess.run(command, cwd=SOURCE, text=True, stderr=subprocess.PIPE)
            check(result.returncode == 0, f"{name} does not compile by itself: {result.stderr.strip()[:300]}")


def check_names(names):
    places = defaultdict(list)
    for name in names:
        # cmds/VERB.c has the verb's name, whatever stands below it; small programs that are run are called after
        # what they try.
        verb = name.startswith("cmds/") and name.endswith(".c")
        if not verb and not name.startswith(("tests/", "corpus/", "bench/", "examples/")):
            places[Path(name).name].append(name)
    for same in places.values():
        # The binary loom's tool is the runtime's twin: the same things, seen from elsewhere.
        looms = all(name.startswith(("loom/runtime/", "loom/grind/")) for name in same) and len(same) == 2
        check(len(same) == 1 or looms, "one name for different things: " + ", ".join(same))


def main():
    names = sources()
    checks = [check_directions, check_doors, check_alone, check_names]
    bad = 0
    for one in checks:
        before = len(failures)
        one(names)
        bad += len(failures) > before
    print(f"{len(checks) - bad} passed, {bad} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
