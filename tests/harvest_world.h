/* Run areas made by hand for the tests of harvest: short ones in memory, the
 * files they become, random ones, and what a naive harvest finds in them. */
#ifndef TESTS_HARVEST_WORLD_H
#define TESTS_HARVEST_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loom/area.h"
#include "model/run.h"

#define MAX_PROCESSES 4
#define MAX_UNITS 6
#define MAX_ITEMS 120

/* A process area with short arrays. The counts are written as they are. */
struct process {
	uint32_t nunits, npairs, npredecessors, nedges, ncouples, path_bytes;
	uint64_t dropped, accesses, slot_order[4];
	char paths[64];
	struct area_unit units[MAX_UNITS];
	struct area_pair pairs[MAX_ITEMS];
	struct area_predecessor predecessors[MAX_ITEMS];
	struct area_edge edges[MAX_ITEMS];
	struct area_couple couples[MAX_ITEMS];
};

struct area {
	struct area_head head;
	struct process processes[MAX_PROCESSES];
};

/* The random numbers of a test: the same from the same seed. */
void random_seed(uint64_t seed);
uint64_t random_word(void);
uint32_t below(uint32_t limit);

/* An area of `processes` processes with paths and nothing else; the caller frees it. */
struct area *area_new(uint32_t processes);
void area_random_process(struct process *process);

/* Memory files, closed by the caller. */
int area_empty_file(uint64_t size);
int area_file(const struct area *area);
void area_put(int fd, uint64_t offset, const void *bytes, size_t size);
void area_put_process(int fd, uint32_t number, const struct process *process);

/* What the area teaches, found by linear searches. */
struct observations naive_harvest(const struct area *area);
void assert_same_observations(const struct observations *a, const struct observations *b);

#endif
