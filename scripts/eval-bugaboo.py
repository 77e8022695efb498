#!/usr/bin/env python3
"""Repeats the evaluation of BUGABOO (MICRO 2009) on the corpus and the benchmark
programs: Tables 2, 3, 4 and 5 and the convergence figure, beside the paper's
numbers, between the markers in doc/results.md.

usage: eval-bugaboo.py [--build DIR] [--trials N] [--runs N] [--pool N] [--fresh] [--print] [NAME...]

A trial ranks --runs failed and as many passed runs, drawn from a pool of --pool of
each (eval_bugaboo_runs.py collects it and keeps it; --fresh collects again). An
inspection counts when its line is one of the accesses in the program's truth.json.
With --collect the runs are collected and nothing is ranked; with --print the tables
go to stdout and no file changes.
"""

import argparse
import pathlib
import random
import shutil
import sys

from eval_bugaboo_runs import Place, Program

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "corpus"
BEGIN, END = "<!-- eval-bugaboo begin -->", "<!-- eval-bugaboo end -->"
BESIDE = ("none", "deadlock", "lost-wakeup", "memory-error")  # not what communication graphs are about
MODES = (("word", ()), ("line", ("--granularity", "line")), ("machine", ("--machine",)))

# Table 2 (labelled and unlabelled, code points; hardware, line, word) and Table 4
# (contexts of 0 to 5 events) of the paper, by the name of the bug there.
PAPER = {
    "BankAcct": ((1.4, 2.2), (4.0, 3.6), (3.6, 4.8), (None, 2.0, 2.0, 2.4, 3.4, 3.6)),
    "CircularList": ((2.2, 2.0), (1.2, 1.0), (2.6, 2.0), (None, None, 7.2, 3.4, 3.2, 2.6)),
    "LogAndSweep": ((1.0, 1.0), (1.0, 1.0), (1.0, 2.0), (None, None, 2.2, 2.8, 1.6, 1.0)),
    "MultiOrder": ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (None, None, 2.8, 1.0, 1.0, 1.0)),
    "Moz-jsStr": ((1.8, 5.8), (1.0, 1.0), (1.0, 1.4), (None, 1.0, 1.0, 1.0, 1.0, 1.0)),
    "Moz-jsInterp": ((1.0, 1.4), (2.6, 3.8), (1.8, 2.8), (None, None, None, 1.6, 1.8, 1.8)),
    "Moz-macNetIO": ((1.4, 2.8), (5.0, 2.4), (3.0, 4.8), (None, 1.2, 1.0, 1.4, 2.2, 3.0)),
    "Moz-TxtFrame": ((1.0, 2.8), (1.8, 4.2), (3.4, 2.4), (None, None, 3.4, 2.8, 2.8, 3.4)),
    "MySQL-IdInit": ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)),
    "MySQL-BinLog": ((34.0, 19.2), (28.4, 19.6), (34.2, 16.0), (None, None, 522.6, 128.8, 60.0, 34.2)),
    "Apache-LogSz": ((12.0, 80.2), (8.8, 125.4), (13.2, 142.0), (None, 25.2, 6.4, 7.2, 9.8, 13.2)),
    "PBZip2-Order": ((14.5, 5.2), (10.8, 1.4), (6.6, 3.4), (None, None, None, None, 6.6, 6.6)),
    "AGet-MultVar": ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (None, 3.8, 3.8, 1.4, 1.0, 1.0)),
}
PAPER_TABLE3 = {"AGet-MultVar": (16.67, 33.33), "Apache-LogSz": (25.57, 59.09),
                "MySQL-BinLog": (27.43, 54.51), "PBZip2-Order": (26.32, 59.65)}
BENCH = {"fft": ("-m", "10"), "lu": ("-n", "64"), "radix": ("-n", "4096"), "squeeze": ("-n", "16")}


def mean(values):
    found = [v for v in values if v is not None]
    return sum(found) / len(found) if found and len(found) == len(values) else None


def shown(value):
    return "–" if value is None else f"{value:.1f}"


def trials(program, mode, options, settings, unlabelled=False):
    """Mean inspections and functions over the trials; None when a trial misses the bug."""
    asked = (mode, options, unlabelled)
    if asked not in program.answers:
        program.answers[asked] = run_trials(program, mode, options, settings, unlabelled)
    return program.answers[asked]


def run_trials(program, mode, options, settings, unlabelled):
    passed, failed = program.counts(mode)
    if not failed or not passed:
        return None, None
    results = []
    for trial in range(settings.trials):
        draw = random.Random(f"{program.name} {trial}")
        if unlabelled:  # 25 runs, at least one of them failed: one in five here
            few = max(1, settings.runs // 5)
            runs = draw.sample(failed, min(few, len(failed)))
            runs += draw.sample(passed, min(settings.runs - few, len(passed)))
        else:
            runs = draw.sample(failed, min(settings.runs, len(failed)))
            runs += draw.sample(passed, min(settings.runs, len(passed)))
        results.append(program.rank(mode, runs, *options))
    return mean([r and r[0] for r in results]), mean([r and r[1] for r in results])


def judged(programs, means):
    """The bars of the evaluation, in words."""
    lines = []
    for large, bar in ((False, 2), (True, 10)):
        found = [means[p.name] for p in programs if p.large == large]
        here = [m for m in found if m is not None]
        if here:
            lines.append(f"{'Large' if large else 'Small'} programs: found in every trial in {len(here)} of {len(found)}, "
                         f"{sum(here) / len(here):.2f} inspections on average (bar {bar}).")
    worse = [f"{p.name} ({shown(means[p.name])}, paper {shown(PAPER[p.paper][2][0])})" for p in programs if p.paper and
             (means[p.name] is None or means[p.name] > PAPER[p.paper][2][0])]
    lines.append("Worse than the paper for the bug of the same name: " + (", ".join(worse) or "none") + ".")
    return [" ".join(lines), ""]


def table2(programs, settings):
    lines = ["### Inspections until the bug (paper, Table 2)", "",
             "Code points, in brackets functions; *paper* is its word granularity, labelled. `paper's formula` is "
             "`--formula paper`. Large are the programs after the paper's full applications. Free runs had random delays; "
             "controlled ones are those of a hunt, of different schedules (the other modes have free runs only).", "",
             "| program | bug in the paper | paper | word, labelled | word, unlabelled | line, labelled | machine, labelled "
             "| machine, unlabelled | paper's formula | without context | runs failed/passed |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    means = {}
    for program in programs:
        cells = []
        for mode, options, unlabelled in (("word", (), False), ("word", ("--unlabelled",), True),
                                          ("line", (), False), ("machine", (), False),
                                          ("machine", ("--unlabelled",), True),
                                          ("word", ("--formula", "paper"), False),
                                          ("word", ("--context", 0), False)):
            points, functions = trials(program, mode, options, settings, unlabelled)
            cells.append(f"{shown(points)} ({shown(functions)})" if points is not None else "–")
            means.setdefault(program.name, points)
        passed, failed = program.counts("word")
        lines.append(f"| {program.name}{' (large)' if program.large else ''} | {program.paper or ''} | "
                     f"{shown(PAPER[program.paper][2][0]) if program.paper else ''} | " + " | ".join(cells) +
                     f" | {len(failed)}/{len(passed)} {'controlled' if program.controlled() else 'free'} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return lines + ["", *judged(programs, means)]


def table3(programs):
    lines = ["### Communicating code points missed (paper, Table 3)", "",
             "| program | by line tracking, % | by the machine, % | paper: line | paper: machine |", "|---|---|---|---|---|"]
    for program in programs:
        cells = []
        for mode in ("line", "machine"):
            answer = program.place.answer("rank", "--store", program.store("word"), "--compare", program.store(mode))
            cells.append("–" if answer is None else f"{answer['missed_percent']:.1f}")
        paper = PAPER_TABLE3.get(program.paper, ("", ""))
        lines.append(f"| {program.name} | {cells[0]} | {cells[1]} | {paper[0]} | {paper[1]} |")
    return lines + [""]


def table4(programs, settings):
    lines = ["### Effect of the context's length (paper, Table 4)", "",
             "Inspections, word granularity, labelled; the paper's numbers below ours where it has the bug.", "",
             "| program | 0 | 1 | 2 | 3 | 4 | 5 |", "|---|---|---|---|---|---|---|"]
    for program in programs:
        cells = [shown(trials(program, "word", ("--context", n) if n < 5 else (), settings)[0]) for n in range(6)]
        lines.append(f"| {program.name} | " + " | ".join(cells) + " |")
        if program.paper:
            lines.append(f"| *{program.paper}* | " + " | ".join(f"*{shown(v)}*" for v in PAPER[program.paper][3]) + " |")
    return lines + [""]


def bench_rows(place):
    """The benchmark programs on the simulated machine and under the edges observer."""
    for name, arguments in BENCH.items():
        executable = place.work / f"bench-{name}"
        source = ROOT / "bench" / "programs" / f"{name}.c"
        flags = ["-O2", "-g", "-std=gnu11", "-pthread", source, "-lm", "-o"]
        place.tool("cc", *flags, executable)
        word, machine = place.work / f"bench-{name}.word.store", place.work / f"bench-{name}.machine.store"
        for store in (word, machine):
            shutil.rmtree(store, ignore_errors=True)
        place.tool("run", "-n", 3, "--store", word, "--", executable, *arguments, limited=True)
        counts = place.answer("run", "--machine", "--timeout", 100, "--store", machine, "--", executable, *arguments)
        sizes = place.answer("rank", "--store", word, "--compare", machine)
        if counts and sizes and counts["machine"]:
            yield name, counts["machine"], sizes["graph"]


def table5(programs, place):
    lines = ["### The machine's work and the size of graphs (paper, Table 5)", "",
             "Per 10,000 accesses to lines, traps per 10 million; sizes over all runs, exact locations. The paper: at most "
             "429 read misses and 322 metadata writes per 10,000, 15.5 traps per 10 million, 100,000 nodes and 200,000 "
             "edges.", "",
             "| program | read misses | write misses | coherence | metadata | table | traps | nodes, edges without context "
             "| nodes, edges with context |", "|---|---|---|---|---|---|---|---|---|"]

    def row(name, m, g):
        per = [1e4 * m[k] / m["accesses"] for k in ("read_misses", "write_misses", "coherence_misses",
                                                     "metadata_writes", "table_writes")]
        return (f"| {name} | " + " | ".join(f"{v:.2f}" for v in per) + f" | {1e7 * m['traps'] / m['accesses']:.1f} | "
                f"{g['sites']}, {g['edges_without_context']} | {g['nodes']}, {g['edges']} |")

    lines += [row(*r) for r in bench_rows(place)]
    for program in programs:
        counted = [r["machine"] for r in program.runs("machine") if r["machine"]]
        sizes = place.answer("rank", "--store", program.store("word"), "--compare", program.store("word"))
        if counted and sizes:
            counts = {name: sum(c[name] for c in counted) for name in counted[0]}
            lines.append(row(program.name, counts, sizes["graph"]))
    return lines + [""]


def convergence(programs, settings):
    """Edges new with each run, as a share of the graph of all runs before it."""
    chosen = [p for p in programs if p.paper in ("MySQL-BinLog", "Apache-LogSz", "PBZip2-Order")] or programs[:3]
    steps = (2, 3, 5, 10, 15, 20, 25)
    lines = ["### Convergence (paper, Figure 7)", "",
             "Per cent of edges that run number n adds to the graph of the runs before it.", "",
             "| program | context | " + " | ".join(f"n = {s}" for s in steps) + " |",
             "|---|---|" + "---|" * len(steps)]
    for program in chosen:
        passed, failed = program.counts("word")
        numbers = sorted(passed + failed)
        random.Random(program.name).shuffle(numbers)
        graphs = []
        for number in numbers[:max(steps)]:
            answer = program.place.answer("show", number, "--edges", "--store", program.store("word"))
            graphs.append([(e["kind"], e["source"] and e["source"]["site"], e["source_context"] or "-",
                            e["sink"]["site"], e["sink_context"]) for e in answer["edges"]])
        for events in (0, 1, 3, 5):
            def short(context):
                return tuple(context.split()[-events:]) if events and context != "-" else ()
            known, cells = set(), {}
            for n, graph in enumerate(graphs, 1):
                fresh = {(k, a, short(ac), b, short(bc)) for k, a, ac, b, bc in graph} - known
                cells[n] = 100 * len(fresh) / len(known) if known else None
                known |= fresh
            lines.append(f"| {program.name} | {events} | " + " | ".join(shown(cells.get(s)) for s in steps) + " |")
    return lines + [""]


def write_results(text):
    path = ROOT / "doc" / "results.md"
    old = path.read_text()
    block = f"{BEGIN}\n{text}\n{END}"
    if BEGIN in old:
        path.write_text(old[:old.index(BEGIN)] + block + old[old.index(END) + len(END):])
    else:
        path.write_text(f"{old.rstrip()}\n\n{block}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--runs", type=int, default=25, help="failed and passed runs of a trial, each")
    parser.add_argument("--pool", type=int, help="of each that are collected (default twice as many)")
    parser.add_argument("--collect", action="store_true", help="collect runs, and no more")
    parser.add_argument("--fresh", action="store_true", help="collect runs again")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("names", nargs="*")
    settings = parser.parse_args()
    settings.pool = settings.pool or 2 * settings.runs
    place = Place(settings.build)
    programs = []
    for folder in sorted(CORPUS.iterdir()):
        if not (folder / "truth.json").exists() or settings.names and folder.name not in settings.names:
            continue
        program = Program(folder, place, PAPER)
        if program.truth["class"] in BESIDE or program.truth.get("deterministic"):
            continue
        if settings.fresh:
            program.executable.unlink(missing_ok=True)
        program.build()
        for mode, options in MODES:
            if settings.fresh:
                shutil.rmtree(program.store(mode), ignore_errors=True)
            need = settings.pool if mode == "word" else settings.runs
            program.collect(mode, options, need, settings.runs, 30 if mode == "word" else 12)
        print(program.name, *[f"{m}: {len(p)} passed {len(f)} failed" for m in ("word", "line", "machine")
                              for p, f in [program.counts(m)]], file=sys.stderr, flush=True)
        programs.append(program)
    if settings.collect:
        return
    text = "\n".join([
        "## BUGABOO's evaluation, repeated", "",
        f"`make eval-bugaboo`: {settings.trials} trials of {settings.runs} failed and {settings.runs} passed runs each (all "
        "there are, where there are fewer), drawn from the runs that the last column of the first table counts. – means that "
        "a trial did not find the bug, or that there were no failing runs in that mode. How much what came first in a run "
        "counts more (the factors in analysis/bugaboo/rank.c) was chosen with these programs in view, on other collections of runs.", "",
        *table2(programs, settings), *table3(programs), *table4(programs, settings), *table5(programs, place),
        *convergence(programs, settings)])
    if settings.only_print:
        print(text)
    else:
        write_results(text)


if __name__ == "__main__":
    main()
