#!/usr/bin/env python3
"""AI's evaluation on our corpus and benchmark programs: Table 2 (which invariant detects
and tolerates which pattern), false alarms, emergency patches, Tables 3 and 4 (overhead,
groups that a bias leaves out).

usage: eval-invariants.py [--build DIR] [--runs N] [--passing N] [--jobs N] [--repeat N] [--sqlite DIR]
                          [--only table2|alarms|emptied|overhead] [--write] [NAME...]

Each program is trained on controlled runs of its normal build that pass, with free runs as
witnesses where some fail (see unsnarl-learn(1)); what is guarded is the -DTRIGGER build, whose pauses make it fail. A guard's limit is 4 s there, longer
than any pause, also on a busy machine. *detect*: the share of failing traced runs in which an invariant is violated
at an access of the truth. *tolerate*: for AI, that no guarded run fails; for the others,
that they are violated at the truth no later in the trace than AI is, in a program where
AI's stall is known to help. Patches are made of the truth as if a method had found it.
Patterns that the corpus lacks have small programs in tests/guard/patterns. *emptied*: every
program guarded by sets that allow nothing, so that each stall is a false alarm, beside the
same program with its guard off.
With --write the tables go into doc/results.md, between their markers.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CORPUS, PATTERN_PROGRAMS, BENCH = SOURCE / "corpus", SOURCE / "tests/guard/patterns", SOURCE / "bench/programs"
LIMIT = 4000
FAMILY = {"AI": ("AI",), "AVIO": ("AVIO",), "PSet": ("PSet",), "CCI": ("CCI previous", "CCI changed"),
          "DUI": ("DUI local/remote", "DUI follower", "DUI definition set")}
# Truth's failing order -> the paper's name of the pattern (Table 1).
PATTERNS = {("atomicity-violation", "R-W-R"): "R-R | W", ("atomicity-violation", "W-W-R"): "W-R | W",
            ("atomicity-violation", "W-R-W"): "W-W | R", ("atomicity-violation", "R-W-W"): "R-W | R-W",
            ("order-violation", "R-W"): "W-R order", ("order-violation", "W-R"): "R-W order",
            ("order-violation", "W-W"): "W-W order", ("order-violation", "allA-B"): "allA-B order",
            ("atomicity-violation", "R-R-W"): "R-R-W | R-R-W"}
PAPER = {"R-R | W": "AI d t; AVIO d; DUI d; CCI d; PSet d", "W-R | W": "AI d t; AVIO d; DUI d; CCI d; PSet d t",
         "W-W | R": "AI d t; AVIO (d); DUI d t; CCI d; PSet d t", "R-W | R-W": "AI d t; AVIO (d); CCI (d); PSet d",
         "W-R order": "AI d t; DUI (d t); CCI (d t); PSet (d t)", "R-W order": "AI d t; DUI d; CCI d; PSet d (t)",
         "W-W order": "AI d t; CCI d t; PSet d t", "allA-B order": "AI d (section 5.4)",
         "R-R-W | R-R-W": "AI d t; the others cannot be read"}


def place_of(name):
    return next(root / name for root in (CORPUS, PATTERN_PROGRAMS) if (root / name / "truth.json").is_file())


def truth_of(name):
    return json.loads((place_of(name) / "truth.json").read_text())


def call(command, cwd, **options):
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, **options)


class Program:
    def __init__(self, name, unsnarl, folder, jobs=1):
        self.truth, self.jobs = truth_of(name), jobs
        self.name, self.unsnarl, self.folder = name, unsnarl, folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.source = place_of(name) / self.truth["sources"][0]
        self.compiler = "c++" if self.source.suffix == ".cpp" else "cc"
        expect = place_of(name) / "expect.txt"
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

    def is_wrong(self, program, environment):
        try:
            run = call([program, *self.truth["args"]], self.folder, timeout=60, env={**os.environ, **environment},
                       errors="replace")
            return run.returncode != 0 or bool(self.expect and run.stdout != self.expect.read_text())
        except subprocess.TimeoutExpired:
            return True

    def fails(self, program, runs, **environment):
        """How many of so many runs are wrong; several at a time, since most of a guarded run is waiting."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return sum(pool.map(lambda _: self.is_wrong(program, environment), range(runs)))

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


def logged_at_truth(program, log):
    """Does the log name a line of the truth as violated?"""
    lines = {str(access["line"]) for access in program.truth["accesses"]}
    text = log.read_text(errors="replace") if log.is_file() else ""
    return "yes" if any(set(re.findall(r" (\d+):\d+ ", line)) & lines for line in text.splitlines()) else "no"


def share(part, whole):
    return "-" if not whole else "yes" if part == whole else "no" if not part else f"{part}/{whole}"


def table2(names, options, folder):
    rows = []
    for name in names:
        program = Program(name, options.unsnarl, folder, options.jobs)
        pattern = PATTERNS.get((program.truth["class"], program.truth.get("pattern")))
        if not pattern:
            continue
        learned = program.learn(options.passing)
        if not learned:
            rows.append((pattern, name, "no passing run", *["-"] * 14))
            continue
        program.build("guarded", "--guard", "set", "--limit", LIMIT, "-DTRIGGER")
        few = max(options.runs // 10, 3)
        plain = program.fails("./guarded", few, UNSNARL_GUARD="off")
        log = program.folder / "guarded.log"
        log.unlink(missing_ok=True)
        held = program.fails("./guarded", options.runs, UNSNARL_GUARD_LOG=str(log))
        logged = logged_at_truth(program, log)
        patched = "-"
        if program.patch():
            program.build("patched", "--guard", "patch", "-DTRIGGER")
            patched = f"{program.fails('./patched', few)}/{few}"
        runs = [first_events(program, run) for run in program.detect(options.passing)]
        cells = []
        for family in FAMILY:
            detected = sum(family in run for run in runs)
            in_time = sum(family in run and "AI" in run and run[family] <= run["AI"] for run in runs)
            tolerated = ("yes" if held == 0 else f"{options.runs - held}/{options.runs}") if family == "AI" else \
                share(in_time, len(runs)) if held == 0 else "-"
            cells += [share(detected, len(runs)), tolerated]
        rows.append((pattern, name, f"{learned['runs']}{'' if learned['converged'] else ' (not converged)'}",
                     f"{plain}/{few}", f"{held}/{options.runs}", logged, patched, *cells))
        print(" | ".join(rows[-1]), flush=True)
        if options.write:
            write("table2", table2_lines(rows, options))
    return table2_lines(rows, options)


def table2_lines(rows, options):
    head = ["pattern", "program", "trained on", "fails", "guarded", "logged", "patched"]
    for family in FAMILY:
        head += [f"{family} detect", "tolerate"]
    lines = [f"Failing runs of the -DTRIGGER build: as it is, guarded by what was learned, with an emergency patch "
             "(*logged*: the guard's log names an access of the truth); then each invariant, detect and tolerate.", ""]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in sorted(rows)]
    lines += ["", "The paper's Table 2 (d detects, t tolerates, in brackets on some interleavings; as far as its marks can be read):", ""]
    return lines + [f"- {pattern}: {text}" for pattern, text in PAPER.items()]


def alarms(names, options, folder):
    """Guarded normal builds of the controls: nothing is to be logged, nothing wrong."""
    lines = ["| program | trained on | violations logged | runs wrong |", "|---|---|---|---|"]
    for name in names:
        program = Program(name, options.unsnarl, folder, options.jobs)
        if program.truth["class"] != "none":
            continue
        learned = program.learn(10 * options.passing)
        if not learned:
            continue
        log = program.folder / "alarms.log"
        log.unlink(missing_ok=True)
        program.build("control", "--guard", "set")
        wrong = program.fails("./control", options.runs, UNSNARL_GUARD_LOG=str(log))
        alarm = len(log.read_text().splitlines()) if log.is_file() else 0
        lines.append(f"| {name} | {learned['runs']}{'' if learned['converged'] else ' (not converged)'} | {alarm} | "
                     f"{wrong}/{options.runs} |")
        print(lines[-1], flush=True)
    return lines


def empty(text):
    return re.sub(r"^  after.*$", "  after", text, flags=re.M)


def emptied(names, options, folder):
    """Sets that allow nothing: each access of another thread is a false alarm. Never a failure."""
    few = max(options.runs // 20, 3)
    lines = ["| program | wrong, guard off | wrong, emptied sets | violations logged |", "|---|---|---|---|"]
    for name in names:
        program = Program(name, options.unsnarl, folder, options.jobs)
        if not (program.folder / "set").is_file() and not program.learn(options.passing):
            continue
        (program.folder / "empty").write_text(empty((program.folder / "set").read_text()))
        program.build("emptied", "--guard", "empty")
        log = program.folder / "emptied.log"
        log.unlink(missing_ok=True)
        off = program.fails("./emptied", few, UNSNARL_GUARD="off")
        on = program.fails("./emptied", few, UNSNARL_GUARD_LOG=str(log))
        logged = len(log.read_text().splitlines()) if log.is_file() else 0
        lines.append(f"| {name} | {off}/{few} | {on}/{few} | {logged} |")
        print(lines[-1], flush=True)
    for name, (small, _, _) in bench_programs(options).items():
        place, build = bench_build(name, small, options, folder)
        (place / "empty").write_text(empty((place / "set").read_text()))
        build("emptied", "empty")
        wrong = sum(subprocess.run([str(place / "emptied"), *small], stdout=subprocess.DEVNULL).returncode != 0
                    for _ in range(few))
        lines.append(f"| {name} (bench) | - | {wrong}/{few} | - |")
        print(lines[-1], flush=True)
    return lines + ["", "Programs with a fault may be wrong by it, with and without a guard; the controls "
                    "(heat-stencil, hit-counter, lazy-flush, seq-cache, spsc-ring) and the bench programs may not."]


def measure(command):
    started = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} ended with status {status}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime


def bench_programs(options):
    """Arguments to train with, arguments to measure, bias."""
    programs = {"squeeze": (["-n", "40"], ["-n", "8192"], "2%"), "fft": (["-m", "8"], ["-m", "20"], "2%"),
                "lu": (["-n", "48"], ["-n", "1000"], "30%")}
    if options.sqlite:
        programs["sqlite_driver"] = (["-n", "2"], ["-n", "15"], "2%")
    return programs


def bench_build(name, small, options, folder):
    """Trains a bench program; returns its folder and what builds it with a guard set of that folder."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    sources = [BENCH / f"{name}.c"]
    flags = ["-O2", "-g", "-std=gnu11", "-pthread", "-w"]
    if name == "sqlite_driver":
        sources.append(options.sqlite / "sqlite3.c")
        flags += ["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{options.sqlite}"]

    def make(*command):
        made = call(command, place)
        if made.returncode:
            sys.exit(f"{name}: {made.stderr}")
        return made

    if not (place / "set").is_file():
        make(options.unsnarl, "cc", *flags, "-o", "observed", *sources, "-lm")
        make("clang-19", *flags, "-o", "plain", *sources, "-lm")
        make(options.unsnarl, "learn", "--free", "-n", options.passing, "--traces", 1, "-o", "set", "--", "./observed", *small)
    return place, lambda out, guard: make(options.unsnarl, "cc", "--guard", guard, *flags, "-o", out, *sources, "-lm")


def overhead(options, folder):
    """Plain, guarded and biased builds by turns; medians."""
    three = ["| program | bias | wall s | CPU s | guarded: wall, CPU | biased: wall, CPU | the paper |", "|---|---|---|---|---|---|---|"]
    paper = {"squeeze": "0.38 % (PBZip2), 0.20 % (pigz)", "fft": "1,345 %, biased 115 %", "lu": "1,613 %, biased 127 %",
             "sqlite_driver": "0.57 % (MySQL)"}
    four = []
    for name, (small, large, bias) in bench_programs(options).items():
        place, build = bench_build(name, small, options, folder)
        groups = call([options.unsnarl, "learn", "--free", "--traces", 1, "--bias", bias, "-o", "biased.set", "--json"], place)
        build("guarded", "set")
        build("biased", "biased.set")
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
    three += ["", *patched_overhead(options, folder)]
    return three + ["", "Groups by their share of all shared accesses, and how many accesses they hold; bold ones are left "
                    "out. The paper: FFT <37.8 %, 19>, <37.8 %, 19>, <5.67 %, 3>, …; LU <81.9 %, 18>, <11.6 %, 242>, …", ""] + four


def patched_overhead(options, folder):
    """What an emergency patch costs in a normal build: processor time of many runs, by turns."""
    program = Program("radix-kernel", options.unsnarl, folder)
    program.build("normal")
    if not program.patch():
        return []
    program.build("patched-normal", "--guard", "patch")
    call(["clang-19", "-O2", "-g", "-pthread", "-o", "plain", program.source], program.folder)
    times = {"plain": [], "patched-normal": []}
    for _ in range(20 * options.repeat):
        for variant, list_of in times.items():
            process = subprocess.Popen([str(program.folder / variant), *program.truth["args"]], stdout=subprocess.DEVNULL)
            usage = os.wait4(process.pid, 0)[2]
            list_of.append(usage.ru_utime + usage.ru_stime)
    more = 100 * (statistics.median(times["patched-normal"]) / statistics.median(times["plain"]) - 1)
    return [f"Emergency patch of radix-kernel, normal build, {20 * options.repeat} runs each by turns: processor time {more:+.1f} %."]


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
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time, but for overhead (default 4)")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--sqlite", type=pathlib.Path, help="folder with sqlite3.c, as bench/fetch-sqlite.sh makes it")
    parser.add_argument("--only", choices=("table2", "alarms", "emptied", "overhead"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.unsnarl = options.build.resolve() / "unsnarl"
    folder = options.build.resolve() / "eval-invariants"
    every = sorted(path.parent.name for root in (CORPUS, PATTERN_PROGRAMS) for path in root.glob("*/truth.json"))
    names = options.names or every
    parts = {"overhead": lambda: overhead(options, folder),
             "table2": lambda: table2(names, options, folder),
             "alarms": lambda: alarms(names, options, folder),
             "emptied": lambda: emptied(names, options, folder)}
    for name, part in parts.items():
        if options.only in (None, name):
            lines = part()
            if options.write:
                write(name, lines)
            else:
                print("\n".join(lines))


main()
