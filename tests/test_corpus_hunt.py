#!/usr/bin/env python3
"""A short hunt of every program of the corpus: what is correct passes, and nothing is killed by a signal
that its truth does not speak of: test_corpus_hunt.py UNSNARL"""
import json
import pathlib
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"
SCHEDULES = 40
KILLED = {"assertion", "crash", "abort", "double-free"}  # symptoms


def hunt(unsnarl, truth, sources, folder):
    target = folder / truth["name"]
    names = [str(sources / name) for name in truth["sources"]]
    compiler = "cc" if all(name.endswith(".c") for name in names) else "c++"
    subprocess.run([unsnarl, compiler, "-O2", "-g", "-w", "-pthread", *names, "-o", target, "-lm"], check=True)
    expect = sources / "expect.txt"
    oracle = ["--expect", expect] if expect.is_file() else []
    done = subprocess.run([unsnarl, "hunt", "--json", "--seed", "1", "--budget", str(SCHEDULES), "--keep-going", "--no-reduce",
                           "--passes", "0", "--failures", "1", "--timeout", "60", *oracle, "--", target, *truth["args"]],
                          cwd=folder, stdout=subprocess.PIPE, timeout=600)
    return json.loads(done.stdout)


def complaint(truth, result):
    """What is wrong with the hunt, or None."""
    if result["schedules"] != SCHEDULES:
        return f"{result['schedules']} schedules"
    if truth["class"] == "none" and result["failures"]:
        return f"a correct program fails: {result['failures']}"
    signals = [how for how in result["failures"] if how.startswith("SIG")]
    if signals and truth.get("symptom") not in KILLED:
        return f"killed by {', '.join(signals)}"
    return None


def main():
    unsnarl, failed, passed = str(pathlib.Path(sys.argv[1]).resolve()), 0, 0
    for sources in sorted(path.parent for path in CORPUS.glob("*/truth.json")):
        truth = json.loads((sources / "truth.json").read_text())
        with tempfile.TemporaryDirectory() as folder:
            wrong = complaint(truth, hunt(unsnarl, truth, sources, pathlib.Path(folder)))
        print(f"{'not ok' if wrong else 'ok'} {truth['name']}{': ' + wrong if wrong else ''}", flush=True)
        failed += wrong is not None
        passed += wrong is None
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
