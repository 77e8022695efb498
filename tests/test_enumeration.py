#!/usr/bin/env python3
"""Nothing gets out of reach because only some accesses are points: test_enumeration.py UNSNARL DRIVER [options]

Small programs are given as lists of steps. A naive interpreter goes through every order of all their steps and
says which results there are. The same programs in C are run with every plan of as many points as their threads
have, with the points that a hunt would have: all plans again and again, until no more sites become points. Both
must come to the same results."""
import argparse
import functools
import itertools
import math
import os
import random
import re
import subprocess
import sys
import tempfile

MOST_PLANS = 3000

# A step: ("st", variable, value), ("copy", register, variable), ("raise", variable, register, by),
# ("put", variable, register), ("lock",), ("unlock",), ("add", register, variable, by) atomically,
# ("await", variable): until it is not 0; ("skip", variable, n): over the next n steps if it is 0.
PROGRAMS = {
    "two first writes": [[("st", 0, 1), ("st", 1, 1)], [("st", 0, 2), ("st", 1, 2)]],
    "first writes, then reads": [[("st", 0, 1), ("st", 1, 1)], [("copy", 0, 1), ("copy", 1, 0)]],
    "store buffer": [[("st", 0, 1), ("copy", 0, 1)], [("st", 1, 1), ("copy", 0, 0)]],
    "lost update": [[("copy", 0, 0), ("raise", 0, 0, 1)], [("copy", 0, 0), ("raise", 0, 0, 10)]],
    "lock and plain": [[("lock",), ("copy", 0, 0), ("raise", 0, 0, 1), ("unlock",), ("st", 1, 1)],
                       [("copy", 0, 1), ("lock",), ("copy", 1, 0), ("raise", 0, 1, 10), ("unlock",)]],
    "write beside a lock": [[("st", 0, 1), ("lock",), ("st", 0, 2), ("unlock",)],
                            [("lock",), ("copy", 0, 0), ("unlock",), ("copy", 1, 0)]],
    "flag": [[("st", 0, 1), ("st", 1, 1), ("st", 0, 2)], [("await", 1), ("copy", 0, 0), ("st", 0, 3)]],
    "check then use": [[("skip", 0, 2), ("copy", 0, 0), ("st", 1, 1)], [("st", 0, 1), ("st", 0, 0)]],
    "chain of three": [[("st", 0, 1)], [("copy", 0, 0), ("put", 1, 0)], [("copy", 0, 1), ("copy", 1, 0)]],
    "three writers": [[("st", 0, 1), ("st", 1, 1)], [("st", 0, 2), ("st", 1, 2)], [("st", 0, 3)]],
    "atomics": [[("add", 0, 0, 1), ("copy", 1, 0)], [("add", 0, 0, 10), ("put", 1, 0)]],
    "three atomics": [[("add", 0, 0, 1)], [("add", 0, 0, 10), ("copy", 1, 0)], [("copy", 0, 0), ("add", 1, 0, 100)]],
}


def random_program(dice):
    """Two threads of up to four steps or three of two, with one or two variables and a lock at times."""
    threads, length = dice.choice([(2, 3), (2, 4), (3, 2)])
    program = []
    for _ in range(threads):
        steps = []
        for _ in range(length):
            variable, register = dice.randrange(2), dice.randrange(2)
            steps.append(dice.choice([
                ("st", variable, dice.randrange(1, 4)), ("copy", register, variable), ("put", variable, register),
                ("raise", variable, register, dice.randrange(1, 4)), ("add", register, variable, 1)]))
        if threads == 2 and dice.randrange(3) == 0:
            at = dice.randrange(len(steps))
            end = dice.randrange(at + 1, len(steps) + 1)
            steps = steps[:at] + [("lock",)] + steps[at:end] + [("unlock",)] + steps[end:]
        if dice.randrange(4) == 0:
            steps.insert(0, ("skip", dice.randrange(2), 1))
        program.append(steps)
    return program


# ---- what there is: every order of all steps ----

def results(program):
    found = set()

    @functools.lru_cache(None)
    def go(places, variables, registers, holder):
        if all(place >= len(steps) for place, steps in zip(places, program)):
            found.add(variables + tuple(itertools.chain(*registers)))
            return
        for thread, steps in enumerate(program):
            if places[thread] < len(steps):
                after = step(steps[places[thread]], thread, places[thread], variables, list(registers[thread]), holder)
                if after:
                    place, new, mine, held = after
                    go(places[:thread] + (place,) + places[thread + 1:], new,
                       registers[:thread] + (tuple(mine),) + registers[thread + 1:], held)

    go((0,) * len(program), (0, 0), ((0, 0),) * len(program), None)
    return found


def step(what, thread, place, variables, mine, holder):
    """Place, variables, registers and holder of the lock afterwards; None when it must wait."""
    new = list(variables)
    kind, place = what[0], place + 1
    if kind == "st":
        new[what[1]] = what[2]
    elif kind == "copy":
        mine[what[1]] = new[what[2]]
    elif kind == "put":
        new[what[1]] = mine[what[2]]
    elif kind == "raise":
        new[what[1]] = mine[what[2]] + what[3]
    elif kind == "add":
        mine[what[1]] = new[what[2]]
        new[what[2]] += what[3]
    elif kind == "skip":
        place += 0 if new[what[1]] else what[2]
    elif kind == "await":
        if not new[what[1]]:
            return None
    elif kind == "lock":
        if holder is not None:
            return None
        holder = thread
    elif kind == "unlock":
        holder = None
    return place, tuple(new), mine, holder


# ---- the same in C ----

def statement(what, thread):
    kind = what[0]
    mine = f"r[{thread}]"
    return {
        "st": lambda: f"v[{what[1]}] = {what[2]};",
        "copy": lambda: f"r{what[1]} = v[{what[2]}];",
        "put": lambda: f"v[{what[1]}] = r{what[2]};",
        "raise": lambda: f"v[{what[1]}] = r{what[2]} + {what[3]};",
        "add": lambda: f"r{what[1]} = __atomic_fetch_add(&v[{what[2]}], {what[3]}, __ATOMIC_SEQ_CST);",
        "await": lambda: f"while (!v[{what[1]}]) sched_yield();",
        "lock": lambda: "pthread_mutex_lock(&m);",
        "unlock": lambda: "pthread_mutex_unlock(&m);",
    }[kind]()


def function(thread, steps):
    lines, ends = [], []
    for place, what in enumerate(steps):
        lines += ["}" for end in ends if end == place]
        ends = [end for end in ends if end > place]
        if what[0] == "skip":
            lines.append(f"if (v[{what[1]}]) {{")
            ends.append(place + 1 + what[2])
        else:
            lines.append(statement(what, thread))
    lines += ["}"] * len(ends)
    body = "\n\t".join(lines)
    return (f"static void *t{thread}(void *u)\n{{\n\tint r0 = 0, r1 = 0;\n\t{body}\n"
            f"\tr[{thread}][0] = r0; r[{thread}][1] = r1;\n\treturn u;\n}}\n")


def source(program):
    n = len(program)
    functions = "".join(function(thread, steps) for thread, steps in enumerate(program))
    creates = "".join(f"\tpthread_create(&t[{i}], NULL, t{i}, NULL);\n" for i in range(n))
    return (f"#include <pthread.h>\n#include <sched.h>\n#include <stdio.h>\n"
            f"static volatile int v[2];\nstatic int r[{n}][2];\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
            f"{functions}int main(void)\n{{\n\tpthread_t t[{n}];\n{creates}"
            f"\tfor (int i = 0; i < {n}; i++)\n\t\tpthread_join(t[i], NULL);\n"
            f'\tprintf("result %d %d", v[0], v[1]);\n'
            f'\tfor (int i = 0; i < {n}; i++)\n\t\tprintf(" %d %d", r[i][0], r[i][1]);\n\tprintf("\\n");\n\treturn 0;\n}}\n')


def plans(lengths):
    """Every order of so many points of the threads, the first two of each together: at its beginning a thread has
    done nothing yet. The main thread makes them all first."""
    counts = [max(length - 1, 1) for length in lengths]

    def go(left, turns):
        if not any(left):
            yield turns
        for thread, count in enumerate(left):
            if count:
                points = 2 if count == counts[thread] else 1
                rest = left[:thread] + [count - 1] + left[thread + 1:]
                if turns and turns[-1][0] == thread:
                    yield from go(rest, turns[:-1] + [(thread, turns[-1][1] + points)])
                else:
                    yield from go(rest, turns + [(thread, points)])

    for turns in go(counts, []):
        yield "0:0 " + " ".join(f"{thread + 1}:{points}" for thread, points in turns)


def number_of_plans(lengths):
    counts = [max(length - 1, 1) for length in lengths]
    return math.factorial(sum(counts)) // math.prod(math.factorial(count) for count in counts)


def longest(text, threads):
    """Points of each thread in the run where it has most."""
    lengths = [1] * threads
    for run in re.split(r"^seed ", text, flags=re.M):
        sums = [0] * (threads + 1)
        for thread, points in re.findall(r"^  \d+: thread (\d+) kind 1 end \d+ points (\d+)", run, re.M):
            sums[int(thread)] += int(points)
        lengths = [max(one, other) for one, other in zip(lengths, sums[1:])]
    return lengths


def reached(unsnarl, driver, program, everywhere):
    """Results of all plans, and how many there were; None when there are too many plans."""
    with open("p.c", "w") as out:
        out.write(source(program))
    subprocess.run([unsnarl, "cc", "-w", "-O1", "-g", "-pthread", "-o", "p", "p.c"], check=True)
    lengths, found = [2] * len(program), set()
    while True:
        if number_of_plans(lengths) > MOST_PLANS:
            return None, lengths
        with open("plans", "w") as out:
            out.write("\n".join(plans(lengths)) + "\n")
        done = subprocess.run([driver, "-P", "plans", "-v", "-e" if everywhere else "-g", "./p"], text=True,
                              stdout=subprocess.PIPE, timeout=600)
        found |= {tuple(map(int, line.split())) for line in re.findall(r"^result (.*)$", done.stdout, re.M)}
        longer = [max(one, other) for one, other in zip(lengths, longest(done.stdout, len(program)))]
        if "await" in {what[0] for steps in program for what in steps}:  # turns of a waiting loop are all alike
            longer = [min(length, 2 * len(steps) + 3) for length, steps in zip(longer, program)]
        if longer == lengths:
            return found, number_of_plans(lengths)
        lengths = longer


def check(unsnarl, driver, name, program, everywhere):
    wanted = results(program)
    found, plans_tried = reached(unsnarl, driver, program, everywhere)
    if found is None:
        print(f"skipped: {name}: threads of {plans_tried} points")
        return None
    good = found == wanted
    print(f"{'ok' if good else 'not ok'} {name}: {len(wanted)} results, {plans_tried} plans", flush=True)
    if not good:
        print(f"  never reached: {sorted(wanted - found)}; not to be: {sorted(found - wanted)}\n  {program}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("unsnarl")
    parser.add_argument("driver")
    parser.add_argument("--random", type=int, default=4, help="random programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--everywhere", action="store_true", help="every access is a point: tests the test")
    options = parser.parse_args()
    unsnarl, driver = os.path.abspath(options.unsnarl), os.path.abspath(options.driver)
    programs = list(PROGRAMS.items())
    for seed in range(options.seed, options.seed + options.random):
        programs.append((f"random program {seed}", random_program(random.Random(seed))))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        verdicts = [check(unsnarl, driver, name, program, options.everywhere) for name, program in programs]
    skipped = f", {verdicts.count(None)} skipped" if None in verdicts else ""
    print(f"{verdicts.count(True)} passed, {verdicts.count(False)} failed{skipped}")
    return False in verdicts


if __name__ == "__main__":
    sys.exit(main())
