/* The area stays mapped here, and in the server, while runs come and go. It is sealed against
 * shrinking, so that reading it cannot fault, whatever a program does to the
 * file; counts are bounded before they are used.
 */
#include "loom/reuse.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loom/harvest.h"
#include "model/place.h"
#include "loom/spawn.h"

#define WIPE_MOST ((size_t)8 << 20)   /* beyond this a new area is cheaper */
#define COPY_MOST ((size_t)256 << 10) /* beyond this handing it out is */

void reuse_drop(struct reuse *reuse)
{
	if (reuse->at)
		munmap(reuse->at, AREA_SIZE);
	cleanup_close(&reuse->fd);
	reuse->at = NULL;
	reuse->fd = -1;
}

void reuse_free(struct reuse *reuse)
{
	reuse_drop(reuse);
	set_free(&reuse->seen);
}

static struct area_process *process_of(const struct reuse *reuse, uint32_t i)
{
	return (struct area_process *)(void *)(reuse->at + AREA_PROCESS_OFFSET(i));
}

static struct area_schedule *schedule_of(const struct reuse *reuse)
{
	return (struct area_schedule *)(void *)(reuse->at + AREA_SCHEDULE_OFFSET);
}

static struct area_head *head_of(const struct reuse *reuse)
{
	return (struct area_head *)(void *)reuse->at;
}

static struct error *make(struct reuse *reuse, const struct area_options *options,
			  const struct area_control *control, uint64_t seed)
{
	TRY(spawn_area(options, control, seed, &reuse->fd));
	void *at = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, reuse->fd, 0);

	if (at == MAP_FAILED) {
		int failure = errno;

		reuse_drop(reuse);
		return error_errno(failure, "cannot map a run area of %llu GiB (look at ulimit -v)",
				   (unsigned long long)(AREA_SIZE >> 30));
	}
	reuse->at = at;
	reuse->number++;
	return NULL;
}

struct error *reuse_arm(struct reuse *reuse, const struct area_options *options,
			const struct area_control *control, uint64_t seed, int plan, int sites)
{
	if (!reuse->at)
		TRY(make(reuse, options, control, seed));
	struct area_head *head = head_of(reuse);

	head->options = *options;
	head->options.seed = seed;
	head->control = *control;
	if (control->nplan > AREA_TURNS)
		return error_new("a plan of %u turns is too long", control->nplan);
	if (control->nsites > AREA_POINT_SITES)
		return error_new("a set of %u sites is too large", control->nsites);
	if (control->nsites)
		TRY(harvest_read(sites, 0, schedule_of(reuse)->sites, control->nsites * sizeof(uint64_t)));
	return control->nplan ? harvest_read(plan, 0, schedule_of(reuse)->plan,
					     control->nplan * sizeof(struct area_turn))
			      : NULL;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Hashes of observations on their way into the set. */
#define BATCH 128
struct batch {
	struct set *seen;
	uint64_t hashes[BATCH];
	size_t n;
	bool novel;
};

static void look_up(struct batch *batch)
{
	batch->novel |= set_add(batch->seen, batch->hashes, batch->n) > 0;
	batch->n = 0;
}

static void see(struct batch *batch, const uint32_t *words, size_t size)
{
	if (batch->n == BATCH)
		look_up(batch);
	batch->hashes[batch->n++] = hash_bytes(HASH_START, words, size);
}

/* Site numbers are those of the process. Programs with hooks number alike in all runs; on the binary loom sites
 * are numbered as they come, so their places name them. */
static uint32_t name_of(const struct area_process *p, uint32_t site)
{
	if (!site || site > least(p->nplaces, AREA_PLACES))
		return site;
	const struct area_place *place = &p->places[site - 1];
	uint64_t hash = code_place_mix(
		code_place_mix(code_place_mix(code_place_mix(0, place->module), place->address), place->kind),
		place->what);

	return (uint32_t)(hash ^ hash >> 32);
}

static bool look_at_process(struct reuse *reuse, uint32_t number)
{
	const struct area_process *p = process_of(reuse, number);
	struct batch batch;

	batch.seen = &reuse->seen;
	batch.n = 0;
	batch.novel = false;
	for (uint32_t i = 0, n = least(p->npairs, AREA_PAIRS); i < n; i++) {
		const struct area_pair *pair = &p->pairs[i];
		uint32_t words[] = { 1,
				     number,
				     pair->kind,
				     name_of(p, pair->head_site),
				     name_of(p, pair->tail_site),
				     pair->head_thread,
				     pair->tail_thread,
				     pair->open };

		if (pair->state == AREA_VALID)
			see(&batch, words, sizeof words);
	}
	for (uint32_t i = 0, n = least(p->npredecessors, AREA_PREDECESSORS); i < n; i++) {
		uint32_t words[] = { 2, number, name_of(p, p->predecessors[i].site),
				     name_of(p, p->predecessors[i].before) };

		if (p->predecessors[i].state == AREA_VALID)
			see(&batch, words, sizeof words);
	}
	for (uint32_t i = 0, n = least(p->nedges, AREA_EDGES); i < n; i++) {
		const struct area_edge *edge = &p->edges[i];
		uint32_t words[] = { 3,
				     number,
				     name_of(p, edge->source),
				     name_of(p, edge->sink),
				     edge->write,
				     (uint32_t)edge->source_context << 16 | edge->sink_context };

		if (edge->state == AREA_VALID)
			see(&batch, words, sizeof words);
	}
	look_up(&batch);
	return batch.novel;
}

static uint64_t hash_turns(const struct area_schedule *schedule, uint32_t n)
{
	uint64_t hash = HASH_START;
	struct schedule_turn turn;

	for (uint32_t i = 0; i < n && harvest_turn(&schedule->turns[i], &turn); i++)
		hash = schedule_hash_turn(hash, &turn);
	return n ? hash : 0;
}

struct reuse_look reuse_look(struct reuse *reuse)
{
	const struct area_schedule *schedule = schedule_of(reuse);
	const struct area_head *head = head_of(reuse);
	struct reuse_look look = { .end = schedule->end <= END_LAST ? schedule->end : END_NONE,
				   .fault = schedule->fault.kind <= FAULT_BEYOND ? schedule->fault.kind
										 : FAULT_NONE,
				   .points = schedule->points,
				   .contested = schedule->contested,
				   .bound = head->bound != 0,
				   .processes = least(head->processes, AREA_PROCESSES),
				   .turns = least(schedule->nturns, AREA_TURNS),
				   .claim = schedule->claim };

	look.odd = head->magic != AREA_MAGIC || head->processes > AREA_PROCESSES;
	for (uint32_t i = 0; i < look.processes; i++)
		look.novel |= look_at_process(reuse, i);
	look.hash = hash_turns(schedule, (uint32_t)look.turns);
	return look;
}

/* A part of the area that the run may have written. */
struct extent {
	uint64_t offset;
	size_t size;
};
#define EXTENTS_MOST (1 + 10 * AREA_PROCESSES + 5)
struct extents {
	struct extent items[EXTENTS_MOST];
	size_t n, bytes;
};

static void extend(struct extents *extents, uint64_t offset, size_t size)
{
	if (!size)
		return;
	extents->items[extents->n++] = (struct extent){ offset, size };
	extents->bytes += size;
}

/* What is in front of a process's logs. In the first process slots are used in order. */
static size_t front_size(const struct area_process *p, bool first)
{
	size_t slots = first ? least(p->created, AREA_SLOTS - 1) + 1 : AREA_SLOTS;

	return offsetof(struct area_process, slot_order) + slots * sizeof *p->slot_order;
}

static void extend_process(struct extents *extents, const struct area_process *p, uint64_t offset)
{
	const struct {
		size_t at, item;
		uint32_t n, most;
	} logs[] = {
		{ offsetof(struct area_process, paths), 1, p->path_bytes, AREA_PATH_BYTES },
		{ offsetof(struct area_process, units), sizeof *p->units, p->nunits, AREA_UNITS },
		{ offsetof(struct area_process, pairs), sizeof *p->pairs, p->npairs, AREA_PAIRS },
		{ offsetof(struct area_process, predecessors), sizeof *p->predecessors, p->npredecessors,
		  AREA_PREDECESSORS },
		{ offsetof(struct area_process, edges), sizeof *p->edges, p->nedges, AREA_EDGES },
		{ offsetof(struct area_process, events), sizeof *p->events, p->nevents, AREA_EVENTS },
		{ offsetof(struct area_process, couples), sizeof *p->couples, p->ncouples, AREA_COUPLES },
		{ offsetof(struct area_process, modules), sizeof *p->modules, p->nmodules, AREA_MODULES },
		{ offsetof(struct area_process, places), sizeof *p->places, p->nplaces, AREA_PLACES },
	};

	extend(extents, offset, front_size(p, offset == AREA_PROCESS_OFFSET(0)));
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
		extend(extents, offset + logs[i].at, logs[i].item * least(logs[i].n, logs[i].most));
}

/* All that a run leaves, by its own counts, and the sites that were points in it. The plan is not the run's. */
static void find_extents(const struct reuse *reuse, struct extents *extents)
{
	const struct area_schedule *schedule = schedule_of(reuse);
	uint32_t processes = least(head_of(reuse)->processes, AREA_PROCESSES);

	extents->n = extents->bytes = 0;
	for (uint32_t i = 0; i < processes; i++)
		extend_process(extents, process_of(reuse, i), AREA_PROCESS_OFFSET(i));
	extend(extents, AREA_SCHEDULE_OFFSET,
	       offsetof(struct area_schedule, waits) +
		       sizeof *schedule->waits * least(schedule->nwaits, AREA_WAITS));
	extend(extents, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, uncontrolled),
	       strnlen(schedule->uncontrolled, AREA_UNCONTROLLED_BYTES));
	extend(extents, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, turns),
	       sizeof *schedule->turns * least(schedule->nturns, AREA_TURNS));
	extend(extents, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, sites),
	       sizeof *schedule->sites * least(head_of(reuse)->control.nsites, AREA_POINT_SITES));
}

void reuse_clean(struct reuse *reuse)
{
	struct area_head *head = head_of(reuse);
	struct extents used;

	find_extents(reuse, &used);
	if (used.bytes > WIPE_MOST || head->magic != AREA_MAGIC || head->processes > AREA_PROCESSES) {
		reuse_drop(reuse);
		return;
	}
	for (size_t i = 0; i < used.n; i++)
		memset(reuse->at + used.items[i].offset, 0, used.items[i].size);
	*head = (struct area_head){ .magic = AREA_MAGIC, .version = AREA_VERSION };
}

static bool write_all(int fd, const char *from, struct extent to)
{
	while (to.size) {
		ssize_t done = pwrite(fd, from + to.offset, to.size, (off_t)to.offset);

		if (done <= 0 && errno != EINTR)
			return false;
		if (done > 0) {
			to.offset += (uint64_t)done;
			to.size -= (size_t)done;
		}
	}
	return true;
}

/* A file with nothing but what the run left, as harvest wants it; -1 when that does not succeed. */
static int copy(const struct reuse *reuse, const struct extents *used)
{
	int fd = memfd_create("unsnarl-run", MFD_CLOEXEC);
	bool whole = fd >= 0 && ftruncate(fd, (off_t)AREA_SIZE) == 0 &&
		     write_all(fd, reuse->at, (struct extent){ 0, sizeof(struct area_head) });

	for (size_t i = 0; i < used->n && whole; i++)
		whole = write_all(fd, reuse->at, used->items[i]);
	if (whole || fd < 0)
		return fd;
	close(fd);
	return -1;
}

int reuse_give(struct reuse *reuse)
{
	struct extents used;

	find_extents(reuse, &used);
	int fd = used.bytes <= COPY_MOST ? copy(reuse, &used) : -1;

	if (fd >= 0) {
		reuse_clean(reuse);
		return fd;
	}
	fd = reuse->fd;
	munmap(reuse->at, AREA_SIZE);
	reuse->at = NULL;
	reuse->fd = -1;
	return fd;
}
