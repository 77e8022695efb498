#!/usr/bin/env python3
"""LOCON's Table 4 on our corpus: one failed run and up to 100 passing ones per
program, from `unsnarl hunt` (or `unsnarl run --jitter` where that finds nothing),
then `unsnarl locate`, alone on the last failed run and with its choice among those
that the hunt met, and `unsnarl locate --falcon` on the same runs.

usage: eval-locon.py [--build DIR] [--repeat N] [--budget TIME] [--seed S] [--reuse] [--write] [NAME...]

What is right is said in judging.py. With --reuse, programs and runs of the last
evaluation are taken where they are still there. With --write the table goes into
doc/results.md, between its markers. The exit status is 0 when the bar is met:
right at rank 1 in 9 of 10 repetitions of every program, nothing named for a control.
"""

import argparse
import pathlib
import sys

import judging

BAR = 0.9
CLASSES = ("atomicity-violation", "multi-variable-atomicity-violation", "order-violation", "none")
# What the paper says of the program that ours is modelled on: bug, pairs, procedure (suspects/rank),
# seconds, and Falcon's patterns, rank, patterns with the highest score.
PAPER = {
    "shared-counter": ("#1", 9, "I (2/1)", 0.01, 3, "1", 2),
    "bank-account": ("#2", 8, "I (2/1)", 0.01, 2, "1", 1),
    "ring-list": ("#3", 11, "III thread (6/1)", 0.12, 14, "N", 1),
    "string-buffer": ("#4", 8, "I (1/1)", 0.01, 3, "N", 1),
    "log-sweep": ("#5", 4, "I (1/1)", 0.01, 4, "1", 2),
    "table-binlog": ("#6", 3, "III thread (1/1)", 0.15, 2, "N", 1),
    "relay-log": ("#7", 32, "I (1/1)", 0.01, 8, "1", 1),
    "block-pack": ("#8", 224, "I (1/1)", 0.13, 35, "1", 1),
    "peer-session": ("#9", 142, "II (60/1)", 0.42, 57, "N", 5),
    "fft-kernel": ("#10", 7187, "II (7/1)", 8.1, 50, "N", 1),
    "segment-get": ("#11", 7027, "III loop (1/1)", 33, 37, "N", 2),
    "object-cache": ("#12", 16625, "I (1/1)", 27.66, 751, "9", 1),
    "access-log": ("#13", 1691, "I (2/1)", 1.81, 658, "1", 26),
    "idle-workers": ("#14", 4899, "III loop (1/1)", 388.3, 563, "N", 23),
    "binlog-rotate": ("#15", 780977, "I (2/1)", 740.8, 1670, "1", 69),
    "proc-info": ("#16", 5510, "I (1/1)", 13.25, 1730, "1", 282),
}


def note(row, program, store, answer, seconds):
    """What the table shows of one repetition."""
    truth, findings = program.truth, answer["findings"]
    rank = judging.rank_of(truth, findings)
    falcon, _, falcon_seconds = program.locate(store, "--falcon", "--top", 1000)
    level = f" {answer['level']}" if answer["level"] else ""
    alone, _, _ = program.locate(store, "last")
    row["alone"] += judging.rank_of(truth, alone["findings"]) == 1
    row["first"] += rank == 1
    row["whole"] += rank == 1 and judging.is_whole(truth, findings[0])
    row["right"] += bool(findings) and findings[0]["class"] == truth["class"]
    row["claims"] += bool(findings)
    row["falcon_first"] += judging.rank_of(truth, falcon["findings"]) == 1
    row.update(pairs=answer["pairs"], passed=answer["passed"], rank=rank, suspects=answer["suspects"],
               procedure=(answer["procedure"] or "-") + level, seconds=seconds, patterns=falcon["patterns"],
               falcon_rank=judging.rank_of(truth, falcon["findings"]), highest=falcon["highest"],
               falcon_seconds=falcon_seconds)


def evaluate(program, options):
    """A row of the table: counts over the repetitions, and what the last one gave."""
    row = {"name": program.name, "class": judging.SHORT[program.truth["class"]], "why": "", "asked": 0,
           "first": 0, "alone": 0, "whole": 0, "right": 0, "claims": 0, "falcon_first": 0}
    for repetition in range(options.repeat):
        control = row["class"] == "-"
        store = program.mislabel(repetition) if control else program.collect(repetition, options.budget, options.seed)
        answer, why, seconds = program.locate(store)
        if answer is None:
            row["why"] = "no failed run" if "failed yet" in why else why.split(":")[-1].strip()
            continue
        row["asked"] += 1
        note(row, program, store, answer, seconds)
        if options.verbose and row["class"] != "-":
            first = answer["findings"][0] if answer["findings"] else None
            said = " ".join(f"T{a['thread']} {a['kind'][0]}{a['line']}" for a in first["accesses"]) if first else "-"
            print(f"    {repetition}: rank {row['rank']} {row['procedure']} ({row['suspects']}) "
                  f"{judging.SHORT[first['class']] if first else ''} {said}", file=sys.stderr, flush=True)
    return row


def lines_of(rows, repeat):
    yield f"Up to 100 passing runs, {repeat} repetitions with fresh seeds; procedure, rank and times are those of the last"
    yield "one. (m/n): suspects, and rank of the first finding that is right. N: not found. *first*: right at rank 1, where"
    yield "`locate` may choose among the failed runs that the hunt met on its way to 100 passing ones; *one failed run*: the"
    yield "last one alone, as in the paper; *whole*: as first, with all true pairs; *Falcon first*: the same of Falcon, on one"
    yield "failed run. Controls have no failed runs: one in twenty of their runs was called failed at random, and any"
    yield "claim is wrong."
    yield ""
    yield ("| program | class | first | one failed run | whole | class right | pairs | procedure (m/n) | s | Falcon first | patterns | "
           "rank | highest | s | paper: bug | pairs | procedure | s | Falcon rank |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        paper = PAPER.get(r["name"])
        theirs = f"{paper[0]} | {paper[1]} | {paper[2]} | {paper[3]} | {paper[5]}" if paper else " | | | | "
        if not r["asked"]:
            yield f"| {r['name']} | {r['class']} | {r['why']} | | | | | | | | | | | | {theirs} |"
            continue
        n = r["asked"]
        counts = (f"{r['first']} of {n} | {r['alone']} | {r['whole']} | {r['right']}" if r["class"] != "-"
                  else f"claims in {r['claims']} of {n} | | | ")
        yield (f"| {r['name']} | {r['class']} | {counts} | {r['pairs']} | "
               f"{r['procedure']} ({r['suspects']}/{r['rank'] or 'N'}) | {r['seconds']:.2f} | {r['falcon_first']} | "
               f"{r['patterns']} | {r['falcon_rank'] or 'N'} | {r['highest']} | {r['falcon_seconds']:.2f} | {theirs} |")
    yield ""
    yield from verdict(rows)[0]


def verdict(rows):
    bugs = [r for r in rows if r["class"] != "-"]
    asked = [r for r in bugs if r["asked"]]
    met = [r for r in asked if r["first"] >= BAR * r["asked"]]
    claims = sum(r["claims"] for r in rows if r["class"] == "-")
    n = sum(r["asked"] for r in asked)
    lines = [f"Right at rank 1 in 9 of 10 repetitions: {len(met)} of {len(bugs)} programs; in all "
             f"{sum(r['first'] for r in asked)} of {n} repetitions, from one failed run alone "
             f"{sum(r['alone'] for r in asked)}, with all true pairs {sum(r['whole'] for r in asked)}, "
             f"right class {sum(r['right'] for r in asked)}; Falcon {sum(r['falcon_first'] for r in asked)}."]
    lines.append(f"Claims for controls: {claims} of {sum(r['asked'] for r in rows if r['class'] == '-')}.")
    below = [f"{r['name']} ({r['first']} of {r['asked']})" for r in bugs if r not in met]
    if below:
        lines.append(f"Below: {', '.join(below)}.")
    missing = [n for n in judging.corpus(classes=CLASSES) if n not in {r["name"] for r in rows}]
    if missing:
        lines.append(f"Not run here, and not counted: {', '.join(missing)}.")
    return lines, len(met) == len(bugs) and not claims


def main():
    parser = argparse.ArgumentParser(description="LOCON's Table 4 on our corpus.")
    parser.add_argument("--build", type=pathlib.Path, default=judging.SOURCE / "build")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--budget", default="30s", help="of each hunt")
    parser.add_argument("--seed", type=int, default=1000, help="of the first hunt")
    parser.add_argument("--reuse", action="store_true", help="take the runs of the last evaluation")
    parser.add_argument("--verbose", action="store_true", help="say what each repetition found")
    parser.add_argument("--write", action="store_true", help="put the table into doc/results.md")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unsnarl = str((options.build / "unsnarl").resolve())
    scratch = options.build.resolve() / "eval-locon"
    rows = []
    for name in judging.corpus(options.names, CLASSES):
        program = judging.Program(unsnarl, name, scratch)
        if not (options.reuse and program.program.exists()):
            program.build()
        row = evaluate(program, options)
        rows.append(row)
        print(f"{name}: {row.get('procedure', row['why'])} first in {row['first']}, whole in {row['whole']}, class "
              f"right in {row['right']} of {row['asked']}", file=sys.stderr, flush=True)
    text = "\n".join(lines_of(rows, options.repeat))
    print(text)
    if options.write:
        judging.write_section("eval-locon", "Locating: LOCON and Falcon (`make eval-locon`)", text)
    sys.exit(0 if verdict(rows)[1] else 1)


if __name__ == "__main__":
    main()
