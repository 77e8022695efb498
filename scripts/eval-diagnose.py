#!/usr/bin/env python3
"""Measures unsnarl diagnose on the corpus: are the right accesses first, is the class
right, is nothing claimed for a control, how long does it take.

usage: eval-diagnose.py [--build DIR] [--short] [--time S | --budget N] [--jobs J] [--repeat N] [--seed S]
                        [--controls N] [--keep DIR] [--json FILE] [--methods] [--gcc FLAGS] [--write] [NAME...]

What is right is said in judging.py. With --repeat every diagnosis has a seed of its own, and the first answer
is to be the same for all. With --budget schedules are counted instead of seconds: the answers depend on nothing
but the seeds, and the bar of time is not looked at. --short takes ten small programs of all classes that way,
and all of them have to be right. With --write the table goes into doc/results.md, between its markers.
The exit status is 0 when all bars are met.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import judging

RIGHT, CLASS, SAME, SECONDS = 0.95, 0.95, 0.95, 5  # the bars
SHORT = judging.SHORT
# One or two small programs of each class, and a correct one.
FEW = ["binlog-rotate", "hit-counter", "interp-cache", "ledger-title", "mail-folders", "message-catalog",
       "multi-order", "net-endpoint", "peer-session", "timer-thread"]
FEW_BUDGET = 300  # schedules


def diagnose(program, options, repetition):
    """The JSON of one diagnosis and how long it took."""
    store = program.home / f"diagnose-{repetition}"
    limit = ["--budget", str(options.budget)] if options.budget else ["--time", str(options.time)]
    command = [program.unsnarl, "diagnose", "--json", *limit, "-j", str(options.jobs),
               "--seed", str(options.seed + 7 * repetition), "--timeout", str(program.truth["timeout"]),
               "--store", str(store), *map(str, program.oracle()), "--", str(program.program),
               *program.truth["args"]]
    begun = time.monotonic()
    process = subprocess.run(command, cwd=program.folder, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=None if options.budget else options.time * 3 + 60)
    seconds = time.monotonic() - begun
    if process.returncode not in (0, 1):
        print(f"    {program.name}: {process.stderr.strip()}", flush=True)
        return None, seconds
    return program.with_lines(json.loads(process.stdout)), seconds


def judge(truth, answer, seconds):
    findings = answer["findings"] if answer else []
    rank = judging.rank_of(truth, findings)
    first = findings[0] if findings else None
    return {"found": bool(answer and answer["failure"]), "rank": rank, "claims": len(findings),
            "class": first["class"] if first else None, "score": first["score"] if first else None,
            "class_right": bool(first) and judging.is_class(truth, first), "seconds": seconds,
            "schedules": answer["schedules"] if answer else 0, "compared": answer["compared"] if answer else 0,
            "replays": answer["replays"] if answer else None,
            "switches": answer["shortest"]["forced_switches"] if answer and answer["shortest"] else None,
            "by": first["claimed_by"] if first else [],
            "methods": {o["method"]: [i + 1 for i, f in enumerate(o["findings"]) if judging.is_right(truth, f)][:1]
                        + [judging.is_class(truth, o["findings"][0])]
                        for o in (answer["opinions"] if answer else []) if o["findings"]},
            "verdict": first["verdict"] if first else None,
            "places": sorted({judging.place(a) for a in first["accesses"]}) if first else [],
            "first": [f"T{a['thread']} {a['kind']} {a['line']}" for a in first["accesses"]] if first else []}


def show(name, truth, row, options):
    true = " ".join(f"T{a['thread']} {a['kind']} {a['line']}" for a in truth["accesses"])
    if truth["class"] == "none":
        verdict = "claimed something" if row["claims"] or row["found"] else "quiet"
    else:
        verdict = ("right" if row["rank"] == 1 else f"rank {row['rank']}" if row["rank"] else "WRONG") + \
            ("" if row["class_right"] else f", class {SHORT.get(row['class'], row['class'])}")
    print(f"{name:16} {SHORT.get(truth['class'], truth['class']):8} {verdict:24} {row['seconds']:5.1f} s "
          f"{row['schedules']:6} schedules, {row['compared']} compared", flush=True)
    if options.methods and truth["class"] != "none":
        print("    " + "  ".join(f"{m} {r[0] if len(r) > 1 else '-'}{'' if r[-1] else '!'}"
                                 for m, r in row["methods"].items()), flush=True)
    if truth["class"] != "none" and (row["rank"] != 1 or not row["class_right"]):
        print(f"    true {true}\n    said {' '.join(row['first'])} by {','.join(row['by'])} ({row['verdict']})",
              flush=True)


def table(rows, options):
    limit = f"--budget {options.budget}" if options.budget else f"--time {options.time:g}"
    yield (f"`unsnarl diagnose {limit}`, {options.repeat} repetition"
           f"{'s' if options.repeat > 1 else ''} with fresh seeds and stores, {options.jobs} job"
           f"{'s' if options.jobs > 1 else ''}; figures other than counts are those of the last one.")
    yield ""
    yield "| program | class | right accesses first | class right | how sure | schedules | compared | switches | replays | s |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, truth, done in rows:
        last = done[-1]
        kind = SHORT.get(truth["class"], truth["class"])
        if truth["class"] == "none":
            quiet = sum(not r["claims"] and not r["found"] for r in done)
            yield f"| {name} | {kind} | quiet in {quiet} of {len(done)} | | | {last['schedules']} | | | | {last['seconds']:.1f} |"
            continue
        first = sum(r["rank"] == 1 for r in done)
        right = sum(r["class_right"] for r in done)
        sure = f"{last['score']:.2f}" if last["score"] is not None else "-"
        replays = f"{last['replays']['identical']} of {last['replays']['runs']}" if last["replays"] else "-"
        yield (f"| {name} | {kind} | {first} of {len(done)} | {right} of {len(done)} | {sure} | {last['schedules']} | "
               f"{last['compared']} | {'-' if last['switches'] is None else last['switches']} | {replays} | {last['seconds']:.1f} |")
    yield ""
    yield from bars(rows, options)[0]


def bars(rows, options):
    bugs = [(t, r) for _, t, done in rows if t["class"] != "none" for r in done]
    controls = [r for _, t, done in rows if t["class"] == "none" for r in done]
    first = sum(r["rank"] == 1 for _, r in bugs)
    right = sum(r["class_right"] for _, r in bugs)
    quiet = sum(not r["claims"] and not r["found"] for r in controls)
    programs = [done for _, t, done in rows if t["class"] != "none"]
    same = sum(all(r["places"] == done[0]["places"] for r in done) for done in programs)
    median = statistics.median(r["seconds"] for _, r in bugs) if bugs else 0
    lines = [f"Right accesses first: {first} of {len(bugs)} (bar {RIGHT:.0%}). Right class: {right} of {len(bugs)} "
             f"(bar {CLASS:.0%}). The same first answer for {options.repeat} seed{'s' if options.repeat > 1 else ''}: "
             f"{same} of {len(programs)} (bar {SAME:.0%}). Controls without a claim: {quiet} of {len(controls)}. "
             f"Median of the bugs: {median:.1f} s (bar {SECONDS} s)."]
    needed, classes = (1, 1) if options.short else (RIGHT, CLASS)
    met = (first >= needed * len(bugs) and right >= classes * len(bugs) and quiet == len(controls)
           and same >= SAME * len(programs) and (options.budget or median < SECONDS))
    return lines, met


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=judging.SOURCE / "build")
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--budget", type=int, help="schedules instead of time")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--controls", type=int, help="repetitions for controls, which take the whole time (default: as many)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs and stores, kept")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--methods", action="store_true", help="rank of the right answer in each opinion (!: other class)")
    parser.add_argument("--gcc", metavar="FLAGS", help="build with gcc FLAGS, without hooks: the binary loom")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--short", action="store_true", help="ten programs, by schedules: for make check")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.short:
        options.budget, options.names = options.budget or FEW_BUDGET, options.names or FEW
    unsnarl = str(options.build.resolve() / "unsnarl")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in judging.corpus(options.names):
            program = judging.Program(unsnarl, name, (options.keep or pathlib.Path(scratch)).resolve())
            program.build(options.gcc)
            done = []
            control = program.truth["class"] == "none"
            for repetition in range(options.controls or options.repeat if control else options.repeat):
                answer, seconds = diagnose(program, options, repetition)
                done.append(judge(program.truth, answer, seconds))
                show(name, program.truth, done[-1], options)
            rows.append((name, program.truth, done))
    lines, met = bars(rows, options)
    print("\n".join(lines))
    if options.json:
        options.json.write_text(json.dumps([{"name": n, "runs": d} for n, _, d in rows], indent=1))
    if options.write:
        judging.write_section("eval-diagnose", "Diagnosing (`make eval-diagnose`)", "\n".join(table(rows, options)))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
