/* The area stays mapped here while runs come and go. It is sealed against
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
#include "loom/spawn.h"

#define WIPE_MOST ((size_t)8 << 20) /* beyond this a new area is cheaper */

static void drop(struct reuse *reuse)
{
	if (reuse->at)
		munmap(reuse->at, AREA_SIZE);
	cleanup_close(&reuse->fd);
	reuse->at = NULL;
	reuse->fd = -1;
}

void reuse_free(struct reuse *reuse)
{
	drop(reuse);
	map_free(&reuse->seen);
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

		drop(reuse);
		return error_errno(failure, "cannot map a run area of %llu GiB (look at ulimit -v)",
				   (unsigned long long)(AREA_SIZE >> 30));
	}
	reuse->at = at;
	return NULL;
}

struct error *reuse_arm(struct reuse *reuse, const struct area_options *options,
			const struct area_control *control, uint64_t seed, int plan)
{
	if (!reuse->at)
		TRY(make(reuse, options, control, seed));
	struct area_head *head = head_of(reuse);

	head->options = *options;
	head->options.seed = seed;
	head->control = *control;
	if (control->nplan > AREA_TURNS)
		return error_new("a plan of %u turns is too long", control->nplan);
	return control->nplan ? harvest_read(plan, 0, schedule_of(reuse)->plan,
					     control->nplan * sizeof(struct area_turn))
			      : NULL;
}

static bool see(struct reuse *reuse, uint64_t hash)
{
	bool fresh;

	map_put(&reuse->seen, hash, &fresh);
	return fresh;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Site numbers are those of the process; all runs of one program number alike. */
static bool look_at_process(struct reuse *reuse, uint32_t number)
{
	const struct area_process *p = process_of(reuse, number);
	bool novel = false;

	for (uint32_t i = 0; i < least(p->npairs, AREA_PAIRS); i++) {
		const struct area_pair *pair = &p->pairs[i];
		uint32_t words[] = { 1,
				     number,
				     pair->kind,
				     pair->head_site,
				     pair->tail_site,
				     pair->head_thread,
				     pair->tail_thread,
				     0 };

		novel |= pair->state == AREA_VALID && see(reuse, hash_bytes(HASH_START, words, sizeof words));
	}
	for (uint32_t i = 0; i < least(p->npredecessors, AREA_PREDECESSORS); i++) {
		uint32_t words[] = { 2, number, p->predecessors[i].site, p->predecessors[i].before };

		novel |= p->predecessors[i].state == AREA_VALID &&
			 see(reuse, hash_bytes(HASH_START, words, sizeof words));
	}
	for (uint32_t i = 0; i < least(p->nedges, AREA_EDGES); i++) {
		const struct area_edge *edge = &p->edges[i];
		uint32_t words[] = {
			3,          number,      edge->source,
			edge->sink, edge->write, (uint32_t)edge->source_context << 16 | edge->sink_context
		};

		novel |= edge->state == AREA_VALID && see(reuse, hash_bytes(HASH_START, words, sizeof words));
	}
	return novel;
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
	struct reuse_look look = { .end = schedule->end <= END_DIVERGED ? schedule->end : END_NONE,
				   .points = schedule->points,
				   .contested = schedule->contested,
				   .processes = least(head->processes, AREA_PROCESSES),
				   .turns = least(schedule->nturns, AREA_TURNS) };

	look.odd = head->magic != AREA_MAGIC || head->processes > AREA_PROCESSES;
	for (uint32_t i = 0; i < look.processes; i++)
		look.novel |= look_at_process(reuse, i);
	look.hash = hash_turns(schedule, (uint32_t)look.turns);
	return look;
}

/* Wipes `n` items, or counts what that would be. */
static size_t wipe(void *items, size_t item, uint32_t n, uint32_t most, bool really)
{
	size_t size = item * least(n, most);

	if (really)
		memset(items, 0, size);
	return size;
}

static size_t wipe_process(struct area_process *p, bool really)
{
	size_t size =
		wipe(p->paths, 1, p->path_bytes, AREA_PATH_BYTES, really) +
		wipe(p->units, sizeof *p->units, p->nunits, AREA_UNITS, really) +
		wipe(p->pairs, sizeof *p->pairs, p->npairs, AREA_PAIRS, really) +
		wipe(p->predecessors, sizeof *p->predecessors, p->npredecessors, AREA_PREDECESSORS, really) +
		wipe(p->edges, sizeof *p->edges, p->nedges, AREA_EDGES, really) +
		wipe(p->events, sizeof *p->events, p->nevents, AREA_EVENTS, really) +
		wipe(p->couples, sizeof *p->couples, p->ncouples, AREA_COUPLES, really);

	if (really)
		memset(p, 0, offsetof(struct area_process, paths));
	return size;
}

static size_t wipe_schedule(struct area_schedule *schedule, bool really)
{
	size_t size = wipe(schedule->waits, sizeof *schedule->waits, schedule->nwaits, AREA_SLOTS, really) +
		      wipe(schedule->turns, sizeof *schedule->turns, schedule->nturns, AREA_TURNS, really);

	if (really) {
		memset(schedule->uncontrolled, 0, strnlen(schedule->uncontrolled, AREA_UNCONTROLLED_BYTES));
		memset(schedule, 0, offsetof(struct area_schedule, waits));
	}
	return size;
}

void reuse_clean(struct reuse *reuse)
{
	struct area_head *head = head_of(reuse);
	size_t size = wipe_schedule(schedule_of(reuse), false);
	uint32_t n = least(head->processes, AREA_PROCESSES);

	for (uint32_t i = 0; i < n; i++)
		size += wipe_process(process_of(reuse, i), false);
	if (size > WIPE_MOST || head->magic != AREA_MAGIC || head->processes > AREA_PROCESSES) {
		drop(reuse);
		return;
	}
	wipe_schedule(schedule_of(reuse), true);
	for (uint32_t i = 0; i < n; i++)
		wipe_process(process_of(reuse, i), true);
	*head = (struct area_head){ .magic = AREA_MAGIC, .version = AREA_VERSION };
}

int reuse_give(struct reuse *reuse)
{
	int fd = reuse->fd;

	munmap(reuse->at, AREA_SIZE);
	reuse->at = NULL;
	reuse->fd = -1;
	return fd;
}
