"""Rows against hooks of single accesses: loops at random, by one thread, each twice, as
they are and with a rule that has nothing to do with them in the set, which keeps rows
away. Then another thread reads every location, with a set at random. Both builds must
log the same violations, each as often. Rows of overlapping pointers are among the loops.
"""
import os, pathlib, random, re, subprocess, sys, tempfile

UNSNARL = os.environ["UNSNARL"]
FLAGS = ["-g", "-pthread", "-fno-inline"]
LEVELS = ("-O1", "-O2")
BOUNDS = 96

PROGRAM = """#include <pthread.h>
static double a[%(bounds)d], b[%(bounds)d];
static struct { float low, high; } c[%(bounds)d];
double sink;
static volatile int none; /* or loops would be rolled out */
static int ruled;
%(functions)s
static void *work(void *unused)
{
	(void)unused;
%(calls)s
	return 0;
}
static void *probe(void *unused)
{
	sink += *(volatile int *)&ruled;
	for (int i = 0; i < %(bounds)d; i++) {
		sink += *(volatile double *)&a[i];
		sink += *(volatile double *)&b[i];
		sink += *(volatile float *)&c[i].low;
		sink += *(volatile float *)&c[i].high;
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	ruled = 1;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	pthread_create(&thread, 0, probe, 0);
	pthread_join(thread, 0);
}
"""

STATEMENTS = ["x[{i}] += 2 * y[{i}];", "x[{i}] = y[{i}];", "sum += x[{i}];", "x[{i}] = x[{i}] * 3 + 1;", "y[{i}] = x[{k}] + 1;",
              "x[{i}] = 1;", "c[{i}].low = (float)y[{i}];", "c[{i}].high += c[{i}].low;", "sum += c[{k}].high;", "sum += y[{k}];"]


def function(number, pick):
    step, first, end = pick.choice((1, 1, 1, 2, 3)), pick.randrange(8), pick.randrange(8, 60)
    condition = pick.choice(("i < n", "i != n")) if step == 1 else "i < n"
    lines = []
    for statement in pick.sample(STATEMENTS, pick.randrange(1, 4)):
        lines.append("\t\t" + statement.format(i="i", k=pick.choice(("i", "i + 1", "i + 20"))))
    body = "\n".join(lines)
    text = f"static void f{number}(double *x, double *y, int n)\n{{\n\tdouble sum = 0;\n" \
           f"\tfor (int i = {first}; {condition}; i += {step}) {{\n{body}\n\t}}\n\tsink += sum;\n}}\n"
    x, y = pick.choice((("a", "b"), ("a", "b"), ("b", "a"), ("a", "a + 3"), ("a + 1", "a"), ("b", "b")))
    return text, f"\tf{number}({x}, {y}, {end} + none);"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def set_at_random(text, pick):
    """The probing thread's reads may come after some of the others, whatever was learned. Some of the others take turns,
    or must not be the first, which they do not keep to."""
    blocks = re.split(r"(?=^site )", text, flags=re.M)
    others = [block.split()[1] for block in blocks if block.startswith("site ") and " probe " not in block]
    for number, block in enumerate(blocks):
        if block.startswith("site ") and " probe " in block and " ruled " not in block:
            some = sorted(pick.sample(others, pick.randrange(len(others) + 1)), key=int)
            blocks[number] = re.sub(r"^  after.*$", "  after " + " ".join(["nil", *some]), block, flags=re.M)
        elif block.startswith("site ") and " main " not in block and pick.random() < 0.3:
            blocks[number] = re.sub(r"^  after", pick.choice(("  after turn", "  after own")), block, flags=re.M)
    write, read = (next(block.split()[1] for block in blocks if f" {function} ruled " in block)
                   for function in ("main", "probe"))
    text = "".join(blocks)
    return text, text.replace("\nend\n", f"\nrule order {write} {read}\nend\n")


def violations(program, log):
    log.unlink(missing_ok=True)
    run(program, env={**os.environ, "UNSNARL_GUARD_LOG": str(log), "UNSNARL_GUARD_LIMIT": "0"})
    seen = {}
    for line in log.read_text().splitlines() if log.is_file() else []:
        times = int(re.search(r" times (\d+) ", line)[1])
        pair = tuple(re.findall(r" site (0x[0-9a-f]+) ", line))
        seen[pair] = seen.get(pair, 0) + times
    return seen


def compare(seed, level, folder):
    pick = random.Random(seed)
    functions = [function(number, pick) for number in range(pick.randrange(1, 5))]
    source = folder / "loops.c"
    source.write_text(PROGRAM % {"bounds": BOUNDS, "functions": "".join(text for text, _ in functions),
                                 "calls": "\n".join(call for _, call in functions)})
    flags = [*FLAGS, level]
    run(UNSNARL, "cc", *flags, "-o", folder / "observed", source)
    run(UNSNARL, "learn", "--free", "-n", 3, "--traces", 1, "-o", folder / "learned", "--", folder / "observed", cwd=folder)
    for name, text in zip(("rows", "single"), set_at_random((folder / "learned").read_text(), pick)):
        (folder / "set").write_text(text)
        run(UNSNARL, "cc", "--guard", folder / "set", *flags, "-o", folder / name, source)
    by_rows, one_by_one = (violations(folder / name, folder / "log") for name in ("rows", "single"))
    if by_rows != one_by_one:
        print(source.read_text())
        sys.exit(f"seed {seed} {level}: rows {by_rows}, single {one_by_one}")
    calls = subprocess.run(["objdump", "-d", folder / "rows"], capture_output=True, text=True).stdout
    return len(re.findall(r"call.*<unsnarl_guard_(?:row|strided)>", calls)), sum(one_by_one.values())


def main():
    seeds = range(int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else range(8)
    rows = found = 0
    for seed in seeds:
        for level in LEVELS:
            with tempfile.TemporaryDirectory() as name:
                more = compare(seed, level, pathlib.Path(name))
                rows, found = rows + more[0], found + more[1]
    if not rows or not found:
        sys.exit(f"nothing was compared: {rows} rows, {found} violations")
    print(f"{rows} rows, {found} violations alike")


main()
