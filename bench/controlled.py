"""What the scheduler of controlled runs costs: processor time per point where the
same thread goes on, per switch of threads, and per schedule of a program that does
nothing. From hunts of different length, so that what each hunt costs cancels out."""

import json
import shutil
import subprocess

SCHEDULES, LONG, SHORT = 60, 20000, 2000


def hunt(place, program, *arguments, options=(), schedules=SCHEDULES):
    """Totals of a hunt: schedules, points, turns, seconds of processor time."""
    store = place.bench / "controlled.store"
    shutil.rmtree(store, ignore_errors=True)
    command = [str(place.unsnarl), "hunt", "--json", "--seed", "1", "--budget", str(schedules), "-j", "1",
               "--policy", "random", "--passes", "0", "--keep-going", "--no-reduce", "--store", str(store), *options,
               "--", str(program), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
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
        for times, options in ((shared, ["--share-files"]), (private, [])):
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
