#!/usr/bin/env python3
"""Measures unsnarl hunt and unsnarl replay on the corpus: how many schedules a
hunt needs, whether controls stay quiet, whether replays are identical, how many
forced switches the reduced schedules have.

usage: eval-hunt.py [--build DIR] [--seeds N] [--budget N] [--controls N]
                    [--replays N] [--jobs J] [--json FILE] [NAME...]

Prints a line per program and the bars at the end; the exit status is 0 when all
bars are met. The counts of the bars are the defaults: 10 seeds, a budget of
2000, 20000 schedules per control, 100 replays.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-O2", "-g", "-pthread"]
MORE_SWITCHES = 3  # than the truth says


def build(unsnarl, folder, truth, target):
    cplusplus = any(not source.endswith(".c") for source in truth["sources"])
    command = [unsnarl, "c++" if cplusplus else "cc", *FLAGS, *truth["sources"], "-o", str(target)]
    subprocess.run(command, cwd=folder, check=True)


def answer(command, cwd, patience):
    """The JSON of a verb; None when it gave none."""
    process = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=patience)
    try:
        return json.loads(process.stdout)
    except ValueError:
        print("    " + process.stderr.decode(errors="replace").strip(), flush=True)
        return None


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
                   "--store", str(store), "-j", str(self.options.jobs),
                   "--timeout", str(self.truth["timeout"] * 4),
                   *self.oracle, *more, "--", str(self.target), *self.truth["args"]]
        return store, answer(command, self.scratch, 3600)

    def replay(self, store, run, count):
        command = [self.unsnarl, "replay", "--json", "-n", str(count), "--store", str(store), str(run)]
        return answer(command, self.scratch, 3600)

    def as_declared(self, failure):
        """Is it the failure that the truth speaks of?"""
        oracle = self.truth["oracle"]
        ended = {"exit": failure["outcome"] == "exit" and failure["code"] == oracle.get("status"),
                 "signal": failure["signal"] == oracle.get("signal"),
                 "output": failure["outcome"] == "exit" and failure["code"] == 0,
                 "hang": failure["outcome"] in ("deadlock", "lost-wakeup", "livelock", "timeout")}
        return ended[oracle["kind"]]


def measure_bug(program, options, bars):
    found, forced, replayed, others, rates = [], [], None, 0, []
    for seed in range(1, options.seeds + 1):
        store, hunted = program.hunt(seed, options.budget, "--passes", "0")
        if not hunted or not hunted["failure"]:
            found.append(None)
            continue
        failure = hunted["failure"]
        rates.append(hunted["schedules"] / max(hunted["wall_s"], 1e-6))
        found.append(failure["found_after"])
        others += not program.as_declared(failure)
        turns = hunted["findings"][0]["turns"]
        forced.append(sum(turn["stop"] == "preempted" for turn in turns))
        if replayed is None and options.replays:
            result = program.replay(store, failure["run"], options.replays)
            replayed = result["identical"] if result else 0
    hits = [n for n in found if n is not None]
    known = program.truth["switches"]
    two = len({a["thread"] for a in program.truth["accesses"]}) <= 2
    bars["found"] += len(hits) == len(found)
    bars["replayed"] += replayed == options.replays
    bars["short"] += not two or (bool(forced) and max(forced) <= known + MORE_SWITCHES)
    print(f"{program.truth['name']:16} found {len(hits)}/{len(found)}"
          f"  after {int(statistics.median(hits)) if hits else '-':>5} (most {max(hits) if hits else '-':>5})"
          f"  forced {min(forced) if forced else '-'}-{max(forced) if forced else '-'} (known {known})"
          f"  replay {replayed}/{options.replays}"
          f"{f'  other failure {others}' if others else ''}"
          f"  {statistics.median(rates) if rates else 0:.0f}/s", flush=True)
    return {"name": program.truth["name"], "found": found, "forced": forced, "known": known,
            "replayed": replayed, "other": others}


def measure_control(program, options, bars):
    _, hunted = program.hunt(1, options.controls, "--passes", "0", "--keep-going")
    failed = hunted["failed"] if hunted else -1
    bars["quiet"] += failed == 0
    rate = hunted["schedules"] / hunted["wall_s"] if hunted else 0
    ends = hunted["failures"] if hunted else ""
    print(f"{program.truth['name']:16} control: {failed} failed of {options.controls} {ends or ''}"
          f"  {rate:.0f}/s", flush=True)
    return {"name": program.truth["name"], "failed": failed}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=str(SOURCE / "build"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--controls", type=int, default=20000)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unsnarl = str(pathlib.Path(options.build).resolve() / "unsnarl")
    bars = {"found": 0, "replayed": 0, "short": 0, "quiet": 0}
    bugs = controls = 0
    results = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for path in sorted((SOURCE / "corpus").glob("*/truth.json")):
            truth = json.loads(path.read_text())
            if options.names and truth["name"] not in options.names:
                continue
            program = Program(unsnarl, path.parent, truth, scratch, options)
            if truth["class"] == "none":
                controls += 1
                if options.controls:
                    results.append(measure_control(program, options, bars))
            else:
                bugs += 1
                results.append(measure_bug(program, options, bars))
    print(f"found in every hunt: {bars['found']} of {bugs} bugs")
    print(f"replayed identically: {bars['replayed']} of {bugs} bugs")
    print(f"short enough: {bars['short']} of {bugs} bugs")
    print(f"quiet: {bars['quiet']} of {controls} controls")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    met = bars["found"] == bars["replayed"] == bars["short"] == bugs and bars["quiet"] == controls
    sys.exit(0 if met else 1)


main()
