"""Runs for eval-bugaboo.py: builds the programs of the corpus and collects failed and
passed runs of each, free ones with the same random delays, controlled ones of a hunt where
those do not do. What was collected stays in the build folder, so that analyses can be
repeated without collecting again.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import time

JITTERS = (0, 5, 20, 100, 400)
BATCH = 15
TIME_LIMIT = 60  # seconds for one command
SERIES_LIMIT = 10  # and for a series of runs: what takes longer in this mode is left out
LARGE = ("MySQL-BinLog", "Apache-LogSz", "PBZip2-Order", "AGet-MultVar")  # the paper's full applications


class Place:
    """The tool, and the folder that holds what was collected."""

    def __init__(self, build):
        self.unsnarl = pathlib.Path(build).resolve() / "unsnarl"
        self.work = pathlib.Path(build).resolve() / "eval-bugaboo"
        self.work.mkdir(exist_ok=True)

    def tool(self, *arguments, limited=False, seconds=TIME_LIMIT):
        command = [str(a) for a in (self.unsnarl, *arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=seconds if limited else None)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 2 and not limited:
            sys.exit(f"eval-bugaboo: {' '.join(command)}: {done.stderr.strip()}")
        return done

    def answer(self, verb, *arguments):
        done = self.tool(verb, "--json", *arguments, limited=True)
        return json.loads(done.stdout) if done and done.returncode < 2 else None


class Program:
    """A program of the corpus, built, with its stores of runs."""

    def __init__(self, folder, place, bugs):
        self.name = folder.name
        self.truth = json.loads((folder / "truth.json").read_text())
        self.folder = folder
        self.place = place
        self.executable = place.work / self.name
        self.paper = next((p for p in bugs if "BUGABOO " + p.replace("AGet", "Aget") in self.truth["origin"]
                           or "BUGABOO " + p in self.truth["origin"]), None)
        self.large = self.paper in LARGE
        self.lines = {(a["file"], a["line"]) for a in self.truth["accesses"]}
        self.known = {}
        self.answers = {}  # of trials, by what was asked

    def build(self):
        compiler = "c++" if self.truth["sources"][0].endswith((".cpp", ".cc")) else "cc"
        if not self.executable.exists():
            self.place.tool(compiler, "-O2", "-g", "-pthread", "-o", self.executable,
                            *[self.folder / s for s in self.truth["sources"]])

    def store(self, mode):
        return self.place.work / f"{self.name}.{mode}.store"

    def command(self):
        oracle = (self.truth.get("oracle") or {}).get("kind")
        judged = ["--expect", self.folder / "expect.txt"] if oracle == "output" else []
        return ["--timeout", str(self.truth["timeout"]), *judged, "--", self.executable, *self.truth["args"]]

    def runs(self, mode):
        if not self.store(mode).exists():
            return []
        answer = self.place.answer("runs", "--store", self.store(mode))
        return answer["campaigns"][0]["runs"] if answer and answer["campaigns"] else []

    def counts(self, mode):
        """Numbers of the passed and failed runs of a store."""
        if mode not in self.known:
            runs = self.runs(mode)
            self.known[mode] = ([r["run"] for r in runs if r["label"] == "pass"],
                                [r["run"] for r in runs if r["label"] == "fail"])
        return self.known[mode]

    def enough(self, mode, need):
        self.known.pop(mode, None)
        return min(map(len, self.counts(mode))) >= need

    def series(self, store, options, jitter):
        return self.place.tool("run", "-n", BATCH, "--store", store, *options,
                               *([f"--jitter={jitter}"] if jitter else []), *self.command(), limited=True,
                               seconds=SERIES_LIMIT)

    def balanced(self, mode, options):
        """The length of delays at which passed and failed runs are most alike in number; None when no
        length shows both. Runs of different lengths differ in more than the bug."""
        best, most = None, 0
        for jitter in JITTERS:
            scratch = f"{mode}.probe"
            shutil.rmtree(self.store(scratch), ignore_errors=True)
            if self.series(self.store(scratch), options, jitter):
                self.known.pop(scratch, None)
                fewer = min(map(len, self.counts(scratch)))
                if fewer > most:
                    best, most = jitter, fewer
        shutil.rmtree(self.store(scratch), ignore_errors=True)
        return best

    def free(self, mode, options, need, seconds):
        """Runs with random delays of one length, until there are enough of both kinds."""
        jitter = self.balanced(mode, options)
        if jitter is None and mode != "word":  # no ranking, but what this way of seeing misses can be told
            self.series(self.store(mode), options, 0)
        end = time.monotonic() + seconds
        while jitter is not None and time.monotonic() < end and not self.enough(mode, need):
            if not self.series(self.store(mode), options, jitter):
                return

    def hunt(self, mode, need, seconds):
        """Different schedules, by all policies and then by the one that finds deep bugs."""
        shutil.rmtree(self.store(mode), ignore_errors=True)
        end = time.monotonic() + seconds
        policy = "auto"
        while time.monotonic() < end and not self.enough(mode, need):
            passes = max(0, need - len(self.counts(mode)[0]))
            self.place.tool("hunt", "-j", 1, "--budget", "20s", "--policy", policy, "--keep-going", "--no-reduce",
                            "--passes", passes, "--store", self.store(mode), *self.command(), limited=True)
            policy = "pos" if policy == "auto" else "auto"

    def collect(self, mode, options, need, least, seconds):
        if self.store(mode).exists():
            return
        hangs = self.truth["symptom"] == "hang"  # each would last until its time-out
        if not hangs:
            self.free(mode, options, need, seconds)
        if mode == "word" and not self.enough(mode, least):
            self.hunt(mode, need, 3 * seconds)

    def controlled(self):
        """Are the runs of the exact mode those of a hunt?"""
        runs = self.runs("word")
        return bool(runs) and runs[0]["policy"] not in (None, "free")

    def rank(self, mode, runs, *options):
        """Inspections and functions until an access of the truth is met; None when it is not in the list."""
        answer = self.place.answer("rank", "--store", self.store(mode), "--top", 100000, *options, *runs)
        for finding in answer["findings"] if answer else []:
            point = finding["point"]
            if (pathlib.Path(point["file"]).name, point["line"]) in self.lines:
                return finding["inspections"], finding["functions"]
        return None
