#!/usr/bin/env python3
"""Checks the corpus: for every program (or the ones named) that truth.json is
complete and true to the sources, that the sources do not give the answer away,
that the normal build passes and the -DTRIGGER build fails as declared.

usage: check.py [--build DIR] [NAME...]

Prints `ok NAME` or `not ok NAME - why` per program and a count at the end; the
exit status is 0 when all passed. Touches nothing but the build folder.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent
PARALLEL = 2
FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
BUILD_TIMEOUT = 60

CLASSES = {
    "atomicity-violation", "multi-variable-atomicity-violation", "order-violation",
    "data-race", "deadlock", "lost-wakeup", "memory-error", "none",
}
SYMPTOMS = {
    "assertion", "crash", "wrong-output", "inconsistent-result", "hang", "double-free", "abort",
}
KINDS = {"read", "write", "lock", "unlock", "wait", "signal"}
# symptom -> oracles that can see it
ORACLES = {
    "assertion": {"signal", "exit"}, "crash": {"signal"}, "abort": {"signal"},
    "double-free": {"signal"}, "hang": {"hang"},
    "wrong-output": {"output", "exit"}, "inconsistent-result": {"output", "exit"},
}

# Letters around a word would make it another one (debug, trace); an underscore
# would not.
GIVE_AWAY = re.compile(
    r"(?<![a-z])(bugs?|buggy|rac(e|es|y|ing)|unsafe|unsafely|deadlocks?|atomicity|violations?"
    r"|missing[ _-]lock|should[ _-]be[ _-]atomic|lost[ _-](update|wake-?up))(?![a-z])",
    re.IGNORECASE)


class Wrong(Exception):
    """The program is not as it has to be; the text says why."""


def require(condition, why):
    if not condition:
        raise Wrong(why)


# --- truth.json -------------------------------------------------------------

def read_truth(folder):
    path = folder / "truth.json"
    require(path.is_file(), "no truth.json")
    try:
        truth = json.loads(path.read_text())
    except ValueError as e:
        raise Wrong(f"truth.json: {e}") from None
    require(isinstance(truth, dict), "truth.json: not an object")
    return truth


def check_fields(truth, folder):
    kinds = {"name": str, "origin": str, "class": str, "sources": list, "args": list,
             "variables": list, "accesses": list, "timeout": (int, float), "summary": str}
    if truth.get("class") == "none":
        kinds["benign"] = list
    else:
        kinds.update({"pattern": str, "symptom": str, "oracle": dict, "switches": int})
    for key, kind in kinds.items():
        require(key in truth, f"truth.json: no {key}")
        require(isinstance(truth[key], kind), f"truth.json: {key} has the wrong type")
    for key in ("sources", "args", "variables", "good_args"):
        require(all(isinstance(s, str) for s in truth.get(key, [])),
                f"truth.json: {key} holds more than strings")
    require(truth["name"] == folder.name, f"truth.json: name is {truth['name']}")
    require(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", truth["name"]), "name is not lower-case-and-dashes")
    require(truth["class"] in CLASSES, f"truth.json: unknown class {truth['class']}")
    require(truth["summary"].strip(), "truth.json: empty summary")
    require(0 < truth["timeout"] <= 10, "truth.json: timeout is not between 0 and 10 s")
    require(truth["sources"], "truth.json: no sources")
    for name in truth["sources"]:
        require((folder / name).is_file(), f"no source {name}")


def check_oracle(truth, folder):
    oracle = truth.get("oracle") or {}
    kind = oracle.get("kind")
    if kind == "output":
        require((folder / "expect.txt").is_file(), "no expect.txt")
    if truth["class"] == "none":
        require(kind in (None, "output", "exit"), "truth.json: a control cannot fail")
        return
    symptom = truth["symptom"]
    require(symptom in SYMPTOMS, f"truth.json: unknown symptom {symptom}")
    require(kind in ORACLES[symptom], f"truth.json: oracle {kind} cannot see symptom {symptom}")
    if kind == "exit":
        status = oracle.get("status")
        require(isinstance(status, int) and 0 < status < 126, "truth.json: bad oracle status")
    if kind == "signal":
        require(oracle.get("signal") in signal.Signals.__members__, "truth.json: bad oracle signal")
    if truth.get("deterministic"):
        require(truth["class"] == "memory-error", "truth.json: deterministic is for memory errors")


def check_place(entry, folder, sources, fields):
    for key in ("file", "line", "text", *fields):
        require(key in entry, f"truth.json: an access has no {key}")
    where = f"{entry['file']}:{entry['line']}"
    require(entry["file"] in sources, f"{where} is not in the sources")
    lines = (folder / entry["file"]).read_text().split("\n")
    require(1 <= entry["line"] <= len(lines), f"{where} does not exist")
    text = lines[entry["line"] - 1]
    require(entry["text"].strip() and entry["text"] in text, f"{where} does not hold `{entry['text']}`")
    return lines


def check_accesses(truth, folder):
    if truth["class"] == "none":
        require(not truth["accesses"], "truth.json: a control has no accesses")
        require(truth["benign"], "truth.json: no benign entries")
        for entry in truth["benign"]:
            check_place(entry, folder, truth["sources"], ["why"])
        return
    require(truth["accesses"], "truth.json: no accesses")
    for entry in truth["accesses"]:
        lines = check_place(entry, folder, truth["sources"], ["thread", "kind", "function"])
        where = f"{entry['file']}:{entry['line']}"
        require(entry["kind"] in KINDS, f"{where}: unknown kind {entry['kind']}")
        require(entry["kind"] in ("read", "write") or truth["class"] in ("deadlock", "lost-wakeup"),
                f"{where}: kind {entry['kind']} in class {truth['class']}")
        require(isinstance(entry["thread"], int) and entry["thread"] >= 1, f"{where}: bad thread")
        definition = re.compile(rf"\b{re.escape(entry['function'])}\s*\(")
        require(any(definition.search(l) for l in lines[:entry["line"]]),
                f"{where}: no function {entry['function']} above")
    threads = {a["thread"] for a in truth["accesses"]}
    require(threads == set(range(1, len(threads) + 1)), "truth.json: thread roles are not 1, 2, ...")
    require(len(threads) > 1 or truth["class"] == "memory-error", "truth.json: only one thread")


def check_pairs(truth):
    """Which accesses are of one variable, where there are several: heads and tails in failing order."""
    if truth["class"] != "multi-variable-atomicity-violation":
        require("pairs" not in truth, "truth.json: pairs are for several variables")
        return
    require(truth.get("pairs"), "truth.json: no pairs")
    for pair in truth["pairs"]:
        require(isinstance(pair, list) and len(pair) == 2 and all(isinstance(i, int) for i in pair) and
                0 <= pair[0] < pair[1] < len(truth["accesses"]), f"truth.json: bad pair {pair}")
        head, tail = (truth["accesses"][i] for i in pair)
        require(head["thread"] != tail["thread"] and "write" in (head["kind"], tail["kind"]),
                f"truth.json: {pair} is no pair")


def check_words(truth, folder):
    for name in truth["sources"]:
        for number, line in enumerate((folder / name).read_text().split("\n"), 1):
            hit = GIVE_AWAY.search(line)
            require(not hit, f"{name}:{number} says `{hit and hit.group(0)}`")


# --- building and running ---------------------------------------------------

live = set()


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop(*_):
    """Ends at once, without waiting for the pool, and leaves nothing running."""
    for process in list(live):
        kill_group(process)
    os._exit(2)


def run(command, timeout, cwd, stderr=subprocess.DEVNULL):
    """Returns (status, stdout); status is "hang" after the time-out. Whatever
    the command has started is dead afterwards."""
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=stderr, start_new_session=True)
    live.add(process)
    try:
        out, _ = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        kill_group(process)
        process.communicate()
        out, status = b"", "hang"
    finally:
        kill_group(process)
        live.discard(process)
    return status, out


def build(truth, folder, target, defines):
    def compile_step(command):
        status, out = run(command, BUILD_TIMEOUT, folder, stderr=subprocess.STDOUT)
        first = (out.decode(errors="replace").strip().split("\n") or [""])[0]
        require(status == 0, f"{' '.join(defines) or 'normal'} build failed: {first}")

    cplusplus = [s for s in truth["sources"] if not s.endswith(".c")]
    objects = []
    for i, source in enumerate(truth["sources"]):
        compiler = "clang++-19" if source in cplusplus else "clang-19"
        objects.append(f"{target}.{i}.o")
        compile_step([compiler, *FLAGS, *defines, "-c", source, "-o", objects[-1]])
    compile_step(["clang++-19" if cplusplus else "clang-19", "-pthread", *objects, "-o", str(target)])


def describe(status):
    if isinstance(status, int) and status < 0:
        return signal.Signals(-status).name
    return status if status == "hang" else f"exit {status}"


class Program:
    """Runs of one program, judged by its oracle."""

    def __init__(self, truth, folder, scratch):
        self.truth = truth
        self.oracle = truth.get("oracle") or {}
        self.scratch = scratch
        expect = folder / "expect.txt"
        self.expect = expect.read_bytes() if expect.is_file() else None

    def run(self, executable, args):
        result = run([str(executable), *args], self.truth["timeout"], self.scratch)
        left = os.listdir(self.scratch)
        require(not left, f"leaves a file behind: {left[:1]}")
        return result

    def passed(self, status, out, args):
        """A good run exits 0 and always prints the same."""
        if status != 0:
            return False
        if self.expect is None or args != self.truth["args"]:
            return True
        return out == self.expect

    def failed_as_declared(self, status, out):
        kind = self.oracle["kind"]
        if kind == "hang":
            return status == "hang"
        if kind == "signal":
            return status == -signal.Signals[self.oracle["signal"]]
        if kind == "exit":
            return status == self.oracle["status"]
        return status == 0 and out != self.expect

    def must_pass(self, executable, args, runs, needed, what):
        """Stops as soon as the answer is certain."""
        good, bad, outputs = 0, [], set()
        while good < needed and len(bad) <= runs - needed:
            status, out = self.run(executable, args)
            if self.passed(status, out, args):
                good += 1
                outputs.add(out)
            else:
                bad.append(describe(status))
        require(good >= needed, f"{what} passed {good} times, failed {len(bad)} times ({bad[-1:]})")
        require(len(outputs) == 1, f"{what} prints different things in good runs")

    def must_pass_mostly(self, executable, args, needed, what):
        """A program with a bug: that it shows by chance, as declared, is no mistake of the corpus, a busy
        machine makes it likelier; that it fails otherwise is, or that it hardly ever passes."""
        good, declared, other, outputs = 0, 0, [], set()
        while good < needed and declared < 10 * needed and len(other) < 2:
            status, out = self.run(executable, args)
            if self.passed(status, out, args):
                good += 1
                outputs.add(out)
            elif self.failed_as_declared(status, out):
                declared += 1
            else:
                other.append(describe(status))
        require(good >= needed, f"{what} passed {good} times, failed {declared} times as declared, otherwise {other[-1:]}")
        require(len(outputs) == 1, f"{what} prints different things in good runs")

    def must_fail(self, executable, runs, needed, what):
        declared, other = 0, []
        while declared < needed and len(other) <= runs - needed:
            status, out = self.run(executable, self.truth["args"])
            if self.failed_as_declared(status, out):
                declared += 1
            else:
                other.append(describe(status))
        require(declared >= needed,
                f"{what} failed {declared} times as declared, otherwise {other[-1:]}")


def check_runs(truth, folder, target):
    scratch = tempfile.mkdtemp(dir=target.parent, prefix="cwd-")
    try:
        program = Program(truth, folder, scratch)
        trigger = target.with_name(target.name + "-trigger")
        if truth["class"] == "none":
            program.must_pass(target, truth["args"], 5, 5, "normal build")
            program.must_pass(trigger, truth["args"], 3, 3, "TRIGGER build")
            return
        if truth.get("deterministic"):
            program.must_fail(target, 3, 3, "normal build")
            if "good_args" in truth:
                program.must_pass(target, truth["good_args"], 5, 5, "normal build with good_args")
        else:
            program.must_pass_mostly(target, truth["args"], 4, "normal build")
        program.must_fail(trigger, 8, 2, "TRIGGER build")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


# --- the whole ---------------------------------------------------------------

def check(name, build_folder):
    """None, or why the program is not as it has to be."""
    folder = CORPUS / name
    try:
        require(folder.is_dir(), "no such folder")
        truth = read_truth(folder)
        check_fields(truth, folder)
        check_oracle(truth, folder)
        check_accesses(truth, folder)
        check_pairs(truth)
        check_words(truth, folder)
        home = build_folder / name
        home.mkdir(parents=True, exist_ok=True)
        target = home / name
        build(truth, folder, target, [])
        build(truth, folder, target.with_name(name + "-trigger"), ["-DTRIGGER"])
        check_runs(truth, folder, target)
    except (Wrong, OSError) as e:
        return str(e)
    except (KeyError, TypeError, AttributeError) as e:
        return f"truth.json is malformed: {e!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Checks the programs of the corpus.")
    parser.add_argument("--build", type=pathlib.Path, default=CORPUS.parent / "build" / "corpus",
                        help="folder for the builds (default: build/corpus)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all)")
    options = parser.parse_args()
    names = [n.rstrip("/") for n in options.names]
    if not names:
        names = sorted(p.name for p in CORPUS.iterdir()
                       if p.is_dir() and not p.name.startswith((".", "_")))

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    build_folder = options.build.resolve()
    build_folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        verdicts = pool.map(lambda n: check(n, build_folder), names)
        for name, why in zip(names, verdicts):
            failed += why is not None
            print(f"ok {name}" if why is None else f"not ok {name} - {why}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
