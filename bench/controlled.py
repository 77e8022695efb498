"""What the scheduler of controlled runs costs: processor time per point where the
same thread goes on, per switch of threads, and per schedule of a program that does
nothing. From hunts of different length, so that what each hunt costs cancels out."""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import small_programs

SCHEDULES, LONG, SHORT = 60, 20000, 2000
LARGE = 5  # schedules of a large program in one hunt
PROBE, MANY = 60, 1000  # schedules of a corpus program that tell whether it is small, and how fast it is
ONE = ["--failures", "1"]  # each failure that is recorded is followed once more, in a process of its own
FREE_BAR = 2.0  # a controlled schedule against a free observed run


def hunt(place, program, *arguments, options=("--policy", "random"), schedules=SCHEDULES):
    """Totals of a hunt with one job: schedules, points, turns, seconds of processor time."""
    store = place.bench / "controlled.store"
    shutil.rmtree(store, ignore_errors=True)
    command = [str(place.unsnarl), "hunt", "--json", "--seed", "1", "--budget", str(schedules), "-j", "1",
               "--passes", "0", "--keep-going", "--no-reduce", "--store", str(store), *options,
               "--", str(program), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=place.temporary)
    shutil.rmtree(store, ignore_errors=True)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(done.stderr.strip() or "no answer") from None
    return answer


def between(place, program, mode):
    """How much more the long hunts do and take than the short ones: points, turns, ns."""
    long, short = (hunt(place, program, mode, str(count)) for count in (LONG, SHORT))
    return (long["points"] - short["points"], long["turns"] - short["turns"],
            (long["cpu_s"] - short["cpu_s"]) * 1e9)


def world(place, program, repetitions):
    """What private files cost: milliseconds a schedule of a program that writes a file, in the working
    folder itself and in a view of it; by turns, the least of each."""
    shared, private = [], []
    for _ in range(repetitions):
        for times, options in ((shared, ["--policy", "random", "--share-files"]), (private, ["--policy", "random"])):
            answer = hunt(place, program, options=options, schedules=1000)
            times.append(answer["cpu_s"] * 1e3 / answer["schedules"])
    return {"shared_ms": min(shared), "private_ms": min(private)}


def measure(place, program, repetitions):
    """The least of a few measurements of each figure."""
    point, switch, schedule = [], [], []
    for _ in range(repetitions):
        points, _, ns = between(place, program, "alone")
        point.append(ns / points)
        points, turns, ns = between(place, program, "both")
        switch.append((ns - points * point[-1]) / turns)
        nothing = hunt(place, program, "both", "1")
        schedule.append(nothing["cpu_s"] * 1e3 / nothing["schedules"])
    return {"point_ns": min(point), "switch_ns": min(switch), "schedule_ms": min(schedule)}


def against_free(place, program, arguments, free, repetitions):
    """A schedule with policy pos and a free run with all observers, by turns: seconds of processor time, the
    medians. `free` makes a free run."""
    controlled_s, free_s = [], []
    for _ in range(repetitions):
        free_s.append(free())
        answer = hunt(place, program, *arguments, options=["--policy", "pos", "--timeout", "100"], schedules=LARGE)
        controlled_s.append(answer["cpu_s"] / answer["schedules"])
    return statistics.median(controlled_s), statistics.median(free_s)


def small(place, repetitions):
    """Schedules a second of processor time of every small program of the corpus, with the portfolio of
    policies that hunts have: {name: the median}."""
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        start_ms = small_programs.start_ms(str(place.unsnarl), folder)
        for source, truth in small_programs.truths():
            target = Path(folder) / truth["name"]
            small_programs.build(str(place.unsnarl), source, truth, target)
            own_ms = small_programs.own_ms([str(target), *truth["args"]], folder)
            if not small_programs.is_small(0, own_ms, start_ms):
                continue
            probe = hunt(place, target, *truth["args"], options=ONE, schedules=PROBE)
            if small_programs.is_small(probe["points"] / probe["schedules"], own_ms, start_ms):
                hunts = [hunt(place, target, *truth["args"], options=ONE, schedules=MANY) for _ in range(repetitions)]
                rates[truth["name"]] = statistics.median(h["schedules"] / h["cpu_s"] for h in hunts)
    return rates
