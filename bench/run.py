#!/usr/bin/env python3
"""Builds the benchmark programs in every variant, runs them in turn, compares.

A variant is a way to build and run a program: plain, under unsnarl with some of
its observations, under ThreadSanitizer. Every run must exit with 0 and print the
same as all other runs of its program. Of each figure the median counts. Results:
a table and the bars on stdout, BUILD/bench.json (bench-quick.json with --quick).

Exit status: 0 every run was good (whether or not the bars are met), 1 a build
failed or a run went wrong, 2 something needed is missing or an option is wrong.
"""

import argparse
import contextlib
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import controlled

BENCH = Path(__file__).resolve().parent
SOURCES = BENCH / "programs"

FLAGS = ["-O2", "-g", "-std=gnu11", "-pthread"]
SQLITE_FLAGS = ["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", "-w"]

# No reports, no stacks kept for them, no lock-order graph, no pause at the end.
TSAN_OPTIONS = "report_bugs=0:history_size=0:detect_deadlocks=0:atexit_sleep_ms=0"

CONTROLLED = "controlled"  # beside the variants: the scheduler by itself

CPU_MEAN_BAR, MEMORY_BAR = 1.58, 1.2  # of tsan-clang
WORLD_BAR = 1.1  # a schedule with private files against one with shared ones
TIME_LIMIT = 600  # seconds for one run


@dataclass(frozen=True)
class Program:
    source: str
    quick: tuple  # arguments for --quick; the full size is each program's default
    sqlite: bool = False


@dataclass(frozen=True)
class Variant:
    flavour: str  # which build it runs; variants may share one
    observe: str = ""  # for unsnarl: what is collected
    monitor: bool = False  # carries the graph of its tests, as in the field


PROGRAMS = {
    "fft": Program("fft.c", ("-m", "16")),
    "lu": Program("lu.c", ("-n", "400")),
    "radix": Program("radix.c", ("-n", "500000")),
    "squeeze": Program("squeeze.c", ("-n", "1024")),
    "sqlite": Program("sqlite_driver.c", ("-n", "15"), sqlite=True),
}

VARIANTS = {
    "native": Variant("native"),
    "pairs": Variant("unsnarl", "pairs"),
    "predecessors": Variant("unsnarl", "predecessors"),
    "edges": Variant("unsnarl", "edges"),
    "all": Variant("unsnarl", "pairs,predecessors,edges"),
    "monitor": Variant("unsnarl", monitor=True),
    "tsan-clang": Variant("tsan-clang"),
    "tsan-gcc": Variant("tsan-gcc"),
}


class BenchError(Exception):
    """A sentence for the user, and the exit status that goes with it."""

    def __init__(self, sentence, status=2):
        super().__init__(sentence)
        self.status = status


class Place:
    """Where things lie below the build folder."""

    def __init__(self, build):
        self.build = build.resolve()
        self.unsnarl = self.build / "unsnarl"
        self.bench = self.build / "bench"
        self.measure = self.bench / "measure"
        self.sqlite = self.bench / "sqlite"
        self.temporary = self.bench / "tmp"

    def executable(self, name, flavour):
        return self.bench / f"{name}.{flavour}"


# ---- the command lines of the variants ----


def compiler(place, flavour):
    return {
        "native": ["clang-19"],
        "unsnarl": [str(place.unsnarl), "cc"],
        "tsan-clang": ["clang-19", "-fsanitize=thread"],
        "tsan-gcc": ["gcc", "-fsanitize=thread"],
    }[flavour]


def run_command(place, name, variant, quick):
    """The program with its arguments; for unsnarl through `exec`, which sets up
    the run area and becomes the program, so that no launcher is measured."""
    command = [str(place.executable(name, variant.flavour))]
    command += PROGRAMS[name].quick if quick else ()
    if variant.observe:
        command = [str(place.unsnarl), "exec", "--observe", variant.observe, "--", *command]
    return command


def monitored(place, name, quick):
    """The environment of a monitored program: the graph of two test runs, and a log."""
    command = [str(place.executable(name, "unsnarl")), *(PROGRAMS[name].quick if quick else ())]
    size = "quick" if quick else "full"
    graph, store = place.bench / f"{name}.{size}.graph", place.bench / f"{name}.{size}.store"
    if not graph.exists() or graph.stat().st_mtime < place.executable(name, "unsnarl").stat().st_mtime:
        shutil.rmtree(store, ignore_errors=True)
        for step in (["run", "-n", "2", "--observe", "edges", "--timeout", str(TIME_LIMIT), "--store", str(store), "--", *command],
                     ["rank", "--store", str(store), "--export", str(graph)]):
            done = subprocess.run([str(place.unsnarl), *step], capture_output=True, text=True)
            if done.returncode != 0:
                raise BenchError(f"no testing graph for {name}: {done.stderr.strip()}", 1)
    return {"UNSNARL_MONITOR": str(graph), "UNSNARL_MONITOR_LOG": str(place.bench / f"{name}.log")}


# ---- building ----


def say(text):
    print(text, file=sys.stderr, flush=True)


def check_tools(place, flavours):
    if "unsnarl" in flavours and not os.access(place.unsnarl, os.X_OK):
        plain = ",".join(n for n, v in VARIANTS.items() if v.flavour != "unsnarl")
        raise BenchError(
            f"{place.unsnarl} is missing: build the project first, "
            f"or leave it out with --variants {plain}"
        )
    needed = {"clang-19"} | {compiler(place, f)[0] for f in flavours - {"unsnarl"}}
    for tool in sorted(needed):
        if not shutil.which(tool):
            raise BenchError(f"{tool} is not installed, but the chosen variants need it")


def fetch_sqlite(place):
    if subprocess.run([BENCH / "fetch-sqlite.sh", place.sqlite]).returncode != 0:
        others = ",".join(n for n, p in PROGRAMS.items() if not p.sqlite)
        raise BenchError(f"no SQLite source; leave it out with --programs {others}")


def newest_tool(place):
    """When unsnarl or anything it is made of last changed: the wrapper alone does
    not tell, the transform and the runtime are files of their own."""
    newest = 0.0
    for folder, folders, files in os.walk(place.build):
        if Path(folder) == place.build:
            folders[:] = [f for f in folders if f != "bench"]
            files = [f for f in files if not f.startswith("bench")]
        for file in files:
            # A build that goes on beside us may remove files under our hands.
            with contextlib.suppress(OSError):
                newest = max(newest, os.stat(os.path.join(folder, file)).st_mtime)
    return newest


def compile_if_older(command, output, newest_input):
    """Runs the command unless the output is newer and was made by the same one."""
    recipe = output.with_name(output.name + ".command")
    text = " ".join(command)
    if output.exists() and recipe.exists():
        if output.stat().st_mtime > newest_input and recipe.read_text() == text:
            return
    say(f"building {output.name}")
    recipe.unlink(missing_ok=True)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    if done.returncode != 0:
        raise BenchError(f"cannot build {output.name}: {text}", status=1)
    recipe.write_text(text)


def build_program(place, name, flavour):
    program = PROGRAMS[name]
    inputs = [SOURCES / program.source, SOURCES / "team.h"]
    command = [*compiler(place, flavour), *FLAGS, str(SOURCES / program.source)]
    if program.sqlite:
        inputs.append(place.sqlite / "sqlite3.c")
        command += [*SQLITE_FLAGS, f"-I{place.sqlite}", str(place.sqlite / "sqlite3.c")]
    output = place.executable(name, flavour)
    newest = max(path.stat().st_mtime for path in inputs)
    if flavour == "unsnarl":
        newest = max(newest, newest_tool(place))
    compile_if_older([*command, "-o", str(output), "-lm"], output, newest)


def build_all(place, names, flavours):
    check_tools(place, flavours)
    place.temporary.mkdir(parents=True, exist_ok=True)
    if any(PROGRAMS[name].sqlite for name in names):
        fetch_sqlite(place)
    source = BENCH / "measure.c"
    compile_if_older(
        ["clang-19", *FLAGS, str(source), "-o", str(place.measure)],
        place.measure,
        source.stat().st_mtime,
    )
    for name in names:
        for flavour in sorted(flavours):
            build_program(place, name, flavour)


# ---- measuring ----


@dataclass(frozen=True)
class Figures:
    cpu_s: float
    wall_s: float
    peak_kib: int


class BadRun(Exception):
    """A run that went wrong, with what there is to know about it."""


def run_once(place, name, variant, quick):
    """Figures and stdout of one run; BadRun when it did not end well."""
    report = place.bench / "report"
    report.unlink(missing_ok=True)
    environment = dict(os.environ, TMPDIR=str(place.temporary), TSAN_OPTIONS=TSAN_OPTIONS)
    if variant.monitor:
        environment.update(monitored(place, name, quick))
    child = subprocess.Popen(
        [str(place.measure), str(report), *run_command(place, name, variant, quick)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        stdout, stderr = child.communicate(timeout=TIME_LIMIT)
    except BaseException as reason:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if isinstance(reason, subprocess.TimeoutExpired):
            raise BadRun(f"still running after {TIME_LIMIT} s") from None
        raise
    if child.returncode != 0:
        raise BadRun(f"could not be measured: {stderr.strip()[-500:]}")
    status, cpu, wall, peak = report.read_text().split()
    if status != "0":
        raise BadRun(f"exit status {status}: {(stderr or stdout).strip()[-500:]}")
    return Figures(float(cpu), float(wall), int(peak)), stdout


class Measurement:
    """All runs so far: figures by (program, variant), and what went wrong."""

    def __init__(self):
        self.runs = {}
        self.printed = {}  # program: (variant, stdout) that all others must equal
        self.failures = {}  # (program, variant): sentence

    def add(self, name, variant, figures, stdout):
        first_variant, expected = self.printed.setdefault(name, (variant, stdout))
        if stdout != expected:
            raise BadRun(f"printed {stdout!r}, but {first_variant} printed {expected!r}")
        self.runs.setdefault((name, variant), []).append(figures)

    def fail(self, name, variant, sentence):
        self.failures[name, variant] = sentence
        self.runs.pop((name, variant), None)
        say(f"{name}, {variant}: {sentence}")

    def medians(self):
        return {
            key: Figures(
                statistics.median(f.cpu_s for f in runs),
                statistics.median(f.wall_s for f in runs),
                round(statistics.median(f.peak_kib for f in runs)),
            )
            for key, runs in self.runs.items()
        }


def measure_all(place, names, variants, repetitions, quick):
    """Runs the variants in turn, so that what else happens on the machine meets
    all of them; each round begins with another one. A variant that fails with a
    program is not run with it again."""
    measurement = Measurement()
    for round_number in range(repetitions):
        say(f"round {round_number + 1} of {repetitions}")
        first = round_number % len(variants)
        for name in names:
            for variant in variants[first:] + variants[:first]:
                if (name, variant) in measurement.failures:
                    continue
                try:
                    figures, stdout = run_once(place, name, VARIANTS[variant], quick)
                    measurement.add(name, variant, figures, stdout)
                except BadRun as reason:
                    measurement.fail(name, variant, str(reason))
    return measurement


# ---- results ----


def mean(values):
    """Geometric mean; None when a value is missing."""
    values = list(values)
    if not values or any(value is None for value in values):
        return None
    return math.exp(sum(math.log(value) for value in values) / len(values))


def ratio(medians, figure, name, variant, base):
    one, other = medians.get((name, variant)), medians.get((name, base))
    if one is None or other is None or getattr(other, figure) <= 0:
        return None
    return getattr(one, figure) / getattr(other, figure)


RATIOS = [(f, base) for base in ("native", "tsan-clang") for f in ("cpu_s", "peak_kib")]


def cell(value, width, digits):
    return f"{'-' if value is None else format(value, f'.{digits}f'):>{width}}"


def print_table(medians, names, variants):
    print(f"{'':33}{'':>17}{'peak':>9}  {'to native':>16}  {'to tsan-clang':>16}")
    print(
        f"{'program':18}{'variant':15}{'cpu s':>8}{'wall s':>9}{'MiB':>9}"
        f"  {'cpu':>8}{'memory':>8}  {'cpu':>8}{'memory':>8}"
    )
    for name in names:
        for variant in variants:
            figures = medians.get((name, variant))
            line = f"{name:18}{variant:15}"
            if figures is None:
                print(line + "  failed")
                continue
            line += cell(figures.cpu_s, 8, 3) + cell(figures.wall_s, 9, 3)
            line += cell(figures.peak_kib / 1024, 9, 1)
            print(line + ratio_cells(ratio(medians, f, name, variant, b) for f, b in RATIOS))
        print()
    for variant in variants:
        means = [mean(ratio(medians, f, n, variant, b) for n in names) for f, b in RATIOS]
        print(f"{'geometric mean':18}{variant:15}{'':26}" + ratio_cells(means))


def ratio_cells(values):
    native_cpu, native_memory, tsan_cpu, tsan_memory = (cell(v, 8, 2) for v in values)
    return f"  {native_cpu}{native_memory}  {tsan_cpu}{tsan_memory}"


def print_bars(medians, names, variants):
    print(f"\nbars: all against tsan-clang, over {len(names)} of {len(PROGRAMS)} programs")
    if not {"all", "tsan-clang"} <= set(variants):
        print("  not measured: they need the variants all and tsan-clang")
        return
    cpu = [ratio(medians, "cpu_s", name, "all", "tsan-clang") for name in names]
    memory = [ratio(medians, "peak_kib", name, "all", "tsan-clang") for name in names]
    for what, value, bar in (
        ("CPU time, geometric mean", mean(cpu), CPU_MEAN_BAR),
        ("peak memory, geometric mean", mean(memory), MEMORY_BAR),
    ):
        print_bar(what, value, "<=", bar)


def print_bar(what, value, relation, bar):
    """A figure, None when it could not be measured, and whether it keeps to its bar."""
    met = value is not None and (value <= bar if relation == "<=" else value >= bar)
    shown = "runs failed" if value is None else f"{value:.3f}" if bar < 10 else f"{value:.0f}"
    print(f"  {what:29} {shown:>11} {relation} {bar}: {'met' if met else 'missed'}")


def build_for(place, source):
    """A program of the bench that only controlled runs need."""
    program, source = place.bench / f"{Path(source).stem}.unsnarl", SOURCES / source
    compile_if_older([*compiler(place, "unsnarl"), *FLAGS, str(source), "-o", str(program)], program,
                     max(source.stat().st_mtime, newest_tool(place)))
    return program


def measure_controlled(place, names, repetitions):
    """What controlled runs cost: [(program, figures)]; None when it cannot be measured."""
    few = min(repetitions, 3)
    try:
        figures = controlled.measure(place, build_for(place, "points.c"), few)
        print(f"\ncontrolled runs, processor time: {figures['point_ns']:.0f} ns a point where the same thread goes "
              f"on, {figures['switch_ns']:.0f} ns\nmore for a switch of threads, "
              f"{figures['schedule_ms']:.2f} ms a schedule of two threads that do nothing")
        measure_world(place, repetitions, figures)
        return [("points", figures), *measure_schedules(place, names, few), *measure_small(place, few)]
    except (RuntimeError, BadRun) as error:
        say(f"failed: controlled: {error}")
        return None


def measure_schedules(place, names, repetitions):
    """A controlled schedule against a free observed run, on the small inputs."""
    rows = []
    print("a controlled schedule (pos, one job) against a free run with all observers, on small inputs")
    for name in names:
        build_program(place, name, "unsnarl")
        steered, free = controlled.against_free(
            place, place.executable(name, "unsnarl"), PROGRAMS[name].quick,
            lambda name=name: run_once(place, name, VARIANTS["all"], True)[0].cpu_s, repetitions)
        rows.append((name, {"controlled_s": steered, "free_s": free}))
        print_bar(f"{name}, {steered:.3f} s to {free:.3f} s", steered / free, "<=", controlled.FREE_BAR)
    return rows


def measure_small(place, repetitions):
    """Schedules of the small programs of the corpus."""
    rates = controlled.small(place, repetitions)
    print("schedules a second of processor time, one job, small programs of the corpus")
    for name, rate in rates.items():
        print_bar(name, rate, ">=", controlled.small_programs.FAST)
    return [(name, {"schedules_a_second": rate}) for name, rate in rates.items()]


def measure_world(place, repetitions, figures):
    """What it costs that runs start alike, beside the scheduler's figures."""
    figures.update(controlled.world(place, build_for(place, "writes.c"), max(repetitions, 3)))
    against = figures["private_ms"] / figures["shared_ms"]
    print(f"private files: {figures['private_ms']:.3f} ms a schedule of a small program that writes one, "
          f"{figures['shared_ms']:.3f} ms shared")
    print_bar("private against shared", against, "<=", WORLD_BAR)


def write_json(path, medians, steered):
    results = [
        {"program": name, "variant": variant, **vars(figures)}
        for (name, variant), figures in medians.items()
    ]
    results += [{"program": name, "variant": CONTROLLED, **figures} for name, figures in steered or []]
    path.write_text(json.dumps(results, indent=1) + "\n")


# ---- the command line ----


def chosen(option, text, known):
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in known:
            raise BenchError(f"{option}: no '{name}'; there are {', '.join(known)}")
    return names


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=",".join(PROGRAMS), metavar="LIST")
    parser.add_argument("--variants", default=",".join([*VARIANTS, CONTROLLED]), metavar="LIST")
    parser.add_argument("-r", type=int, metavar="N", help="repetitions (default 5; 1 with --quick)")
    parser.add_argument(
        "--quick", action="store_true", help="small inputs: shows that all works, measures nothing"
    )
    parser.add_argument(
        "--build", type=Path, default=BENCH.parent / "build", metavar="DIR", help="build folder"
    )
    options = parser.parse_args()
    if options.r is None:
        options.r = 1 if options.quick else 5
    if options.r < 1:
        raise BenchError("-r wants at least 1")
    return options


def main():
    options = parse_options()
    names = chosen("--programs", options.programs, PROGRAMS)
    variants = chosen("--variants", options.variants, [*VARIANTS, CONTROLLED])
    steered = CONTROLLED in variants
    variants = [variant for variant in variants if variant != CONTROLLED]
    place = Place(options.build)
    build_all(place, names, {VARIANTS[variant].flavour for variant in variants})
    measurement = measure_all(place, names, variants, options.r if variants else 0, options.quick)

    medians = measurement.medians()
    if variants:
        print_table(medians, names, variants)
        print_bars(medians, names, variants)
    figures = measure_controlled(place, names, options.r) if steered else None
    if options.quick:
        print("\nquick run on small inputs: the figures above say nothing about the bars")
    elif options.r < 5:
        print(f"\n{options.r} repetitions: too few to rely on")
    write_json(place.build / ("bench-quick.json" if options.quick else "bench.json"), medians, figures)
    for (name, variant), sentence in measurement.failures.items():
        say(f"failed: {name}, {variant}: {sentence}")
    return 1 if measurement.failures or (steered and not figures) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        say(f"run.py: {error}")
        sys.exit(error.status)
    except KeyboardInterrupt:
        sys.exit(130)
