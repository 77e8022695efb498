#!/usr/bin/env python3
"""Compares what `unsnarl show RUN --json` (stdin) says with the expectations in
the source files of an observed program. Lines of interest carry a mark,
`/* @name */`; expectations stand in the opening comment:

    pair: put > get        a pair from line put to line get was observed
    no pair: put > *       none was, whatever the tail
    threads: 3             so many threads (also processes:, outcome:)
    edge contexts: put 2   edges from line put have so many different contexts there
    gone: put              heads at line put are of threads whose slots others have since
    write orders: 8        writes that are heads of pairs are among their threads' first 8 accesses

Prints one line for each expectation that does not hold. Nothing may be dropped
unless there is a line `may drop`."""
import json
import os
import re
import sys


def read_sources(paths):
    marks, expectations = {}, []
    for path in paths:
        with open(path) as source:
            for number, line in enumerate(source, 1):
                for name in re.findall(r"@(\w+)", line):
                    marks[(os.path.basename(path), number)] = name
                found = re.match(r" \* (pair|no pair|edge contexts|gone|write orders|threads|processes|may drop)(?:: (.*))?$", line.rstrip())
                if found:
                    expectations.append(found.groups())
    return marks, expectations


def name(end, marks):
    return marks.get((os.path.basename(end["file"]), end["line"]), f"line{end['line']}")


def observed_pairs(run, marks):
    return {(name(pair["head"], marks), name(pair["tail"], marks)) for pair in run["pairs"]}


def source_contexts(run, marks, source):
    return {edge["source_context"] for edge in run["edges"] if edge["source"] and name(edge["source"], marks) == source}


GONE = 0xFFFFFFFF


def gone_heads(run, marks, head):
    return {pair["head"]["thread"] == GONE for pair in run["pairs"] if name(pair["head"], marks) == head}


def write_orders(run):
    return [pair["head"]["order"] for pair in run["pairs"] if pair["kind"].startswith("write")]


def holds(kind, value, run, marks, pairs):
    if kind in ("pair", "no pair"):
        head, tail = re.split(r" *> *", value)
        found = any(head in ("*", a) and tail in ("*", b) for a, b in pairs)
        return found == (kind == "pair")
    if kind == "edge contexts":
        source, count = value.split()
        return len(source_contexts(run, marks, source)) == int(count)
    if kind == "gone":
        return gone_heads(run, marks, value) == {True}
    if kind == "write orders":
        return all(order <= int(value) for order in write_orders(run))
    return run[kind] == int(value)


def main():
    marks, expectations = read_sources(sys.argv[1:])
    run = json.load(sys.stdin)
    pairs = observed_pairs(run, marks)
    known = {mark for mark in marks.values()} | {"*"}
    wrong = []
    for kind, value in expectations:
        if kind == "may drop":
            continue
        if kind.endswith("pair") and not set(re.split(r" *> *", value)) <= known:
            wrong.append(f"{kind}: {value}: no such mark")
        elif not holds(kind, value, run, marks, pairs):
            got = sorted(pairs) if kind.endswith("pair") else run.get(kind, write_orders(run))
            if kind == "edge contexts":
                got = sorted(source_contexts(run, marks, value.split()[0]))
            if kind == "gone":
                got = "threads of today"
            wrong.append(f"{kind}: {value}: got {got}")
    if run["dropped"] and ("may drop", None) not in expectations:
        wrong.append(f"dropped: {run['dropped']}")
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
