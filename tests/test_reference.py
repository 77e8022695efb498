#!/usr/bin/env python3
"""Holds the runtime against the reference observer: on random programs, racing
and serial, exact and by lines, on programs whose data changes hands, and on the corpus.

usage: test_reference.py UNSNARL COMPARE_TRACE [--seed N] [--programs N] [--no-corpus] [--keep]

UNSNARL is the tool, COMPARE_TRACE the program of tests/compare_trace.c. Prints one
line per comparison with what is needed to repeat it; exit status 0 when all agree.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
SERIAL = [  # how they are compiled and compared
    ("byte_turns", ["-O0", "-O2"], "-as"),
    ("handover", ["-O0", "-O2"], "-ars"),
    ("joined", ["-O0", "-O2"], "-as"),
    ("members", ["-O0", "-O2"], "-as"),
    ("places", ["-O0", "-O2"], "-ars"),
    ("rows", ["-O2", "-O3"], "-as"),
    ("turns", ["-O0"], "-ars"),  # without optimisation it reads so often that orders may be earlier ones
    ("turns", ["-O2"], "-as"),
]
PARALLEL = 2
TOO_LARGE = 77
too_large = []  # to be compared: skipped, not passed


def build(unsnarl, target, sources, flags):
    subprocess.run([unsnarl, "cc", *flags, "-g", "-w", "-pthread", "-o", target, *sources], check=True, timeout=120,
                   stdout=subprocess.DEVNULL)


def compare(options, name, target, settings, arguments=()):
    command = [options.compare, *settings, target, *arguments]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, cwd=target.parent)
    what = result.stdout.replace(f"{target}: ", "").rstrip()
    agree = result.returncode in (0, TOO_LARGE)
    if result.returncode == TOO_LARGE:
        too_large.append(name)
    print(f"{'ok' if agree else 'not ok'} {name} {' '.join(settings)}: {what}", flush=True)
    return agree


def check_random(options, folder, seed):
    """The seed also draws how the program is compiled and compared."""
    draw = random.Random(seed)
    serial = draw.random() < 0.5
    level = draw.choice(["-O0", "-O1", "-O2", "-O3"])
    settings = ["-c", str(draw.randint(0, 8))] + (["-s"] if serial else []) + (["-l"] if draw.random() < 0.3 else [])
    target = folder / f"random-{seed}"
    source = target.with_suffix(".c")
    kind = ["--serial"] if serial else []
    text = subprocess.run([sys.executable, HERE / "random_program.py", *kind, str(seed)], stdout=subprocess.PIPE,
                          check=True).stdout
    source.write_bytes(text)
    if b"compare_exchange" not in text:
        settings.append("-a")
    build(options.unsnarl, target, [source], [level])
    return compare(options, f"random_program.py {' '.join(kind + [str(seed)])} {level}", target, settings)


def check_serial(options, folder, name, level, events, settings):
    """Always does the same, and more of it than the runtime keeps at hand."""
    target = folder / f"{name}{level}-{events}"
    build(options.unsnarl, target, [HERE / "serial" / f"{name}.c"], [level])
    return compare(options, f"{name}.c {level}", target, ["-c", str(events), settings])


def check_corpus(options, folder, name):
    truth = json.loads((CORPUS / name / "truth.json").read_text())
    target = folder / name
    sources = [CORPUS / name / source for source in truth["sources"]]
    library = ["-lstdc++"] if any(source.suffix == ".cpp" for source in sources) else []
    build(options.unsnarl, target, sources, ["-O2", f"-I{CORPUS}", *library])
    return compare(options, name, target, ["-t", str(min(truth["timeout"], 2))], truth["args"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unsnarl", type=pathlib.Path)
    parser.add_argument("compare", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--programs", type=int, default=30)
    parser.add_argument("--no-corpus", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="folder to build in")
    options = parser.parse_args()
    options.unsnarl, options.compare = options.unsnarl.resolve(), options.compare.resolve()
    names = [] if options.no_corpus else sorted(p.parent.name for p in CORPUS.glob("*/truth.json"))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        folder = options.keep or pathlib.Path(scratch)
        jobs = [pool.submit(check_random, options, folder, options.seed + i) for i in range(options.programs)]
        jobs += [pool.submit(check_serial, options, folder, name, level, events, settings)
                 for name, levels, settings in SERIAL for level in levels for events in [0, 2, 5, 8]]
        jobs += [pool.submit(check_corpus, options, folder, name) for name in names]
        results = [job.result() for job in jobs]
    print(f"{sum(results) - len(too_large)} of {len(results)} agree")
    print(f"{len(too_large)} skipped")
    return 0 if all(results) else 1


sys.exit(main())
