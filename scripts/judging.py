"""What the evaluations share: a program of the corpus, runs of it in a store, and
whether a finding is right.

The judge. A true pair is two accesses of different threads to one variable, head
before tail, as truth.json has them: neighbours of different threads where one
variable is concerned, `pairs` (indexes of accesses) where there are several. A
finding holds it when it has an access with the head's kind, file and line, and
later in its order one with the tail's, in another thread. A finding is *right*
when it holds a true pair, or when two threads or more do in it nothing but what
the truth has, a write among it: the same fault, threads in other roles (two
withdrawals instead of a deposit and a withdrawal). It is *whole* when it holds all
true pairs. For deadlocks, lost wake-ups and memory errors there are no pairs:
right means that it has accesses, and all of them are of the truth.

Without debug information an access is told as function and offset. It is judged by the line that the same
machine code has in a twin built with -g; a twin whose code differs is an error.

One fault may show in more than one way, as a block that is freed too early and a
pointer to it that is cleared too early: `or` in truth.json is a list of further
truths, and a finding that is right by one of them is right.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SHORT = {"atomicity-violation": "SAV", "multi-variable-atomicity-violation": "MAV", "order-violation": "OV",
         "memory-error": "memory", "none": "-"}
WITHOUT_PAIRS = ("deadlock", "lost-wakeup", "memory-error")


def place(access):
    return access["kind"], pathlib.Path(access["file"]).name, access["line"]


def true_pairs(truth):
    """Heads and tails, as places."""
    accesses = truth["accesses"]
    pairs = truth.get("pairs") or [(i, i + 1) for i in range(len(accesses) - 1)
                                   if accesses[i]["thread"] != accesses[i + 1]["thread"]]
    return [(place(accesses[head]), place(accesses[tail])) for head, tail in pairs]


def holds(finding, pair):
    accesses = finding["accesses"]
    return any(place(a) == pair[0] and place(b) == pair[1] and a["thread"] != b["thread"]
               for i, a in enumerate(accesses) for b in accesses[i + 1:])


def truths(truth):
    return [truth] + [{**truth, "pairs": None, **other} for other in truth.get("or", [])]


def is_class(truth, finding):
    return finding["class"] in {one["class"] for one in truths(truth)}


def is_right(truth, finding):
    return any(is_right_by(one, finding) for one in truths(truth))


def is_right_by(truth, finding):
    if truth["class"] in WITHOUT_PAIRS:
        return bool(finding["accesses"]) and \
            {place(a) for a in finding["accesses"]} <= {place(a) for a in truth["accesses"]}
    if any(holds(finding, pair) for pair in true_pairs(truth)):
        return True
    return len({a["thread"] for a in finding["accesses"]}) > 1 and \
        any(a["kind"] == "write" for a in finding["accesses"]) and \
        {place(a) for a in finding["accesses"]} <= {place(a) for a in truth["accesses"]}


def is_whole(truth, finding):
    if truth["class"] in WITHOUT_PAIRS:
        return {place(a) for a in finding["accesses"]} >= {place(a) for a in truth["accesses"]}
    return all(holds(finding, pair) for pair in true_pairs(truth))


def rank_of(truth, findings):
    """The rank of the first finding that is right, None."""
    return next((f["rank"] for f in findings if is_right(truth, f)), None)


def text_of(program):
    with tempfile.NamedTemporaryFile() as code:
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.text", program, code.name], check=True)
        return pathlib.Path(code.name).read_bytes()


def places_of(program, twin):
    """A function from "name+0x12" to the file and the line that `twin`, built with -g, has there."""
    if text_of(program) != text_of(twin):
        sys.exit(f"{program}: with -g the compiler makes other code of it, so places have no lines")
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.split("\n")
    starts = {words[2]: int(words[0], 16) for words in map(str.split, symbols) if len(words) == 3}

    def find(place):
        name, _, offset = place.partition("+")
        if name not in starts or not offset:
            return "", 0
        line = subprocess.run(["addr2line", "-e", twin, hex(starts[name] + int(offset, 16))], capture_output=True,
                              text=True, check=True).stdout.split()[0]
        file, _, number = line.rpartition(":")
        return file, int(number) if number.isdigit() else 0
    return find


class Program:
    """A program of the corpus, built into a folder of its own under `scratch`."""

    def __init__(self, unsnarl, name, scratch):
        self.unsnarl, self.name = unsnarl, name
        self.folder = SOURCE / "corpus" / name
        self.truth = json.loads((self.folder / "truth.json").read_text())
        self.home = scratch / name
        self.program = self.home / name
        self.twin, self.places = self.home / f"{name}-lines", None

    def call(self, *words, timeout=300):
        process = subprocess.run([self.unsnarl, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=timeout)
        return process.returncode, process.stdout, process.stderr

    def build(self, flags=None):
        """By unsnarl cc; with flags by gcc, without hooks."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        plain = all(s.endswith(".c") for s in self.truth["sources"])
        if flags is not None:
            for program, more in [(self.program, [])] + [(self.twin, ["-g"])] * ("-g" not in flags.split()):
                subprocess.run(["gcc" if plain else "g++", *flags.split(), *more, "-pthread",
                                *self.truth["sources"], "-o", program, "-lm"], cwd=self.folder, check=True)
            self.places = places_of(self.program, self.twin) if self.twin.exists() else None
            return
        code, _, errors = self.call("cc" if plain else "c++", "-O2", "-g", "-pthread", *self.truth["sources"],
                                    "-o", self.program)
        if code:
            sys.exit(f"{self.name}: {errors}")

    def with_lines(self, answer):
        """The answer with a file and a line for each access that was told by function and offset."""
        findings = [f for f in answer["findings"]] + [f for o in answer["opinions"] for f in o["findings"]]
        for access in (a for f in findings for a in f["accesses"] if self.places and not a["line"]):
            access["file"], access["line"] = self.places(access["function"])
        return answer

    def oracle(self):
        expect = self.folder / "expect.txt"
        return ["--expect", expect] if expect.is_file() else []

    def command(self, store):
        """The end of a command line that runs the program."""
        return ["--timeout", self.truth["timeout"], "--store", store, *self.oracle(), "--", self.program,
                *self.truth["args"]]

    def collect(self, repetition, budget, seed=1000, passes=100):
        """A store with passing runs and, if any were found, failed ones."""
        store = self.home / f"store-{repetition}"
        if store.exists():
            return store
        found, _, _ = self.call("hunt", "--budget", budget, "--seed", seed + 7 * repetition, "--passes", passes,
                                *self.command(store), timeout=900)
        if found == 0:
            for jitter in (300, 5000):
                self.call("run", "-n", 60, f"--jitter={jitter}", "--seed", repetition, *self.command(store),
                          timeout=900)
        return store

    def mislabel(self, repetition):
        """A store with runs of a correct program, one in twenty called failed at random."""
        store = self.home / f"store-{repetition}"
        if not store.exists():
            chance = "[ $(od -An -N1 -tu1 /dev/urandom) -gt 12 ]"
            for jitter in (300, 5000):
                self.call("run", "-n", 60, f"--jitter={jitter}", "--seed", repetition, "--check", chance,
                          "--timeout", self.truth["timeout"], "--store", store, "--", self.program,
                          *self.truth["args"], timeout=900)
        return store

    def locate(self, store, *words):
        """The answer, why there is none, and the seconds it took."""
        begun = time.monotonic()
        code, out, errors = self.call("locate", "--json", "--store", store, *words)
        seconds = time.monotonic() - begun
        if code == 2:
            return None, errors.strip(), seconds
        return json.loads(out), "", seconds


def corpus(names=(), classes=None):
    """Names of the programs of the corpus."""
    for path in sorted((SOURCE / "corpus").glob("*/truth.json")):
        if names and path.parent.name not in names:
            continue
        if classes is None or json.loads(path.read_text())["class"] in classes:
            yield path.parent.name


def write_section(name, title, text):
    """Replaces the part of doc/results.md between the markers of `name`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    path = SOURCE / "doc" / "results.md"
    old = path.read_text()
    section = f"{begin}\n{text}\n{end}"
    if begin in old:
        head, rest = old.split(begin, 1)
        new = head + section + rest.split(end, 1)[1]
    else:
        new = f"{old.rstrip()}\n\n## {title}\n\n{section}\n"
    path.write_text(new)
