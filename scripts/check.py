#!/usr/bin/env python3
"""Runs every test and counts: the unit tests, the test scripts, the corpus, and
the unit tests and the verbs once more in a build with sanitizers.

usage: check.py BUILD [BUILD-SANITIZE [BUILD-FUZZ]]
       check.py --sanitize BUILD-SANITIZE

A test program that says how many of its cases passed counts with those, any
other as one; cases that were skipped count as such. The last line reads `N passed, N failed`; the exit status is 0 when
nothing failed.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
SLOWEST = 5
FUZZ_SECONDS = 10


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.times = []  # (seconds, name)

    def add(self, name, good, output, seconds):
        self.skipped += skips(output)
        passed, failed = cases(output)
        if good:
            failed, passed = 0, max(passed, 1)
        else:
            failed = max(failed, 1)
        self.passed += passed
        self.failed += failed
        self.times.append((seconds, name))


def cases(output):
    """What a test says of itself, in the words of cmocka or of our scripts."""
    passed = [int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) test", output, re.M)]
    failed = [int(n) for n in re.findall(r"^\[  FAILED  \] .*?(\d+) test", output, re.M)]
    for good, bad in re.findall(r"^(\d+) passed, (\d+) failed$", output, re.M)[-1:]:
        passed.append(int(good))
        failed.append(int(bad))
    return sum(passed), sum(failed)


def skips(output):
    """Cases that were not tried: by cmocka, and by our scripts."""
    counts = re.findall(r"^\[  SKIPPED \] (\d+) test", output, re.M) + re.findall(r"^(\d+) skipped$", output, re.M)
    return sum(int(n) for n in counts)


def meson_tests(build):
    command = ["meson", "introspect", "--tests", build]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def is_script(test):
    return any(word.endswith((".sh", ".py")) for word in test["cmd"])


def run_meson(tally, build, prefix, wanted):
    """All tests that Meson knows, or those for which `wanted` is true."""
    names = [test["name"] for test in meson_tests(build) if wanted(test)]
    if not names:
        return
    log = Path(build) / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *names])
    lines = log.read_text().splitlines() if log.exists() else []
    for line in lines:
        result = json.loads(line)
        output = result.get("stdout", "") + "\n" + result.get("stderr", "")
        name = result["name"].split(" / ")[-1].split(":")[-1]
        if result["result"] == "SKIP":
            tally.skipped += 1
        else:
            tally.add(prefix + name, result["result"] == "OK", output, result["duration"])
    for _ in range(len(names) - len(lines)):
        tally.add(prefix + "a test that never ended", False, "", 0)


def run_command(tally, name, command, environment):
    print(f"-- {name}", flush=True)
    begun = os.times().elapsed
    process = subprocess.Popen(command, cwd=SOURCE, env={**os.environ, **environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if not line.startswith("ok "):
            print(line, end="", flush=True)
    good = process.wait() == 0
    tally.add(name, good, "".join(lines), os.times().elapsed - begun)


def scripts_outside_meson(build):
    known = {Path(word).name for test in meson_tests(build) for word in test["cmd"]}
    scripts = [*(SOURCE / "tests").glob("test_*.sh"), *(SOURCE / "tests").glob("test_*.py")]
    return [script for script in sorted(scripts) if script.name not in known]


def surroundings(build):
    return {"UNSNARL": str(Path(build).resolve() / "unsnarl"), "SOURCE": str(SOURCE)}


def check(tally, build):
    environment = surroundings(build)
    run_meson(tally, build, "", lambda test: True)
    for script in scripts_outside_meson(build):
        shell = "bash" if script.suffix == ".sh" else sys.executable
        run_command(tally, script.stem, [shell, str(script)], environment)
    corpus = Path(build).resolve() / "corpus"
    run_command(tally, "corpus", [str(SOURCE / "corpus" / "check.py"), "--build", str(corpus)], environment)


def sanitize(tally, build):
    print("-- with AddressSanitizer and UndefinedBehaviorSanitizer", flush=True)
    os.environ.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    run_meson(tally, build, "sanitized ", lambda test: not is_script(test))
    verbs = SOURCE / "tests" / "test_cmds.sh"
    run_command(tally, "sanitized " + verbs.stem, ["bash", str(verbs)], surroundings(build))


def fuzz(tally, build, tool):
    """Every fuzz target for a moment, from all that it once found."""
    command = [str(SOURCE / "scripts" / "fuzz.py"), "--seconds", str(FUZZ_SECONDS), "--tool",
               str(Path(tool) / "unsnarl"), build]
    run_command(tally, "fuzz", command, {})


def main(words):
    if words[:1] == ["--sanitize"]:
        plain, sanitized = None, words[1:]
    else:
        plain, sanitized = words[:1], words[1:2]
    fuzzed = words[2:] if plain else []
    if len(fuzzed) > 1 or len(sanitized) > 1 or not (plain or sanitized):
        sys.exit(__doc__)
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
        os.environ.pop(name, None)  # tests that call make want one of their own
    tally = Tally()
    if plain:
        check(tally, plain[0])
    if sanitized:
        sanitize(tally, sanitized[0])
    if fuzzed:
        fuzz(tally, fuzzed[0], plain[0])
    print("\nslowest:")
    for seconds, name in sorted(tally.times, reverse=True)[:SLOWEST]:
        print(f"{seconds:8.1f} s  {name}")
    print(f"{tally.skipped} skipped")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
