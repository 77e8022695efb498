#!/usr/bin/env python3
"""Measures unsnarl hunt and unsnarl replay on the corpus: how many schedules a
hunt needs and what they cost, whether controls stay quiet, whether replays are
identical on an idle and on a loaded machine, how many forced switches the reduced
schedules have.

usage: eval-hunt.py [--build DIR] [--seeds N] [--budget N] [--controls N]
                    [--replays N] [--reductions N] [--speed N] [--jobs J]
                    [--json FILE] [--write] [NAME...]

Prints a line per program and the bars at the end; the exit status is 0 when all
bars are met. With --write the table goes into doc/results.md, between its markers.
The counts of the bars are the defaults: 10 seeds, a budget of 2000, 20000 schedules
per control, 100 replays of either kind. The first 3 failures are reduced, and 500
schedules are run for the speed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from small_programs import FAST, SMALL_MS, SMALL_POINTS, build, own_ms, truths
import small_programs

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MORE_SWITCHES = 3  # than the truth says
BEGIN, END = "<!-- eval-hunt: begin -->", "<!-- eval-hunt: end -->"


def answer(command, cwd, patience):
    """The JSON of a verb; None when it gave none."""
    process = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=patience)
    try:
        return json.loads(process.stdout)
    except ValueError:
        print("    " + process.stderr.decode(errors="replace").strip(), flush=True)
        return None


class Load:
    """Keeps every processor twice as busy as it can be."""
    def __enter__(self):
        command = [sys.executable, "-c", "while True: pass"]
        self.busy = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]

    def __exit__(self, *_):
        for process in self.busy:
            process.kill()
            process.wait()


class Program:
    def __init__(self, unsnarl, folder, truth, scratch, options):
        self.unsnarl, self.truth, self.scratch, self.options = unsnarl, truth, scratch, options
        self.target = scratch / truth["name"]
        build(unsnarl, folder, truth, self.target)
        self.oracle = []
        if (truth.get("oracle") or {}).get("kind") == "output" or (folder / "expect.txt").is_file():
            self.oracle = ["--expect", str(folder / "expect.txt")]

    def hunt(self, seed, budget, *more):
        store = self.scratch / f"{self.truth['name']}-{seed}"
        command = [self.unsnarl, "hunt", "--json", "--budget", str(budget), "--seed", str(seed),
                   "--store", str(store), "-j", str(self.options.jobs), "--passes", "0",
                   "--timeout", str(self.truth["timeout"] * 4),
                   *self.oracle, *more, "--", str(self.target), *self.truth["args"]]
        return store, answer(command, self.scratch, 7200)

    def replay(self, store, run):
        command = [self.unsnarl, "replay", "--json", "-n", str(self.options.replays), "--store", str(store),
                   "-j", str(self.options.jobs), "--timeout", "60", str(run)]
        result = answer(command, self.scratch, 7200)
        return result["identical"] if result else 0

    def speed(self):
        """Points per schedule and schedules in a second of processor time."""
        _, hunted = self.hunt(99, self.options.speed, "--keep-going", "--no-reduce",
                              "--failures", "1")
        if not hunted:
            return None
        return {"points": hunted["points"] / hunted["schedules"],
                "cpu_ms": hunted["cpu_s"] * 1000 / hunted["schedules"],
                "own_ms": own_ms([str(self.target), *self.truth["args"]], self.scratch)}

    def as_declared(self, failure):
        """Is it the failure that the truth speaks of?"""
        oracle = self.truth["oracle"]
        ended = {"exit": failure["outcome"] == "exit" and failure["code"] == oracle.get("status"),
                 "signal": failure["signal"] == oracle.get("signal"),
                 "output": failure["outcome"] == "exit" and failure["code"] == 0,
                 "hang": failure["outcome"] in ("deadlock", "lost-wakeup", "livelock", "timeout")}
        return ended[oracle["kind"]]


def measure_bug(program, options):
    threads = {access["thread"] for access in program.truth["accesses"]}
    row = {"name": program.truth["name"], "bug": True, "found": [], "forced": [], "other": 0,
           "known": program.truth["switches"], "replayed": None, "loaded": None,
           "two": len(threads) <= 2, "alone": len(threads) < 2}
    for seed in range(1, options.seeds + 1):
        reduce = len(row["forced"]) < options.reductions
        store, hunted = program.hunt(seed, options.budget, *([] if reduce else ["--no-reduce"]))
        if not hunted or not hunted["failure"]:
            row["found"].append(None)
            continue
        failure = hunted["failure"]
        row["found"].append(failure["found_after"])
        row["other"] += not program.as_declared(failure)
        if reduce:
            turns = hunted["findings"][0]["turns"]
            row["forced"].append(sum(turn["stop"] == "preempted" for turn in turns))
        if row["replayed"] is None and options.replays:
            row["replayed"] = program.replay(store, failure["run"])
            with Load():
                row["loaded"] = program.replay(store, failure["run"])
    return row


def measure_control(program, options):
    _, hunted = program.hunt(1, options.controls, "--keep-going")
    return {"name": program.truth["name"], "bug": False, "failed": hunted["failed"] if hunted else -1,
            "schedules": hunted["schedules"] if hunted else 0}


def is_short(row):
    return not row["two"] or (bool(row["forced"]) and max(row["forced"]) <= row["known"] + MORE_SWITCHES)


def is_small(row):
    speed = row.get("speed")
    return bool(speed) and small_programs.is_small(speed["points"], speed["own_ms"], row["start_ms"])


def span(values):
    return "-" if not values else str(values[0]) if min(values) == max(values) else f"{min(values)}–{max(values)}"


def cells(row, options):
    speed = row.get("speed") or {}
    cost = [f"{speed['points']:.0f}", f"{speed['own_ms']:.1f}", f"{speed['cpu_ms']:.2f}",
            f"{1000 / speed['cpu_ms']:.0f}{'*' if is_small(row) else ''}"] if speed else ["-"] * 4
    if not row["bug"]:
        return [row["name"], f"quiet: {row['failed']} of {row['schedules']} failed", "", "", "", *cost]
    hits = [n for n in row["found"] if n is not None]
    found = f"{len(hits)}/{len(row['found'])}" + (f", {row['other']} otherwise" if row["other"] else "")
    after = f"{int(statistics.median(hits))}, most {max(hits)}" if hits else "-"
    forced = f"{span(row['forced'])} (known {row['known']}{'' if row['two'] else ', more threads'})"
    replays = f"{row['replayed']} + {row['loaded']} of {options.replays} each" if options.replays else "-"
    return [row["name"], found, after, forced, replays, *cost]


HEAD = ["program", "found", "after", "forced switches", "replays, idle + loaded", "points", "alone ms",
        "ms a schedule", "a second"]


def bars(rows, options):
    bugs = [row for row in rows if row["bug"] and not row["alone"]]
    alone = [row for row in rows if row["bug"] and row["alone"]]
    controls = [row for row in rows if not row["bug"]]
    small = [row for row in rows if is_small(row)]
    fast = [row for row in small if 1000 / row["speed"]["cpu_ms"] >= FAST]
    judged = [
        ("found in every hunt", sum(None not in row["found"] for row in bugs), len(bugs), "bugs"),
        ("replayed identically", sum(row["replayed"] == row["loaded"] == options.replays for row in bugs)
         if options.replays else len(bugs), len(bugs), "bugs"),
        ("short enough", sum(map(is_short, bugs)) if options.reductions else len(bugs), len(bugs), "bugs"),
        ("quiet", sum(row["failed"] == 0 for row in controls), len(controls), "controls"),
        (f"{FAST} schedules a second of processor time or more", len(fast), len(small), "small programs (*)"),
    ]
    lines = [f"{name}: {got} of {of} {what}" for name, got, of, what in judged]
    if alone:
        lines.append(f"not judged, since one thread alone has the fault: {len(alone)}, of which every hunt found "
                     f"{sum(None not in row['found'] for row in alone)}")
    return lines, \
        all(got == of for _, got, of, _ in judged)


def table(rows, options, seconds):
    lines, _ = bars(rows, options)
    text = [f"{options.seeds} hunts with a budget of {options.budget} for each bug, the first "
            f"{options.reductions} failures reduced; {options.controls} schedules for each control; "
            f"{options.replays} replays idle and as many with two busy processes per processor; "
            f"{options.speed} schedules for the speed. {seconds / 60:.0f} minutes. `alone` is the program by "
            f"itself, `ms a schedule` is processor time, everything included; small (*): at most "
            f"{SMALL_POINTS} points, and at most {SMALL_MS:.2g} ms of its own beside the start of a program.", "",
            "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    text += ["| " + " | ".join(cells(row, options)) + " |" for row in rows]
    return text + [""] + [f"- {line}" for line in lines]


def write(text):
    path = SOURCE / "doc" / "results.md"
    old = path.read_text()
    section = f"{BEGIN}\n{text}\n{END}"
    if BEGIN in old:
        head, rest = old.split(BEGIN, 1)
        path.write_text(head + section + rest.split(END, 1)[1])
    else:
        path.write_text(f"{old.rstrip()}\n\n## Hunting and replaying (`make eval-hunt`)\n\n{section}\n")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=str(SOURCE / "build"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--controls", type=int, default=20000)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--reductions", type=int, default=3)
    parser.add_argument("--speed", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    options = parse()
    unsnarl = str(pathlib.Path(options.build).resolve() / "unsnarl")
    rows, started = [], time.time()
    programs = sorted(truths(), key=lambda pair: pair[1]["class"] == "none")  # the bugs first
    with tempfile.TemporaryDirectory() as folder:
        start_ms = small_programs.start_ms(unsnarl, folder)
        for source, truth in programs:
            if options.names and truth["name"] not in options.names:
                continue
            program = Program(unsnarl, source, truth, pathlib.Path(folder), options)
            row = (measure_control if truth["class"] == "none" else measure_bug)(program, options)
            row["speed"] = program.speed() if options.speed else None
            row["start_ms"] = start_ms
            rows.append(row)
            print("  ".join(cell for cell in cells(row, options) if cell), flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    lines, met = bars(rows, options)
    print("\n".join(lines))
    if options.write:
        write("\n".join(table(rows, options, time.time() - started)))
    sys.exit(0 if met else 1)


main()
