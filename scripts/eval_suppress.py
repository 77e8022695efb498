#!/usr/bin/env python3
"""Tables II and III of SUPPRESS on the corpus, with the paper's beside: every program that ends by a
signal or hangs, its root cause as isolate names it, the executions and the time; then a verdict on each bar.
The exit status is 1 when a bar is missed. With --table 2 the times of single executions are left out, which
takes half as long. --write puts all of it into doc/results.md.

usage: UNSNARL=build/unsnarl eval_suppress.py [--corpus DIR] [--time S] [--seed S] [--table 2|3] [--write] [NAME …]
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
UNSNARL = os.path.abspath(os.environ.get("UNSNARL", SOURCE / "build" / "unsnarl"))

MARK = "## Isolating (`make eval-suppress`)"
MORE_THAN_HOPS = 3  # executions beside one per hop, at most
SECONDS_MOST = 30   # for a small program, with the search for a failure

# Program, fault, executions, threads, entries of the trace; seconds of the longest execution natively, under
# Valgrind alone and traced, and in all.
PAPER = [
    ("apache", "data race", "3 (1+1+1+0)", 28, "16.3M", 12.5, 18.0, 26.5, 80.5),
    ("pbzip2-1", "data race", "3 (1+1+1+0)", 10, "18.7M", 0.6, 2.0, 28.2, 36.2),
    ("pbzip2-2", "data race", "3 (1+1+1+0)", 10, "29.1M", 1.0, 5.7, 44.2, 67.3),
    ("mysqld-1", "data race", "3 (1+1+1+0)", 10, "4.5M", 3.4, 10.9, 112.2, 155.7),
    ("mysqld-2", "data race", "3 (1+1+1+0)", 5, "2.2M", 1.1, 2.8, 38.4, 49.6),
    ("mysqld-3", "atomicity violation", "4 (1+1+0+2)", 5, "2.1M", 1.0, 3.1, 39.2, 58.6),
    ("mysqld-4", "uninitialised read", "2 (1+1+0+0)", 4, "2.1M", 1.3, 2.6, 36.6, 41.8),
    ("mozilla-1", "data race", "3 (1+1+1+0)", 3, "15.7M", 0.7, 10.1, 35.2, 63.1),
    ("mozilla-2", "atomicity violation", "4 (1+1+0+2)", 3, "23.4M", 1.0, 2.1, 8.4, 21.0),
    ("mozilla-3", "order violation", "4 (1+1+0+2)", 2, "39.5M", 2.5, 4.3, 122.5, 148.3),
    ("prozilla-1", "stack overflow", "2 (1+1+0+0)", 1, "2.1M", 2.2, 2.5, 3.7, 7.5),
    ("prozilla-2", "stack overflow", "4 (1+3+0+0)", 1, "0.75M", 0.03, 0.17, 0.83, 1.85),
    ("axel", "stack overflow", "3 (1+2+0+0)", 1, "0.27M", 0.002, 0.122, 0.387, 0.753),
]


def build(folder, truth, target):
    sources = [str(folder / name) for name in truth["sources"]]
    compiler = "clang++-19" if any(not s.endswith(".c") for s in sources) else "clang-19"
    subprocess.run([compiler, "-g", "-O1", "-fno-omit-frame-pointer", "-pthread", "-w",
                    "-I", str(SOURCE / "corpus"), *sources, "-o", str(target)], check=True)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def isolate(target, args, options):
    """The answer, or one with the message as its verdict; the seconds it took and those of the processor."""
    started, before = time.monotonic(), cpu_seconds()
    try:
        done = subprocess.run([UNSNARL, "isolate", "--json", "--seed", str(options.seed), "--time", str(options.time),
                               "--timeout", "5", "--", str(target), *args],
                              capture_output=True, timeout=options.time * 6, cwd=target.parent)
        answer = json.loads(done.stdout) if done.stdout else {"verdict": done.stderr.decode(errors="replace").strip()[:60]}
    except subprocess.TimeoutExpired:
        answer = {"verdict": "time-out"}
    return answer, time.monotonic() - started, cpu_seconds() - before


def judge(truth, answer):
    """right: the finding has the true lines of the fault; wrong; none."""
    finding = (answer.get("findings") or [None])[0]
    if not finding:
        return "none"
    lines = [a["line"] for a in finding["accesses"]]
    # Of a freed block the pointer that was kept comes before the free.
    root = next((a["line"] for a in finding["accesses"] if a["through"] == "free"), lines[0] if lines else None)
    for cause in [truth, *truth.get("or", [])]:
        wanted = {a["line"] for a in cause["accesses"]}
        if answer["verdict"] == "order":
            good = len(wanted & set(lines)) >= min(2, len(wanted))
        else:
            good = lines and (root in wanted or (answer["verdict"] == "undefined" and wanted & set(lines)))
        if good:
            return "right"
    return "wrong"


def seconds_of(command, folder):
    """How long it takes, however it ends."""
    started = time.monotonic()
    try:
        subprocess.run(command, capture_output=True, timeout=20, cwd=folder)
    except subprocess.TimeoutExpired:
        pass
    return time.monotonic() - started


def measure(path, work, options):
    truth = json.loads(path.read_text())
    oracle = truth.get("oracle") or {}
    if oracle.get("kind") not in ("signal", "hang") or (options.names and truth["name"] not in options.names):
        return None
    target = pathlib.Path(work) / truth["name"]
    build(path.parent, truth, target)
    answer, seconds, cpu = isolate(target, truth["args"], options)
    row = {"truth": truth, "answer": answer, "seconds": seconds, "cpu": cpu, "judged": judge(truth, answer)}
    if options.table == 3:
        command = [str(target), *truth["args"]]
        row["native"] = seconds_of(command, work)
        row["stock"] = seconds_of(["valgrind", "--tool=none", "-q", *command], work)
    runs = answer.get("executions", {})
    counts = [runs.get(k, 0) for k in ("original", "suppression", "race", "violation")]
    row["runs"] = sum(counts)
    row["executions"] = f"{sum(counts)} ({'+'.join(map(str, counts))})"
    row["hops"] = len(answer.get("chain", []))
    return row


def second_table(rows):
    yield "### Table II: executions"
    yield ""
    yield "| program | fault | hops | executions (orig+supp+race+vio) | traced accesses | threads | verdict | root cause |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        answer = row["answer"]
        verdict = answer["verdict"] + (", sure" if answer.get("sure") else "")
        yield (f"| {row['truth']['name']} | {row['truth']['class']}, {row['truth']['pattern']} | {row['hops']} | {row['executions']} | "
               f"{answer.get('traced', 0)} | {answer.get('threads', 0)} | {verdict} | {row['judged']} |")
    for name, fault, executions, threads, traced, *_ in PAPER:
        yield f"| *paper:* {name} | {fault} | | {executions} | {traced} | {threads} | | yes |"


def third_table(rows):
    yield ""
    yield "### Table III: seconds"
    yield ""
    yield "| program | native | Valgrind alone | traced | in all, with the search for a failure | processor |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        yield (f"| {row['truth']['name']} | {row['native']:.2f} | {row['stock']:.2f} | "
               f"{row['answer'].get('longest_seconds', 0):.2f} | {row['seconds']:.1f} | {row['cpu']:.1f} |")
    for name, _, _, _, _, native, stock, traced, total in PAPER:
        yield f"| *paper:* {name} | {native} | {stock} | {traced} | {total} | |"


def bars(rows):
    """Each bar: what it asks for, what it came to, the programs that miss it."""
    def missing(is_missed, told):
        return [f"{row['truth']['name']} ({told(row)})" for row in rows if is_missed(row)]

    right = sum(row["judged"] == "right" for row in rows)
    return [
        ("the true root cause of every program", f"{right} of {len(rows)}",
         missing(lambda row: row["judged"] != "right", lambda row: row["judged"])),
        ("none called sure and wrong", "",
         missing(lambda row: row["judged"] == "wrong" and row["answer"].get("sure"), lambda row: row["answer"]["verdict"])),
        (f"at most hops + {MORE_THAN_HOPS} executions", f"at most {max(row['runs'] for row in rows)}",
         missing(lambda row: row["runs"] > row["hops"] + MORE_THAN_HOPS, lambda row: f"{row['runs']}, hops {row['hops']}")),
        (f"at most {SECONDS_MOST} s", f"at most {max(row['seconds'] for row in rows):.1f} s",
         missing(lambda row: row["seconds"] > SECONDS_MOST, lambda row: f"{row['seconds']:.1f} s")),
    ]


def bar_table(judged):
    yield "| bar | | verdict |"
    yield "|---|---|---|"
    for bar, reached, missed in judged:
        yield f"| {bar} | {reached} | {'**missed**: ' + ', '.join(missed) if missed else 'met'} |"


def write(text):
    path = SOURCE / "doc" / "results.md"
    old = path.read_text()
    path.write_text(re.sub(re.escape(MARK) + r".*?(?=\n## |\Z)", lambda _: text, old, flags=re.S))


def introduction(options):
    return (f"Every corpus program that ends by a signal or hangs, seed {options.seed}, {options.time} seconds each including the search for a "
            f"failure, load {os.getloadavg()[1]:.0f} on {os.cpu_count()} processors. Right: for an order, two of the true lines are in the "
            "finding; else the first access, or of a freed block the free, is at a true line. Hops: the failures that were followed, one where the first failure leads "
            "to the cause; each one more was hidden behind the one before and shown by leaving out what that had used.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=pathlib.Path, default=SOURCE / "corpus")
    parser.add_argument("--time", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=int, choices=(2, 3), default=3)
    parser.add_argument("--write", action="store_true", help="into doc/results.md")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(options.corpus.glob("*/truth.json")):
            row = measure(path, work, options)
            if row:
                rows.append(row)
                print(f"{row['truth']['name']:<18}{row['judged']:<7}{row['executions']:<18}{row['seconds']:.1f} s, {row['cpu']:.1f} of processor",
                      file=sys.stderr, flush=True)
    if not rows:
        sys.exit("eval_suppress.py: no such program ends by a signal or hangs")
    judged = bars(rows)
    text = "\n".join([MARK, introduction(options), "", *bar_table(judged), "", *second_table(rows),
                      *(third_table(rows) if options.table == 3 else [])]) + "\n"
    print(text)
    if options.write:
        write(text)
    return 1 if any(missed for _, _, missed in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
