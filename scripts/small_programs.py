"""Which programs of the corpus are small, so that what a schedule costs is the tool's and not theirs,
and how many schedules a second of processor time has to have of them."""

import json
import pathlib
import resource
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-O2", "-g", "-pthread"]
SMALL_POINTS = 2000  # a program is small when its schedules have no more points
FAST = 1500  # schedules in a second of processor time
# and it computes no longer by itself than a schedule may take in all: else the bar could not be met at any cost
SMALL_MS = 1000 / FAST


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


def start_ms(unsnarl, folder):
    """Processor time of a program that does nothing and is built in the same way, in ms: a fork server pays for
    the start once."""
    source, target = pathlib.Path(folder) / "nothing.c", pathlib.Path(folder) / "nothing"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run([unsnarl, "cc", *FLAGS, str(source), "-o", str(target)], check=True)
    return own_ms([str(target)], folder)


def is_small(points, milliseconds, start):
    """By points a schedule, time by itself, and what the start of a program takes."""
    return points <= SMALL_POINTS and milliseconds - start <= SMALL_MS
