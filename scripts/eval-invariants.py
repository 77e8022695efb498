#!/usr/bin/env python3
"""AI's evaluation on our corpus and benchmark programs: Table 2 (which invariant detects
and tolerates which pattern), false alarms, emergency patches, Tables 3 and 4 (overhead,
groups that a bias leaves out).

usage: eval-invariants.py [--build DIR] [--runs N] [--passing N] [--repeat N] [--sqlite DIR]
                          [--only table2|alarms|overhead] [--write] [NAME...]

Each program is trained on controlled runs of its normal build that pass; what is guarded
is the -DTRIGGER build, whose pauses make it fail. A guard's limit is 400 ms there, longer
than any pause. *detect*: the share of failing traced runs in which an invariant is violated
at an access of the truth. *tolerate*: for AI, that no guarded run fails; for the others,
that they are violated at the truth no later in the trace than AI is, in a program where
AI's stall is known to help. Patches are made of the truth as if a method had found it.
With --write the tables go into doc/results.md, between their markers.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CORPUS, BENCH = SOURCE / "corpus", SOURCE / "bench/programs"
LIMIT = 400
FAMILY = {"AI": ("AI",), "AVIO": ("AVIO",), "PSet": ("PSet",), "CCI": ("CCI previous", "CCI changed"),
          "DUI": ("DUI local/remote", "DUI follower", "DUI definition set")}
# Truth's failing order -> the paper's name of the pattern (Table 1).
PATTERNS = {("atomicity-violation", "R-W-R"): "R-R | W", ("atomicity-violation", "W-W-R"): "W-R | W",
            ("atomicity-violation", "W-R-W"): "W-W | R", ("atomicity-violation", "R-W-W"): "R-W | R-W",
            ("order-violation", "R-W"): "W-R order", ("order-violation", "W-R"): "R-W order",
            ("order-violation", "W-W"): "W-W order"}
PAPER = {"R-R | W": "AI d t; AVIO d; DUI d; CCI d; PSet d", "W-R | W": "AI d t; AVIO d; DUI d; CCI d; PSet d t",
         "W-W | R": "AI d t; AVIO (d); DUI d t; CCI d; PSet d t", "R-W | R-W": "AI d t; AVIO (d); CCI (d); PSet d",
         "W-R order": "AI d t; DUI (d t); CCI (d t); PSet (d t)", "R-W order": "AI d t; DUI d; CCI d; PSet d (t)",
         "W-W order": "AI d t; CCI d t; PSet d t"}


def call(command, cwd, **options):
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, **options)


class Program:
    def __init__(self, name, unsnarl, folder):
        self.truth = json.loads((CORPUS / name / "truth.json").read_text())
        self.name, self.unsnarl, self.folder = name, unsnarl, folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.source = CORPUS / name / self.truth["sources"][0]
        self.compiler = "c++" if self.source.suffix == ".cpp" else "cc"
        expect = CORPUS / name / "expect.txt"
        self.expect = expect if expect.is_file() else None
        self.oracle = ["--expect", expect] if self.expect else []

    def build(self, out, *options):
        made = call([self.unsnarl, self.compiler, *options, "-O2", "-g", "-pthread", "-o", out, self.source], self.folder)
        if made.returncode:
            sys.exit(f"{self.name}: {made.stderr}")

    def learn(self, passing):
        for old in self.folder.glob(".unsnarl/*"):
            old.unlink()
        self.build("normal")
        learned = call([self.unsnarl, "learn", "--json", "-o", "set", "-n", 4 * passing, "--timeout", 5, "--seed", 1,
                        *self.oracle, "--", "./normal", *self.truth["args"]], self.folder)
        return json.loads(learned.stdout) if learned.returncode == 0 else None

    def fails(self, program, runs, **environment):
        failed = 0
        for _ in range(runs):
            try:
                run = call([program, *self.truth["args"]], self.folder, timeout=30, env={**os.environ, **environment},
                           errors="replace")
                bad = run.returncode != 0 or (self.expect and run.stdout != self.expect.read_text())
            except subprocess.TimeoutExpired:
                bad = True
            failed += bool(bad)
        return failed

    def patch(self):
        finding = {"program": str(self.folder / "normal"), "findings": [
            {"rank": 1, "class": self.truth["class"], "accesses": self.truth["accesses"]}]}
        (self.folder / "finding.json").write_text(json.dumps(finding))
        made = call([self.unsnarl, "guard", "--only", "finding.json", "--limit", LIMIT, "-o", "patch"], self.folder)
        return made.returncode == 0

    def detect(self, passing):
        found = call([self.unsnarl, "detect", "--passing", passing, "--failing", 10, "--most", 6 * passing, "--timeout", 5,
                      *self.oracle, "--", "./normal", *self.truth["args"]], self.folder)
        return json.loads(found.stdout)["violations"] if found.returncode == 0 else []


def first_events(program, run):
    """Of one failing run: the first event at which each family is violated at the truth."""
    lines = {access["line"] for access in program.truth["accesses"]}
    first = {}
    for violation in run:
        family = next(name for name, members in FAMILY.items() if violation["detector"] in members)
        if violation["line"] in lines:
            first[family] = min(first.get(family, violation["event"]), violation["event"])
    return first


def share(part, whole):
    return "-" if not whole else "yes" if part == whole else "no" if not part else f"{part}/{whole}"


def table2(names, options, folder):
    rows = []
    for name in names:
        program = Program(name, options.unsnarl, folder)
        pattern = PATTERNS.get((program.truth["class"], program.truth.get("pattern")))
        if not pattern:
            continue
        learned = program.learn(options.passing)
        if not learned:
            rows.append((pattern, name, "no passing run", *["-"] * 13))
            continue
        program.build("guarded", "--guard", "set", "--limit", LIMIT, "-DTRIGGER")
        plain = program.fails("./guarded", options.runs, UNSNARL_GUARD="off")
        held = program.fails("./guarded", options.runs)
        patched = "-"
        if program.patch():
            program.build("patched", "--guard", "patch", "-DTRIGGER")
            patched = f"{program.fails('./patched', options.runs)}/{options.runs}"
        runs = [first_events(program, run) for run in program.detect(options.passing)]
        cells = []
        for family in FAMILY:
            detected = sum(family in run for run in runs)
            in_time = sum(family in run and "AI" in run and run[family] <= run["AI"] for run in runs)
            tolerated = ("yes" if held == 0 else f"{options.runs - held}/{options.runs}") if family == "AI" else \
                share(in_time, len(runs)) if held == 0 else "-"
            cells += [share(detected, len(runs)), tolerated]
        rows.append((pattern, name, f"{learned['runs']}{'' if learned['converged'] else ' (not converged)'}",
                     f"{plain}/{options.runs}", f"{held}/{options.runs}", patched, *cells))
        print(" | ".join(rows[-1]), flush=True)
        if options.write:
            write("table2", table2_lines(rows, options))
    return table2_lines(rows, options)


def table2_lines(rows, options):
    head = ["pattern", "program", "trained on", "fails", "guarded", "patched"]
    for family in FAMILY:
        head += [f"{family} detect", "tolerate"]
    lines = [f"Failing runs of {options.runs} of the -DTRIGGER build: as it is, guarded by what was learned, with an "
             "emergency patch; then each invariant, detect and tolerate.", ""]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in sorted(rows)]
    lines += ["", "The paper's Table 2 (d detects, t tolerates, in brackets on some interleavings; as far as its marks can be read):", ""]
    return lines + [f"- {pattern}: {text}" for pattern, text in PAPER.items()]


def alarms(names, options, folder):
    """Guarded normal builds of the controls, and of everything with emptied sets."""
    lines = ["| program | false alarms | runs wrong | runs wrong with emptied sets |", "|---|---|---|---|"]
    for name in names:
        program = Program(name, options.unsnarl, folder)
        if not (program.folder / "set").is_file() and not program.learn(options.passing):
            continue
        control = program.truth["class"] == "none"
        log = program.folder / "alarms.log"
        log.unlink(missing_ok=True)
        wrong = alarm = "-"
        if control:
            program.build("control", "--guard", "set")
            wrong = f"{program.fails('./control', options.runs, UNSNARL_GUARD_LOG=str(log))}/{options.runs}"
            alarm = len(log.read_text().splitlines()) if log.is_file() else 0
        text = (program.folder / "set").read_text()
        (program.folder / "empty").write_text(re.sub(r"^  after.*$", "  after", text, flags=re.M))
        program.build("emptied", "--guard", "empty")
        few = max(options.runs // 10, 3)
        emptied = f"{program.fails('./emptied', few)}/{few}" if control else "not a control"
        if control:
            lines.append(f"| {name} | {alarm} | {wrong} | {emptied} |")
            print(lines[-1], flush=True)
    return lines


def measure(command):
    started = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} ended with status {status}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime


def overhead(options, folder):
    """Plain, guarded and biased builds by turns; medians."""
    programs = {"squeeze": (["-n", "40"], ["-n", "8192"], "2%"), "fft": (["-m", "8"], ["-m", "18"], "30%"),
                "lu": (["-n", "48"], ["-n", "600"], "30%")}
    if options.sqlite:
        programs["sqlite_driver"] = (["-n", "2"], ["-n", "15"], "2%")
    three = ["| program | bias | wall s | CPU s | guarded: wall, CPU | biased: wall, CPU | the paper |", "|---|---|---|---|---|---|---|"]
    paper = {"squeeze": "0.38 % (PBZip2), 0.20 % (pigz)", "fft": "1,345 %, biased 115 %", "lu": "1,613 %, biased 127 %",
             "sqlite_driver": "0.57 % (MySQL)"}
    four = []
    for name, (small, large, bias) in programs.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        sources = [BENCH / f"{name}.c"]
        flags = ["-O2", "-g", "-std=gnu11", "-pthread", "-w"]
        if name == "sqlite_driver":
            sources.append(options.sqlite / "sqlite3.c")
            flags += ["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{options.sqlite}"]
        unsnarl = options.unsnarl
        call([unsnarl, "cc", *flags, "-o", "observed", *sources, "-lm"], place)
        call(["clang-19", *flags, "-o", "plain", *sources, "-lm"], place)
        call([unsnarl, "learn", "--free", "-n", options.passing, "--traces", 1, "-o", "set", "--", "./observed", *small], place)
        groups = call([unsnarl, "learn", "--free", "--traces", 1, "--bias", bias, "-o", "biased.set", "--json"], place)
        call([unsnarl, "cc", "--guard", "set", *flags, "-o", "guarded", *sources, "-lm"], place)
        call([unsnarl, "cc", "--guard", "biased.set", *flags, "-o", "biased", *sources, "-lm"], place)
        times = {variant: [] for variant in ("plain", "guarded", "biased")}
        for _ in range(options.repeat):
            for variant, list_of in times.items():
                list_of.append(measure([place / variant, *large]))
        middle = {v: [statistics.median(t[i] for t in list_of) for i in (0, 1)] for v, list_of in times.items()}
        more = {v: ", ".join(f"{100 * (middle[v][i] / middle['plain'][i] - 1):+.1f} %" for i in (0, 1)) for v in times}
        three.append(f"| {name} | {bias} | {middle['plain'][0]:.2f} | {middle['plain'][1]:.2f} | {more['guarded']} | "
                     f"{more['biased']} | {paper[name]} |")
        print(three[-1], flush=True)
        list_of = json.loads(groups.stdout)["groups"]
        four.append(f"- {name}: " + ", ".join(
            f"{'**' if g['left_out'] else ''}<{100 * g['share']:.1f} %, {g['accesses']}>{'**' if g['left_out'] else ''}"
            for g in list_of if g["share"] > 0.001))
    return three + ["", "Groups by their share of all shared accesses, and how many accesses they hold; bold ones are left "
                    "out. The paper: FFT <37.8 %, 19>, <37.8 %, 19>, <5.67 %, 3>, …; LU <81.9 %, 18>, <11.6 %, 242>, …", ""] + four


def write(name, lines):
    path = SOURCE / "doc/results.md"
    text = path.read_text()
    begin, end = f"<!-- invariants {name} -->", f"<!-- end invariants {name} -->"
    block = "\n".join([begin, *lines, end])
    if begin in text:
        text = text[:text.index(begin)] + block + text[text.index(end) + len(end):]
    else:
        title = "## Learning and guarding (`make eval-invariants`)"
        text = text.rstrip("\n") + ("" if title in text else f"\n\n{title}") + f"\n\n{block}\n"
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--passing", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--sqlite", type=pathlib.Path, help="folder with sqlite3.c, as bench/fetch-sqlite.sh makes it")
    parser.add_argument("--only", choices=("table2", "alarms", "overhead"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.unsnarl = options.build.resolve() / "unsnarl"
    folder = options.build.resolve() / "eval-invariants"
    every = sorted(path.parent.name for path in CORPUS.glob("*/truth.json"))
    names = options.names or every
    parts = {"table2": lambda: table2(names, options, folder),
             "alarms": lambda: alarms([n for n in names if json.loads((CORPUS / n / "truth.json").read_text())["class"] == "none"],
                                      options, folder),
             "overhead": lambda: overhead(options, folder)}
    for name, part in parts.items():
        if options.only in (None, name):
            lines = part()
            if options.write:
                write(name, lines)
            else:
                print("\n".join(lines))


main()
