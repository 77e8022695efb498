#!/usr/bin/env python3
"""Table II of SUPPRESS on the corpus: every program that ends by a signal, its root cause as
isolate names it, the executions and the time.

usage: UNSNARL=build/unsnarl eval_suppress.py [--work DIR] [--time S] [NAME …]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
UNSNARL = os.path.abspath(os.environ.get("UNSNARL", SOURCE / "build" / "unsnarl"))


def build(folder, truth, target):
    sources = [str(folder / name) for name in truth["sources"]]
    compiler = "clang++-19" if any(not s.endswith(".c") for s in sources) else "clang-19"
    subprocess.run([compiler, "-g", "-O1", "-fno-omit-frame-pointer", "-pthread", "-w",
                    "-I", str(SOURCE / "corpus"), *sources, "-o", str(target)], check=True)


def isolate(target, args, seconds):
    """The answer, None when there is none; and the seconds it took."""
    started = time.monotonic()
    try:
        done = subprocess.run([UNSNARL, "isolate", "--json", "--seed", "1", "--time", str(seconds), "--", str(target), *args],
                              capture_output=True, timeout=seconds * 4, cwd=target.parent)
        answer = json.loads(done.stdout) if done.stdout else {"verdict": done.stderr.decode(errors="replace").strip()[:60]}
    except subprocess.TimeoutExpired:
        answer = {"verdict": "time-out"}
    return answer, time.monotonic() - started


def judge(truth, answer):
    """right: the finding has a true line of the fault; wrong; none."""
    finding = answer.get("finding")
    if not finding:
        return "none"
    wanted = {a["line"] for a in truth["accesses"]}
    lines = [a["line"] for a in finding["accesses"]]
    if answer["verdict"] == "order":
        return "right" if len(wanted & set(lines)) >= min(2, len(wanted)) else "wrong"
    return "right" if lines and (lines[0] in wanted or (answer["verdict"] == "undefined" and wanted & set(lines))) else "wrong"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=pathlib.Path, default=SOURCE / "corpus")
    parser.add_argument("--time", type=int, default=30)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows, right = 0, 0
    print(f"{'program':<18}{'fault':<36}{'verdict':<14}{'root':<7}{'executions (orig+supp+race+vio)':<33}seconds")
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(options.corpus.glob("*/truth.json")):
            truth = json.loads(path.read_text())
            oracle = truth.get("oracle") or {}
            if oracle.get("kind") != "signal" or (options.names and truth["name"] not in options.names):
                continue
            target = pathlib.Path(work) / truth["name"]
            build(path.parent, truth, target)
            answer, seconds = isolate(target, truth["args"], options.time)
            runs = answer.get("executions", {})
            counts = [runs.get(k, 0) for k in ("original", "suppression", "race", "violation")]
            verdict = judge(truth, answer)
            rows += 1
            right += verdict == "right"
            print(f"{truth['name']:<18}{truth['class']:<36}{answer['verdict'] + ('' if answer.get('sure') else '?'):<14}{verdict:<7}"
                  f"{sum(counts)} ({'+'.join(map(str, counts))})".ljust(108) + f"{seconds:.1f}", flush=True)
    print(f"{right} of {rows} root causes are right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
