#!/usr/bin/env python3
"""Runs unsnarl on the programs of tests/validation: is the first answer of diagnose one of
the sets of lines that name the cause, is its class right, is nothing claimed of correct
programs; is the first answer of isolate one that names the cause of a crash.

usage: eval-validation.py [--build DIR] [--sets DIR] [--only SET] [--time S] [--schedules N] [--seed S]
                          [--gcc FLAGS] [NAME...]
With --gcc programs are built by gcc with these flags and without hooks: the binary loom.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
SETS = SOURCE / "tests" / "validation"


def programs(folder, names):
    for truth in sorted(folder.glob("*.json")):
        if not names or truth.stem in names:
            yield truth.with_suffix(".cpp") if truth.with_suffix(".cpp").exists() else truth.with_suffix(".c"), \
                json.loads(truth.read_text())


def compile_program(unsnarl, source, truth, folder, gcc):
    cplusplus = source.suffix == ".cpp"
    program = folder / source.stem
    compiler = ["g++" if cplusplus else "gcc", *gcc.split()] if gcc else \
        [unsnarl, "c++" if cplusplus else "cc", "-g", "-O1"]
    standard = [word for word in truth.get("build", "").split() if word.startswith("-std=")]
    command = [*compiler, *standard, "-w", "-pthread", "-o", program, source]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return program


def answer(unsnarl, words, program, folder, given=subprocess.DEVNULL):
    command = [unsnarl, *words, "--json", "--store", folder / "store", "--", program]
    done = subprocess.run(command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode > 1:
        raise RuntimeError(done.stderr.strip() or f"exit status {done.returncode}")
    return json.loads(done.stdout)


def standard_input(source, truth, folder):
    """What the program reads: a file beside it, or the text itself."""
    text = truth.get("stdin")
    if not text:
        return subprocess.DEVNULL
    if "\n" in text or not (source.parent / text).is_file():
        (folder / "given").write_text(text)
        return open(folder / "given")
    return open(source.parent / text)


def names_cause(truth, lines):
    roots = {access["line"] for access in truth["root_cause"]}
    return any(set(accepted) <= lines for accepted in [*truth.get("acceptable", []), roots])


def judge_first(found, truth):
    """(good, what to say) of the first finding."""
    findings = found["findings"]
    if truth["class"] == "none":
        return not findings, "quiet" if not findings else "CLAIMED " + findings[0]["class"]
    if not findings:
        return False, "nothing found"
    first = findings[0]
    lines = {access["line"] for access in first["accesses"]}
    right = names_cause(truth, lines)
    fits = first["class"] in {truth["class"], *truth.get("also_class", [])}
    return right, f"{'right' if right else 'WRONG ' + str(sorted(lines))}, class {first['class']}" \
        f"{'' if fits else ' (another)'}, score {first['score']:.2f}"


def seeded(options):
    return ["--seed", str(options.seed)] if options.seed is not None else []


def judge_diagnose(unsnarl, source, truth, folder, options):
    program = compile_program(unsnarl, source, truth, folder, options.gcc)
    return judge_first(answer(unsnarl, ["diagnose", "--time", str(options.time), *seeded(options)], program, folder), truth)


def judge_crash(unsnarl, source, truth, folder, options):
    program = folder / source.stem
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    subprocess.run([compiler, "-w", "-g", "-O1", "-pthread", "-o", program, source], check=True)
    found = answer(unsnarl, ["isolate", "--time", str(options.time), *seeded(options)], program, folder)
    good, said = judge_first(found, truth)
    runs = sum(found["executions"][k] for k in ("original", "suppression", "race", "violation"))
    return good, f"{said}, {'sure' if found['sure'] else 'not sure'}, {runs} executions, {found['seconds']:.1f} s"


def judge_correct(unsnarl, source, truth, folder, options):
    program = compile_program(unsnarl, source, truth, folder, options.gcc)
    given = standard_input(source, truth, folder)
    found = answer(unsnarl, ["hunt", "--budget", str(options.schedules), "--keep-going", "--no-reduce",
                             *seeded(options)], program,
                   folder, given)
    failed = found["failed"]
    doubtful = f", {found['inconclusive']} of {found['schedules']} inconclusive" if found.get("inconclusive") else ""
    return not failed, ("quiet" if not failed else f"ACCUSED in {failed}") + doubtful


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--sets", type=Path, default=SETS)
    parser.add_argument("--only")
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--seed", type=int, help="of diagnoses and hunts (default: a new one for each)")
    parser.add_argument("--gcc", metavar="FLAGS")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unsnarl = str(Path(options.build).resolve() / "unsnarl")
    bad = 0
    for folder, judge in [("diagnose", judge_diagnose), ("correct", judge_correct), ("crash", judge_crash)]:
        if options.only not in (None, folder):
            continue
        for source, truth in programs(options.sets / folder, options.names):
            with tempfile.TemporaryDirectory() as place:
                try:
                    good, said = judge(unsnarl, source, truth, Path(place), options)
                except (RuntimeError, subprocess.CalledProcessError, ValueError) as error:
                    good, said = False, str(error)
            bad += not good
            print(f"{folder:9} {source.stem:14} {said}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
