"""Which programs of the corpus are small, so that what a schedule costs is the tool's and not theirs,
and how many schedules a second of processor time has to have of them."""

import json
import pathlib
import resource
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-O2", "-g", "-pthread"]
SMALL_POINTS = 2000  # a program is small when its schedules have no more points
SMALL_MS = 1.0  # and it computes no longer than this by itself
FAST = 1500  # schedules in a second of processor time


def truths():
    """Folder and truth of every program of the corpus."""
    return [(path.parent, json.loads(path.read_text())) for path in sorted((SOURCE / "corpus").glob("*/truth.json"))]


def build(unsnarl, folder, truth, target):
    cplusplus = any(not source.endswith(".c") for source in truth["sources"])
    command = [unsnarl, "c++" if cplusplus else "cc", *FLAGS, *truth["sources"], "-o", str(target)]
    subprocess.run(command, cwd=folder, check=True)


def own_ms(command, cwd):
    """Processor time of a program by itself, the least of a few runs, in ms."""
    best = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=5)
        except subprocess.TimeoutExpired:
            continue
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return best * 1000


def is_small(points, milliseconds, start_ms):
    """By points a schedule, time by itself, and what the start of a process takes."""
    return points <= SMALL_POINTS and milliseconds - start_ms <= SMALL_MS
