/* What the files that read a run area share: one struct harvest from the first
 * process of a run to its last. For loom/harvest*.c alone. */
#ifndef LOOM_HARVEST_PARTS_H
#define LOOM_HARVEST_PARTS_H

#include "base/hash.h"
#include "base/memory.h"
#include "loom/area.h"
#include "loom/harvest.h"

#define HARVEST_CHUNK_BYTES 65536u

/* Numbers first .. last of the process at hand are common, common + 1, … of the run. */
struct span {
	uint32_t first, last, common;
};

/* A file in which there are places. */
struct module {
	const char *path; /* NULL: unsound */
	uint64_t build;
};

struct harvest {
	int fd;
	void *chunk;
	uint32_t threads; /* thread numbers given out: all others are unsound */
	uint32_t next;    /* first free common number */
	uint64_t dropped, accesses;
	uint64_t machine[MACHINE_COUNTS];
	VEC(struct run_unit) units;
	VEC(struct pair) pairs;
	VEC(struct couple) couples;
	VEC(struct predecessor) predecessors;
	VEC(struct edge) edges;
	VEC(struct event) events;
	uint32_t ntold; /* accesses that were asked for */
	VEC(struct told_access) told;
	VEC(struct block) blocks;
	VEC(struct call) calls;
	/* Index + 1 of what is already listed: by unit hash, by identity. */
	struct map unit_at, pair_at, predecessor_at, edge_at;
	/* The process at hand: all in front of its arrays, paths, numbering. */
	void *front;
	char *paths;
	size_t path_bytes;
	size_t item;      /* number of the entry at hand in its array */
	uint32_t *places; /* of its pairs by number: where they are listed, UINT32_MAX = nowhere */
	size_t nplaces;
	VEC(struct module) modules; /* of the binary loom */
	VEC(struct span) spans;     /* ascending, apart from each other */
	struct span recent;         /* the span of the last number looked up */
};

static inline void harvest_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* Hands each of the counted items at `offset` to `take`; what is beyond the limit counts as dropped. */
struct error *harvest_each(struct harvest *h, uint64_t offset, size_t item_size, uint32_t count,
			   uint32_t limit, void (*take)(struct harvest *h, const void *item));

/* An entry that was claimed and never finished, or withdrawn, teaches nothing and
 * was not lost either. Any other state is unsound. */
bool harvest_is_valid(struct harvest *h, uint32_t state);

/* Takes the units and places of the process at `base` and numbers their sites for the run. */
struct error *harvest_take_sites(struct harvest *h, const struct area_process *p, uint64_t base);

/* The common number of a process-wide one; false when no unit has it. */
bool harvest_site_of(struct harvest *h, uint32_t number, uint32_t *common);

#endif
