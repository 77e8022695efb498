#!/usr/bin/env python3
"""LOCON's Table 4 on our corpus: one failed run and up to 100 passing ones per
program, from `unsnarl hunt` (or `unsnarl run --jitter` where that finds nothing),
then `unsnarl locate` and `unsnarl locate --falcon` on the same runs.

usage: eval-locon.py [--build DIR] [--repeat N] [--budget TIME] [--write] [NAME...]

The rank is that of the first finding that holds a true pair: two accesses of
different threads to one variable, one of them writing, as truth.json has them,
or only accesses of the truth. `all` says that it holds every true access. With
--write the table goes into doc/results.md, between its markers.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- eval-locon: begin -->", "<!-- eval-locon: end -->"
CLASSES = {"atomicity-violation": "SAV", "multi-variable-atomicity-violation": "MAV",
           "order-violation": "OV", "none": "-"}
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


def is_true(truth, finding):
    """(holds a true pair, holds all accesses)"""
    got = {(a["kind"], a["line"]) for a in finding["accesses"]}
    want = [((a["kind"], a["line"]), a["thread"]) for a in truth["accesses"]]
    pair = any(one[1] != two[1] and "write" in (one[0][0], two[0][0]) and one[0] in got and two[0] in got
               for i, one in enumerate(want) for two in want[i + 1:])
    threads = {a["thread"] for a in finding["accesses"]}
    within = len(threads) > 1 and got <= {w[0] for w in want}
    return pair or within, all(w[0] in got for w in want)


class Program:
    def __init__(self, unsnarl, name, scratch):
        self.unsnarl, self.name = unsnarl, name
        self.folder = SOURCE / "corpus" / name
        self.truth = json.loads((self.folder / "truth.json").read_text())
        self.home = scratch / name
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)

    def call(self, *words, timeout=300):
        process = subprocess.run([self.unsnarl, *map(str, words)], cwd=self.folder, capture_output=True,
                                 text=True, timeout=timeout)
        return process.returncode, process.stdout, process.stderr

    def build(self):
        plain = all(s.endswith(".c") for s in self.truth["sources"])
        self.program = self.home / self.name
        code, _, errors = self.call("cc" if plain else "c++", "-O2", "-g", "-pthread", *self.truth["sources"],
                                    "-o", self.program)
        if code:
            sys.exit(f"{self.name}: {errors}")

    def oracle(self):
        expect = self.folder / "expect.txt"
        return ["--expect", expect] if expect.is_file() else []

    def collect(self, repetition, budget):
        """A store with passing runs and, if one was found, a failed one."""
        store = self.home / f"store-{repetition}"
        end = ["--timeout", self.truth["timeout"], "--store", store, *self.oracle(), "--", self.program,
               *self.truth["args"]]
        found, _, _ = self.call("hunt", "--budget", budget, "--no-reduce", "--seed", 1000 + 7 * repetition,
                                "--passes", 100, *end, timeout=900)
        if found == 0:
            for jitter in (300, 5000):
                self.call("run", "-n", 60, f"--jitter={jitter}", "--seed", repetition, *end, timeout=900)
        return store

    def ask(self, store, *words):
        begun = time.monotonic()
        code, out, errors = self.call("locate", "--json", "--store", store, *words)
        seconds = time.monotonic() - begun
        if code == 2:
            return None, errors.strip(), seconds
        return json.loads(out), "", seconds


def rank_of(truth, answer):
    for finding in answer["findings"]:
        good, whole = is_true(truth, finding)
        if good:
            return finding["rank"], whole
    return None, False


def evaluate(program, repeat, budget):
    """A row of the table: what the last repetition gave, and how many found it first."""
    first = asked = 0
    row = {"name": program.name, "class": CLASSES[program.truth["class"]], "why": ""}
    for repetition in range(repeat):
        store = program.collect(repetition, budget)
        answer, why, seconds = program.ask(store)
        if answer is None:
            row["why"] = "no failed run" if "failed yet" in why else why.split(":")[-1].strip()
            continue
        asked += 1
        rank, whole = rank_of(program.truth, answer)
        falcon, _, falcon_seconds = program.ask(store, "--falcon", "--top", 1000)
        falcon_rank, _ = rank_of(program.truth, falcon)
        first += rank == 1
        right = bool(answer["findings"]) and answer["findings"][0]["class"] == program.truth["class"]
        level = f" {answer['level']}" if answer["level"] else ""
        row.update(pairs=answer["pairs"], passed=answer["passed"], rank=rank, whole=whole, right=right,
                   procedure=(answer["procedure"] or "-") + level, suspects=answer["suspects"],
                   seconds=seconds, patterns=falcon["patterns"], falcon_rank=falcon_rank,
                   highest=falcon["highest"], falcon_seconds=falcon_seconds)
    row.update(first=first, asked=asked, repeat=repeat)
    return row


def left_out(rows):
    """Programs of the corpus with a cause to name that this table does not have."""
    known = {r["name"] for r in rows}
    for path in sorted((SOURCE / "corpus").glob("*/truth.json")):
        if path.parent.name not in known and json.loads(path.read_text())["class"] in CLASSES:
            yield path.parent.name


def lines_of(rows, repeat):
    yield f"Up to 100 passing runs and one failed one per program, {repeat} repetitions with fresh seeds; the"
    yield "figures are those of the last one. (m/n): suspects, and rank of the first finding that is true. N: not found."
    yield ""
    yield ("| program | class | pairs | procedure (m/n) | class right | first | s | Falcon: patterns | rank | "
           "highest | s | paper: bug | pairs | procedure | s | Falcon rank |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        paper = PAPER.get(r["name"])
        theirs = f"{paper[0]} | {paper[1]} | {paper[2]} | {paper[3]} | {paper[5]}" if paper else " | | | | "
        if not r["asked"]:
            yield f"| {r['name']} | {r['class']} | | {r['why']} | | | | | | | | {theirs} |"
            continue
        yield (f"| {r['name']} | {r['class']} | {r['pairs']} | {r['procedure']} ({r['suspects']}/{r['rank'] or 'N'}) | "
               f"{'yes' if r['right'] else 'no'} | {r['first']} of {r['asked']} | {r['seconds']:.2f} | "
               f"{r['patterns']} | {r['falcon_rank'] or 'N'} | {r['highest']} | {r['falcon_seconds']:.2f} | {theirs} |")
    asked = [r for r in rows if r["asked"] and r["class"] != "-"]
    good = sum(r["first"] for r in asked)
    yield ""
    yield f"First in {good} of {sum(r['asked'] for r in asked)} repetitions over {len(asked)} programs."
    missing = list(left_out(rows))
    if missing:
        yield f"Not run here, and not counted: {', '.join(missing)}."
    yield "True is a finding with a true pair, or one whose accesses are all among the true ones; the thresholds of"
    yield "the analysis were chosen with these programs at hand, so others may fare worse."


def write(text):
    path = SOURCE / "doc" / "results.md"
    old = path.read_text()
    section = f"{BEGIN}\n{text}\n{END}"
    if BEGIN in old:
        head, rest = old.split(BEGIN, 1)
        new = head + section + rest.split(END, 1)[1]
    else:
        new = f"{old.rstrip()}\n\n## Locating: LOCON and Falcon (`make eval-locon`)\n\n{section}\n"
    path.write_text(new)


def main():
    parser = argparse.ArgumentParser(description="LOCON's Table 4 on our corpus.")
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--budget", default="30s", help="of each hunt")
    parser.add_argument("--write", action="store_true", help="put the table into doc/results.md")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unsnarl = str((options.build / "unsnarl").resolve())
    scratch = options.build.resolve() / "eval-locon"
    rows = []
    for folder in sorted((SOURCE / "corpus").iterdir()):
        if not (folder / "truth.json").is_file() or (options.names and folder.name not in options.names):
            continue
        program = Program(unsnarl, folder.name, scratch)
        if program.truth["class"] not in CLASSES:
            continue
        program.build()
        row = evaluate(program, options.repeat, options.budget)
        rows.append(row)
        print(f"{row['name']}: {row.get('procedure', row['why'])} first in {row['first']} of {row['asked']}",
              file=sys.stderr, flush=True)
    text = "\n".join(lines_of(rows, options.repeat))
    print(text)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
