#!/usr/bin/env python3
"""COLFINDER's Tables 2, 3, 4, 5 and 7 on the corpus and on the kernels of bench/: what scan
lists, what verify makes fail before and after slicing, how often a bug shows without
help, what hooks cost while no delay fires; other analysers on the same programs.
Prints Markdown; --write puts it into doc/results.md, between its markers. --quick takes
about a quarter of an hour on one processor."""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- eval-colfinder: begin -->", "<!-- eval-colfinder: end -->"
TRUE_MOST = 8  # true candidates that are tried, best first, until one fails
# COLFINDER's programs by number: name, manifestation with its tester before and after slicing, warnings, time saved.
PAPER = {
    1: ("BankAccount", 71, 87, 3, 20), 2: ("CircularList", 78, 91, 17, 18), 3: ("LogProcSweep", 85, 92, 4, 18),
    4: ("StringBuffer", 86, 92, 3, 19), 5: ("MySQL-LogMiss", 62, 84, 3, 21), 6: ("LU", 89, 88, 49, 45),
    7: ("FFT", 96, 88, 76, 71), 8: ("Radix", 87, 86, 65, 19), 9: ("Ocean", 92, 95, 197, 64),
    10: ("Cholesky", 62, 96, 184, 18), 11: ("Barnes", 92, 90, 273, 28), 12: ("FMM", 78, 98, 308, 57),
    13: ("pbzip2", 98, 95, 101, 31), 14: ("pfscan", 65, 73, 58, 28)}
# Its Table 5, arguments for runs of a fraction of a second, and what its slices save (Table 7).
KERNELS = {"fft": (122, ["-m", "16", "-i", "4"], 71), "lu": (96, ["-n", "512"], 45), "radix": (78, ["-n", "2000000"], 19)}
QUICK = {"trials": 1, "again": 10, "kernel_runs": 1, "control_seconds": 8}


def call(arguments, **options):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **options)


def answer(tool, *arguments, timeout=900):
    done = call([tool, *arguments], timeout=timeout)
    return json.loads(done.stdout) if done.returncode in (0, 1, 130) and done.stdout else None


def sources_of(truth):
    return [SOURCE / "corpus" / truth["name"] / s for s in truth["sources"]]


def compile_with(command, truth, program):
    done = call([*command, "-O2", "-g", "-pthread", "-o", program, *sources_of(truth), "-lm"])
    if done.returncode:
        raise SystemExit(done.stderr)
    return program


def is_cxx(truth):
    return truth["sources"][0].endswith(".cpp")


def build(tool, truth, folder):
    return compile_with([tool, "c++" if is_cxx(truth) else "cc"], truth, folder / truth["name"])


def holds(accesses, finding):
    """Does a candidate hold two of these accesses, of two threads?"""
    lines = [(a["line"], a["thread"]) for a in accesses]
    threads = {}
    for access in finding["accesses"] + finding["others"]:
        threads.setdefault(access["thread"], set()).add(access["line"])
    return any(a in threads[u] and b in threads[v] for i, (a, s) in enumerate(lines) for b, t in lines[i + 1 :]
               if s != t for u in threads for v in threads if u != v)


def true_ranks(truth, findings):
    """Ranks of candidates that hold a pair of the truth, or of another way to name the same cause."""
    forms = [truth["accesses"], *(form["accesses"] for form in truth.get("or", []))]
    return [f["rank"] for f in findings if any(holds(form, f) for form in forms)]


def true_rank(truth, findings):
    return next(iter(true_ranks(truth, findings)), None)


def oracle(truth):
    options = ["--timeout", truth.get("timeout", 5)]
    if truth["oracle"]["kind"] == "output":
        options += ["--expect", SOURCE / "corpus" / truth["name"] / "expect.txt"]
    return options


def verify(tool, truth, program, rank, sliced, seed, again):
    options = ["--slice"] if sliced else []
    found = answer(tool, "verify", "--json", "--no-hunt", "--seed", seed, "--budget", 60, "--again", again,
                   *oracle(truth), *options, rank, "--", program, *truth["args"])
    return (found["findings"] or found["harmless"] or [None])[0] if found else None


def fails_alone(truth, program, runs):
    expected = SOURCE / "corpus" / truth["name"] / "expect.txt"
    failed = 0
    for n in range(1, runs + 1):
        try:
            done = call([program, *truth["args"]], timeout=truth.get("timeout", 5))
            failed += done.returncode != 0 or (truth["oracle"]["kind"] == "output" and done.stdout != expected.read_text())
        except subprocess.TimeoutExpired:
            failed += 1
            if failed >= 3:  # hangs take their time
                return failed / n
    return failed / runs


class Tried:
    """A bug under the tester, whole or sliced."""

    def __init__(self, tool, truth, program, ranks, sliced, options):
        self.rank, first = None, None
        for rank in ranks[:TRUE_MOST]:
            first = verify(tool, truth, program, rank, sliced, 1, options.again)
            if first and first["verdict"] == "harmful":
                self.rank = rank
                break
        self.failed = int(self.rank is not None)
        self.trials = 1
        for seed in range(2, options.trials + 1):
            found = self.rank and verify(tool, truth, program, self.rank, sliced, seed, 0)
            self.trials += 1
            self.failed += bool(found and found["verdict"] == "harmful")
        self.again = (first["again_failed"], first["again_runs"]) if self.rank else (0, 0)
        self.sliced = bool(first and first.get("sliced"))
        runs = first["runs"] + first["again_runs"] if first else 0
        self.run_ms = 1000 * first["run_seconds"] / runs if runs else 0
        self.cpu_ms = 1000 * first["run_cpu_seconds"] / runs if runs else 0

    def rate(self):
        return f"{self.again[0]} of {self.again[1]}" if self.again[1] else "-"


def number_of(truth):
    """Of the paper's program; its LU and FFT are the same kernels with other mistakes."""
    found = re.search(r"COLFINDER (\d+)", truth.get("origin", ""))
    return int(found.group(1)) if found else {"lu-kernel": 6, "fft-kernel": 7}.get(truth["name"])


def measure(tool, truth, folder, options):
    program = build(tool, truth, folder)
    native = compile_with(["clang++-19" if is_cxx(truth) else "clang-19"], truth, folder / (truth["name"] + ".native"))
    scan = answer(tool, "scan", "--json", "--all", program)
    ranks = true_ranks(truth, scan["findings"])
    row = {"truth": truth, "candidates": len(scan["findings"]), "rank": ranks[0] if ranks else None,
           "seconds": scan["seconds"], "native": fails_alone(truth, native, options.again)}
    if ranks:
        row["whole"] = Tried(tool, truth, program, ranks, False, options)
        row["sliced"] = Tried(tool, truth, program, ranks, True, options)
        slice_ = folder / (truth["name"] + ".slice")
        prints = ["--prints"] if truth["oracle"]["kind"] == "output" else []
        call([tool, "slice", "--for", row["whole"].rank or ranks[0], *prints, "-o", slice_, *oracle(truth)[:2], "--", program,
              *truth["args"]])
        row["slice_alone"] = fails_alone(truth, slice_, options.again) if slice_.exists() else None
    return row


def percent(value):
    return "-" if value is None else f"{100 * value:.0f} %"


def bug_table(rows):
    lines = ["| program | paper's | candidates (paper) | true pair at rank | verify finds it | on a slice | fails by itself | its slice | "
             "with tester (paper) | on a slice (paper) |", "|" + "---|" * 10]
    for row in rows:
        paper = PAPER.get(number_of(row["truth"]))
        whole, sliced = row.get("whole"), row.get("sliced")
        cells = [row["truth"]["name"], paper[0] if paper else "",
                 f"{row['candidates']}" + (f" ({paper[3]})" if paper else ""), row["rank"] or "-"]
        for tried in (whole, sliced):
            mark = "" if not tried or tried is whole or tried.sliced else ", whole program used"
            cells.append(f"{tried.failed} of {tried.trials}{mark}" if tried else "-")
        cells += [percent(row["native"]), percent(row.get("slice_alone"))]
        for tried, known in ((whole, 1), (sliced, 2)):
            cells.append((tried.rate() if tried else "-") + (f" ({paper[known]} %)" if paper else ""))
        lines.append("| " + " | ".join(str(c) for c in cells) + " |")
    return lines


def time_table(rows):
    lines = ["| program | a run before, ms | after, ms | saved | processor before, ms | after, ms | saved | paper saved |",
             "|" + "---|" * 8]
    for row in rows:
        whole, sliced, paper = row.get("whole"), row.get("sliced"), PAPER.get(number_of(row["truth"]))
        if not whole or not whole.run_ms or not sliced.run_ms or not sliced.sliced:
            continue
        lines.append(f"| {row['truth']['name']} | {whole.run_ms:.1f} | {sliced.run_ms:.1f} | {1 - sliced.run_ms / whole.run_ms:.0%} | "
                     f"{whole.cpu_ms:.1f} | {sliced.cpu_ms:.1f} | {1 - sliced.cpu_ms / whole.cpu_ms if whole.cpu_ms else 0:.0%} | "
                     f"{f'{paper[4]} %' if paper else ''} |")
    return lines


def cpu_seconds(program, arguments):
    child = subprocess.Popen([str(program), *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return usage.ru_utime + usage.ru_stime


def build_kernel(tool, folder, name):
    """With hooks, and as it is."""
    made = folder / name, folder / (name + ".native")
    source = SOURCE / "bench" / "programs" / (name + ".c")
    for command, program in zip(([tool, "cc"], ["clang-19"]), made):
        call([*command, "-O2", "-g", "-pthread", "-o", program, source, "-lm"]).check_returncode()
    return made


def kernel_table(tool, folder, runs):
    """Its Table 5: processor time of runs in which hooks stand at a candidate and no delay fires."""
    lines = ["| kernel | candidate | native, ms | hooked, ms | overhead | paper |", "|" + "---|" * 6]
    for name, (paper, arguments, _) in KERNELS.items():
        program, native = build_kernel(tool, folder, name)
        for rank in (1, 2, 3):
            alone, hooked = [], []
            for _ in range(3 * runs):  # by turns, since the machine changes
                alone += [cpu_seconds(native, arguments) for _ in range(3)]
                found = answer(tool, "verify", "--json", "--no-hunt", "--plain", 3, "--budget", 2, "--timeout", 60, rank, "--", program,
                               *arguments)
                one = (found["harmless"] + found["findings"])[0]
                hooked.append(one["plain_cpu_seconds"] / one["plain_runs"])
            plain, with_hooks = (1000 * statistics.median(x) for x in (alone, hooked))
            lines.append(f"| {name} | {rank} | {plain:.0f} | {with_hooks:.0f} | {with_hooks / plain - 1:.0%} | {paper} % |")
            print(lines[-1], flush=True)
    return lines


def saving_table(tool, folder, runs):
    """Its Table 7: the time of verify as a whole, builds included, before and after slicing, on kernels with their own default
    input and with the small one above."""
    lines = ["| kernel | candidate | whole, s | sliced, s | saved | small input: whole, s | sliced, s | saved | paper |", "|" + "---|" * 9]
    saved = {True: [], False: []}
    for name, (_, small, paper) in KERNELS.items():
        program, _ = build_kernel(tool, folder, name)
        for rank in (1, 2, 3):
            cells = [name, str(rank)]
            for arguments in ([], small):
                took = {False: [], True: []}
                for _ in range(3 * runs):
                    for sliced in took:
                        options = ["--slice"] if sliced else []
                        found = answer(tool, "verify", "--json", "--no-hunt", "--seed", 1, "--timeout", 60, *options, rank, "--", program,
                                       *arguments)
                        took[sliced].append(found["seconds"])
                whole, cut = (statistics.median(took[s]) for s in (False, True))
                saved[bool(arguments)].append(1 - cut / whole)
                cells += [f"{whole:.2f}", f"{cut:.2f}", f"{1 - cut / whole:.0%}"]
            lines.append("| " + " | ".join(cells) + f" | {paper} % |")
            print(lines[-1], flush=True)
    mean = {s: f"{statistics.mean(x):.0%}" for s, x in saved.items()}
    return [*lines, "", f"Mean saving: {mean[False]} with the programs' own input, {mean[True]} with the small one (paper: 33 %)."]


def controls(tool, folder, truths, seconds):
    lines = ["| correct program | candidates | tried | reported harmful |", "|" + "---|" * 4]
    for truth in truths:
        program = build(tool, truth, folder)
        scan = answer(tool, "scan", "--json", "--all", program)
        found = answer(tool, "verify", "--json", "--budget", seconds, *oracle(truth), "--", program, *truth["args"])
        lines.append(f"| {truth['name']} | {len(scan['findings'])} | {len(found['harmless']) + len(found['findings'])} | "
                     f"{len(found['findings'])} |")
        print(lines[-1], flush=True)
    return lines


def peer_lines(text, name):
    return {int(m.group(1)) for m in re.finditer(re.escape(name) + r":(\d+)", text)}


def peers(truths):
    """Other analysers of source text: for how many bugs do they say anything at a line of the truth?"""
    commands = {"cppcheck --enable=all --addon=threadsafety": lambda s: ["cppcheck", "--quiet", "--enable=all", "--addon=threadsafety", s],
                "clang-19 --analyze, with the alpha checkers for threads": lambda s: [
                    "clang-19", "--analyze", "-Xclang", "-analyzer-checker=alpha.unix.PthreadLock,unix.BlockInCriticalSection",
                    "-Xclang", "-analyzer-output=text", "-o", "/dev/null", s],
                "gcc -fanalyzer": lambda s: ["gcc", "-fanalyzer", "-O2", "-pthread", "-c", "-o", "/dev/null", s]}
    lines = ["| analyser | bugs with a message at a line of the truth | messages in all |", "|---|---|---|"]
    for title, make in commands.items():
        hit = total = 0
        try:
            for truth in truths:
                found = set()
                for source in sources_of(truth):
                    found |= peer_lines(call(make(source)).stderr, source.name)
                total += len(found)
                hit += bool(found & {a["line"] for a in truth["accesses"]})
        except FileNotFoundError:
            lines.append(f"| {title} | not installed | |")
            continue
        lines.append(f"| {title} | {hit} of {len(truths)} | {total} |")
    return lines


def summary(rows):
    ranks = [r["rank"] for r in rows if r["rank"]]
    found = sum(r["whole"].failed for r in rows if r.get("whole"))
    asked = sum(r["whole"].trials if r.get("whole") else 1 for r in rows)
    again = [r["whole"].again for r in rows if r.get("whole") and r["whole"].again[1]]
    rate = sum(a / n for a, n in again) / len(again) if again else 0
    native = sum(r["native"] for r in rows) / len(rows)
    return (f"{len(ranks)} of {len(rows)} bugs have a true pair among the candidates, {sum(r <= 5 for r in ranks)} at rank 5 or better, "
            f"{sum(r == 1 for r in ranks)} at rank 1. `verify` makes them fail in {found} of {asked} trials; runs like the first that failed "
            f"fail in {rate:.0%} on the mean, by themselves the programs fail in {native:.1%} of their runs. The paper: 14 of 14 bugs, 0.64 % by "
            "itself, 82 % with its tester, 90 % on slices. A run that hangs is repeated once.")


def write(text):
    path = SOURCE / "doc" / "results.md"
    old = path.read_text()
    if BEGIN not in old or END not in old:
        raise SystemExit(f"{path} has no place for the tables: {BEGIN} and {END} are missing")
    path.write_text(old[: old.index(BEGIN) + len(BEGIN)] + "\n" + text.rstrip() + "\n" + old[old.index(END) :])


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--trials", type=int, default=3, help="verifications of each bug (default 3)")
    parser.add_argument("--again", type=int, default=100, help="runs for each probability (default 100)")
    parser.add_argument("--kernel-runs", type=int, default=3, help="builds of each kernel by turns (default 3)")
    parser.add_argument("--control-seconds", type=float, default=60)
    parser.add_argument("--quick", action="store_true", help="counts for a quarter of an hour: " + str(QUICK))
    parser.add_argument("--parts", default="bugs,kernels,controls,peers")
    parser.add_argument("--output", help="the Markdown goes here as well")
    parser.add_argument("--write", action="store_true", help="into doc/results.md")
    parser.add_argument("names", nargs="*", help="programs of the corpus (default: all)")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    return options


def main():
    options = read_options()
    tool = Path(options.build).resolve() / "unsnarl"
    output = Path(options.output).resolve() if options.output else None
    truths = [json.loads(p.read_text()) for p in sorted((SOURCE / "corpus").glob("*/truth.json"))]
    truths = [t for t in truths if t["class"] != "memory-error" and (not options.names or t["name"] in options.names)]
    bugs = [t for t in truths if t["class"] != "none"]
    text = [f"{options.trials} verifications of each bug, {options.again} runs for each probability, load {os.getloadavg()[1]:.0f} at the start."]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        if "bugs" in options.parts:
            rows = []
            for truth in bugs:
                rows.append(measure(tool, truth, folder, options))
                print(bug_table(rows[-1:])[-1], flush=True)
            text += ["", summary(rows), "", *bug_table(rows), "", "Time of one run under the tester, before and after slicing; "
                     "delays are part of a run, processor time is not theirs:", "", *time_table(rows)]
        if "kernels" in options.parts:
            text += ["", "Hooks at one candidate while no delay fires (its Table 5), median processor time:", "",
                     *kernel_table(tool, folder, options.kernel_runs), "",
                     "The whole time of `verify` before and after slicing (its Table 7), medians, by turns:", "",
                     *saving_table(tool, folder, options.kernel_runs)]
        if "controls" in options.parts:
            text += ["", *controls(tool, folder, [t for t in truths if t["class"] == "none"], options.control_seconds)]
        if "peers" in options.parts:
            text += ["", *peers(bugs)]
    made = "\n".join(text) + "\n"
    if output:
        output.write_text(made)
    if options.write:
        write(made)


if __name__ == "__main__":
    main()
