#!/usr/bin/env python3
"""Writes a random multi-threaded C program, for comparing observers.

usage: random_program.py [--serial] SEED > program.c

The program works on memory that its threads share: bytes, arrays, structs, heap
blocks, stack variables; with accesses of all sizes, aligned or not, library
calls, atomics, mutexes and barriers. The same seed gives the same program. With
--serial the threads take turns in a fixed order, so that every run does the same.
Without it the accesses race: that is the point.
"""

import argparse
import random

HEAD = r"""
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint16_t loose16 __attribute__((aligned(1), may_alias));
typedef uint32_t loose32 __attribute__((aligned(1), may_alias));
typedef uint64_t loose64 __attribute__((aligned(1), may_alias));

struct mixed {
	char a;
	short b;
	int c;
	long d;
	char e[5];
	short f;
	int g;
};

struct __attribute__((packed)) tight {
	char a;
	int b;
	short c;
	long d;
};

struct big {
	long words[6];
};

static _Alignas(64) unsigned char bytes[96];
static uint16_t halves[24];
static uint32_t words[24];
static uint64_t longs[16];
static struct mixed mixed[3];
static struct tight tight[3];
static struct big big[2];
static _Alignas(8) char text[48] = "some text";
static union {
	uint64_t whole;
	uint32_t half[2];
	uint8_t byte[8];
} mix;
static _Atomic uint8_t atomic8[4];
static _Atomic uint16_t atomic16[4];
static _Atomic uint32_t atomic32[4];
static _Atomic uint64_t atomic64[4];
static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t block_locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
					 PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static unsigned char *blocks[4];
static size_t block_sizes[4];
static unsigned char *boxes[8]; /* on the threads' stacks */
static volatile size_t zero;    /* keeps sizes from being known early */
static pthread_barrier_t barrier;
static sem_t errands; /* done */

struct errand {
	unsigned char *box;
	uint64_t number;
};

static __attribute__((noinline)) uint64_t stir(unsigned char *place, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		value += place[i]++;
	return value;
}

/* Walks over a buffer, there and back, several times. */
static __attribute__((noinline)) uint64_t walk(const unsigned char *place, size_t n, uint64_t value)
{
	for (int turn = 0; turn < 4; turn++) {
		for (size_t i = 0; i < n; i++)
			value += place[i];
		for (size_t i = n; i-- > 0;)
			value ^= place[i];
	}
	return value;
}

static __attribute__((noinline)) void fill(unsigned char *place, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		place[i] = (unsigned char)(value + i);
}

static void *run_errand(void *argument)
{
	struct errand *errand = argument;
	unsigned char own[16] = {1};
	errand->number = stir(own, sizeof own, errand->number);
	memcpy(errand->box, own, 6);
	errand->box[7]++;
	sem_post(&errands);
	return NULL;
}
"""


class Program:
    def __init__(self, seed, serial):
        self.random = random.Random(seed)
        self.serial = serial
        self.threads = self.random.randint(2, 5)
        self.functions = self.random.randint(4, 9)
        self.swaps = self.random.random() < 0.3  # those that fail are accesses of nothing

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, low, high):
        return self.random.randint(low, high)

    # ---- places ----

    def place(self):
        """An lvalue of some size that the threads share."""
        r = self.number
        return self.pick(
            f"bytes[{r(0, 40)}]", f"bytes[{r(0, 11)}]", f"halves[{r(0, 11)}]", f"words[{r(0, 11)}]",
            f"words[{r(0, 3)}]", f"longs[{r(0, 7)}]", f"longs[{r(0, 2)}]",
            f"mixed[{r(0, 2)}].{self.pick(*'abcdfg')}", f"mixed[{r(0, 2)}].e[{r(0, 4)}]",
            f"tight[{r(0, 2)}].{self.pick(*'abcd')}", "mix.whole", f"mix.half[{r(0, 1)}]",
            f"mix.byte[{r(0, 7)}]", f"box[{r(0, 31)}]", f"(*(loose16 *)(bytes + {r(0, 40)}))",
            f"(*(loose32 *)(bytes + {r(0, 40)}))", f"(*(loose64 *)(bytes + {r(0, 40)}))",
            f"(*(loose32 *)(box + {r(0, 24)}))", f"(*(loose64 *)(box + 8 * {r(0, 2)}))",
            f"((volatile uint32_t *)words)[{r(0, 5)}]", f"((volatile uint64_t *)longs)[{r(0, 5)}]")

    def area(self, size):
        """A pointer to `size` (at most 32) shared bytes."""
        r = self.number
        return self.pick(f"bytes + {r(0, 90 - size)}", f"(char *)words + {r(0, 16)}", f"(char *)longs + {r(0, 32)}",
                         f"(char *)halves + {r(0, 16)}", f"(char *)&mixed[{r(0, 1)}] + {r(0, 3)}",
                         f"box + {r(0, 32 - size)}")

    def size(self, most):
        n = self.number(1, most)
        return self.pick(str(n), f"zero + {n}")

    # ---- statements ----

    def simple(self):
        return self.pick(
            lambda: f"value += (uint64_t){self.place()};",
            lambda: f"value += (uint64_t){self.place()};",
            lambda: f"{self.place()} = value;",
            lambda: f"{self.place()} = {self.number(0, 99)};",
            lambda: f"{self.place()}++;",
            lambda: f"{self.place()} = {self.place()};",
        )()

    def library(self):
        size = self.size(24)
        most = int(size.split()[-1])
        call = self.pick("memcpy", "memset", "memmove", "memcmp", "text", "struct")
        if call == "memset":
            return f"memset({self.area(most)}, (int)value, {size});"
        if call == "memcmp":
            return f"value += (uint64_t)memcmp({self.area(most)}, {self.area(most)}, {size});"
        if call == "text":
            return self.pick("value += strlen(text);", f"strncpy(text, \"{'x' * self.number(0, 9)}\", 20);",
                             f"strcpy(text + {self.number(0, 20)}, \"{'y' * self.number(0, 9)}\");",
                             f"value += (uint64_t)strncmp(text, \"some\", {self.number(1, 9)});")
        if call == "struct":
            return self.pick("big[0] = big[1];", "mixed[0] = mixed[2];", "tight[1] = tight[0];",
                             "{ struct big copy = big[0]; copy.words[2] += value; big[1] = copy; }")
        # memcpy must not overlap.
        if call == "memcpy":
            return f"memcpy(bytes + {self.number(0, 40)}, (char *)longs + {self.number(0, 32)}, {size});"
        return f"memmove({self.area(most)}, {self.area(most)}, {size});"

    def atomic(self):
        bits = self.pick(8, 16, 32, 64)
        name = f"atomic{bits}[{self.number(0, 3)}]"
        order = self.pick("memory_order_relaxed", "memory_order_seq_cst")
        swap = (f"{{ uint{bits}_t old = {self.number(0, 7)}; "
                f"value += atomic_compare_exchange_strong(&{name}, &old, {self.number(0, 7)}); }}")
        return self.pick(
            f"value += atomic_load_explicit(&{name}, {order});",
            f"atomic_store_explicit(&{name}, 3, {order});",
            f"value += atomic_fetch_add_explicit(&{name}, 1, {order});",
            f"value += atomic_exchange(&{name}, 7);",
            swap if self.swaps else f"value += atomic_fetch_or(&{name}, 5);")

    def block(self):
        """A heap block that comes, is used, moves and goes. What is in a new one decides nothing."""
        k = self.number(0, 3)
        size = self.pick(1, 3, 8, 13, 24, 40, 64, 100, 256, 200000)
        use = self.pick(
            f"blocks[{k}][value % block_sizes[{k}]]++;",
            f"memset(blocks[{k}], (int)value, block_sizes[{k}] < 70 ? block_sizes[{k}] : 70);",
            f"sink = *(loose16 *)blocks[{k}];" if size > 1 else f"sink = blocks[{k}][0];",
            f"stir(blocks[{k}], block_sizes[{k}] < 20 ? block_sizes[{k}] : 20, value);")
        if "loose16" in use:
            use = f"if (block_sizes[{k}] > 1) {use}"
        change = self.pick(
            "", f"free(blocks[{k}]); blocks[{k}] = NULL;", f"free(blocks[{k}]); blocks[{k}] = NULL;",
            f"blocks[{k}] = realloc(blocks[{k}], {size}); block_sizes[{k}] = {size};")
        make = self.pick(f"malloc({size})", f"calloc(1, {size})")
        return (f"pthread_mutex_lock(&block_locks[{k}]); if (!blocks[{k}]) {{ blocks[{k}] = {make}; "
                f"block_sizes[{k}] = {size}; }} {use} {change} pthread_mutex_unlock(&block_locks[{k}]);")

    def errand(self):
        """A thread that works on this one's stack."""
        return ("{ struct errand errand = {own, value}; pthread_t id; "
                "if (pthread_create(&id, NULL, run_errand, &errand) == 0) { sem_wait(&errands); pthread_join(id, NULL); } "
                "value += errand.number; }")

    def pages(self):
        return ("{ unsigned char *fresh = mmap(NULL, 1 << %d, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, "
                "-1, 0); if (fresh != MAP_FAILED) { value = stir(fresh + 4090, 12, value); "
                "munmap(fresh, 1 << %d); } }" % ((self.number(13, 19),) * 2))

    def statement(self, depth=0):
        dice = self.number(0, 99)
        if dice < 45 or depth > 2:
            return self.simple()
        if dice < 57:
            return self.library()
        if dice < 67:
            return self.atomic()
        if dice < 75:
            return self.block()
        if dice < 77:
            return self.errand() if depth == 0 else self.simple()
        if dice < 78:
            return self.pages()
        if dice < 81:
            return f"value = stir(own + {self.number(0, 8)}, {self.number(1, 8)}, value);"
        if dice < 82:
            return "sched_yield();"
        if dice < 86:
            n = self.number(1, 30)
            return self.pick(f"value = walk({self.area(n)}, {n}, value);", f"value = walk(box, {n}, value);",
                             f"fill(box, {n}, value);", f"fill({self.area(n)}, {n}, value);")
        body = " ".join(self.statement(depth + 1) for _ in range(self.number(1, 4)))
        if dice < 90:
            if "pthread_mutex" in body or "locks[" in body:
                return body
            k = self.number(0, 2)
            return f"pthread_mutex_lock(&locks[{k}]); {body} pthread_mutex_unlock(&locks[{k}]);"
        if dice < 93:
            return f"if (value % {self.number(2, 4)} == 0) {{ {body} }}"
        if dice < 96:
            return (f"for (size_t i = 0; i < {self.number(3, 10)}; i++) "
                    f"{{ {self.pick('words[i]', 'bytes[i + 3]', 'longs[i]', 'box[i]', 'halves[i]')} "
                    f"{self.pick('+= value', '= value', '|= 1')}; {body} }}")
        return f"for (int i{depth} = 0; i{depth} < {self.number(2, 6)}; i{depth}++) {{ {body} }}"

    def function(self, index):
        lines = "\n".join("\t" + self.statement() for _ in range(self.number(3, 14)))
        return (f"static __attribute__((noinline)) uint64_t work{index}(unsigned char *box, uint64_t value)\n{{\n"
                f"\tunsigned char own[16] = {{0}};\n\tvolatile uint16_t sink;\n\t(void)sink;\n\tvalue = stir(own, 3, value);\n{lines}\n"
                f"\treturn value % 97;\n}}\n")

    def call(self):
        return f"value = work{self.number(0, self.functions - 1)}(boxes[{self.number(0, self.threads - 1)}], value);"

    # ---- threads: all at once, or in turns ----

    def racing_thread(self, index, phases):
        rounds = "\n".join(
            "\tfor (int round = 0; round < %d; round++) {\n%s\n\t}\n\tpthread_barrier_wait(&barrier);" % (
                self.number(1, 8), "\n".join("\t\t" + self.call() for _ in range(self.number(1, 4))))
            for _ in range(phases))
        return ("\tboxes[%d] = box;\n\tpthread_barrier_wait(&barrier);\n%s\n" % (index, rounds))

    def serial_thread(self, index, turns):
        """The first turns set up the boxes; nobody ends before the last turn is over."""
        steps = "\n".join(
            f"\tsem_wait(&turns[{k}]);\n" + "\n".join("\t" + self.call() for _ in range(self.number(1, 3))) +
            f"\n\tsem_post(&turns[{k + 1}]);" for k, who in enumerate(turns) if who == index and k >= self.threads)
        last = len(turns)
        return (f"\tboxes[{index}] = box;\n\tsem_post(&turns[{index + 1}]);\n{steps}\n"
                f"\tsem_wait(&turns[{last}]);\n\tsem_post(&turns[{last}]);\n")

    def thread(self, index, body):
        start = f"sem_post(&begun);\n\tsem_wait(&turns[{index}]);\n\t" if self.serial else ""
        return (f"static __attribute__((noinline)) void live{index}(void)\n{{\n\tunsigned char box[64] = {{0}};\n"
                f"\tuint64_t value = {index};\n{body}}}\n\n"
                f"static void *thread{index}(void *argument)\n{{\n\t(void)argument;\n\t{start}live{index}();\n"
                f"\treturn NULL;\n}}\n")

    def main(self, nturns):
        """Even the beginnings of serial threads do not overlap: libc allocates there."""
        begun = "\n\tsem_wait(&begun);" if self.serial else ""
        end = f"\tsem_wait(&turns[{nturns}]);\n\tsem_post(&turns[{nturns}]);\n" if self.serial else ""
        create = "\n".join(f"\tpthread_create(&ids[{i}], NULL, thread{i}, NULL);{begun}" for i in range(self.threads))
        return (f"int main(void)\n{{\n\tpthread_t ids[{self.threads}];\n\tmallopt(M_ARENA_MAX, {self.pick(1, 4)});\n"
                f"\tsem_init(&begun, 0, 0);\n\tsem_init(&errands, 0, 0);\n\tfor (int i = 0; i < {nturns + 1}; i++)\n\t\tsem_init(&turns[i], 0, 0);\n"
                f"\tpthread_barrier_init(&barrier, NULL, {self.threads});\n{create}\n"
                f"\tsem_post(&turns[0]);\n{end}\tfor (int i = 0; i < {self.threads}; i++)\n"
                f"\t\tpthread_join(ids[i], NULL);\n\treturn 0;\n}}\n")

    def text(self):
        parts = [HEAD]
        parts += [self.function(i) for i in range(self.functions)]
        turns = list(range(self.threads)) + [self.number(0, self.threads - 1) for _ in range(self.number(10, 60))]
        parts.append(f"static sem_t begun, turns[{len(turns) + 1}];\n")
        phases = self.number(1, 3)
        for i in range(self.threads):
            parts.append(self.thread(i, self.serial_thread(i, turns) if self.serial else self.racing_thread(i, phases)))
        parts.append(self.main(len(turns)))
        return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serial", action="store_true")
    parser.add_argument("seed", type=int)
    options = parser.parse_args()
    print(Program(options.seed, options.serial).text(), end="")


main()
