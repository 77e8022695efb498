/* Reads the schedule out of a run area. As in harvest.c nothing in the area is
 * believed before it was compared with a limit.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "loom/area.h"
#include "loom/harvest.h"

#define FRONT_BYTES offsetof(struct area_schedule, turns)
#define NUMBERS_BYTES offsetof(struct area_schedule, waits)

_Static_assert((int)POLICY_FREE == (int)SCHEDULE_FREE && (int)POLICY_CLOCK == (int)SCHEDULE_CLOCK &&
		       (int)WAIT_INPUT == (int)WAITING_INPUT && (int)TURN_YIELDED == (int)STOP_YIELDED &&
		       AREA_ENDLESS == SCHEDULE_ENDLESS && AREA_UNTIL == SCHEDULE_UNTIL &&
		       AREA_LOOSE == SCHEDULE_LOOSE && AREA_PLACE == SCHEDULE_PLACE &&
		       AREA_GUARDED == SCHEDULE_GUARDED,
	       "the model follows the area");
_Static_assert((int)FAULT_BEYOND == (int)MEMORY_BEYOND && (int)FAULT_DOUBLE_FREE == (int)MEMORY_DOUBLE_FREE,
	       "the model follows the area");

bool harvest_turn(const struct area_turn *from, struct schedule_turn *to)
{
	*to = (struct schedule_turn){ .thread = from->thread, .wake = from->kind == TURN_WAKE };
	if (to->wake)
		return true;
	to->stop = (enum schedule_stop)from->end;
	to->points = from->points;
	to->site = from->site;
	return from->kind == TURN_RUN && from->end <= TURN_YIELDED;
}

/* Up to the first unsound turn. */
static struct error *take_turns(int fd, size_t n, struct schedule *out)
{
	_cleanup_free_ struct area_turn *turns = memory_alloc(n * sizeof *turns);

	TRY(harvest_read(fd, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, turns), turns,
			 n * sizeof *turns));
	out->turns = memory_alloc(n * sizeof *out->turns);
	while (out->nturns < n && harvest_turn(&turns[out->nturns], &out->turns[out->nturns]))
		out->nturns++;
	return NULL;
}

/* The sites whose accesses were always points; up to the first that does not rise. */
static struct error *take_sites(int fd, const struct area_control *control, struct schedule *out)
{
	size_t n = control->nsites < AREA_POINT_SITES ? control->nsites : AREA_POINT_SITES;

	out->everywhere = control->everywhere;
	out->sites = memory_alloc((n + 1) * sizeof *out->sites);
	TRY(harvest_read(fd, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, sites), out->sites,
			 n * sizeof *out->sites));
	while (out->nsites < n && (!out->nsites || out->sites[out->nsites] > out->sites[out->nsites - 1]))
		out->nsites++;
	return NULL;
}

static void take_waits(const struct area_schedule *from, struct schedule *out)
{
	size_t n = from->nwaits < AREA_WAITS ? from->nwaits : AREA_WAITS;

	out->waits = memory_alloc(n * sizeof *out->waits);
	for (size_t i = 0; i < n; i++) {
		const struct area_wait *wait = &from->waits[i];

		if (wait->kind > WAIT_INPUT)
			continue;
		out->waits[out->nwaits++] = (struct schedule_wait){
			.thread = wait->thread,
			.kind = (enum schedule_waiting)wait->kind,
			.site = wait->site,
			.address = wait->address,
			.object = wait->object,
			.holder = wait->holder,
			.holder_site = wait->holder_site,
			.missed_site = wait->missed_site,
			.missed_thread = wait->missed_thread,
			.fork_site = wait->fork_site,
			.taken_site = wait->taken_site,
			.taken_thread = wait->taken_thread,
			.taker_site = wait->taker_site,
			.taker_thread = wait->taker_thread,
		};
	}
}

static void take_fault(const struct area_fault *from, struct schedule_fault *to)
{
	if (from->kind >= MEMORY_FAULTS)
		return;
	*to = (struct schedule_fault){
		.kind = (enum memory_fault)from->kind,
		.thread = from->thread,
		.write = from->write,
		.site = from->site,
		.offset = from->offset,
		.size = from->size,
		.block = from->block,
		.born_site = from->born_site,
		.freed_site = from->freed_site,
		.born_thread = from->born_thread,
		.freed_thread = from->freed_thread,
	};
}

/* All in front of the turns. Of the waits, which are many and mostly none, those that are counted. */
static struct error *read_front(int fd, struct area_schedule *front)
{
	const uint64_t names = offsetof(struct area_schedule, uncontrolled);

	TRY(harvest_read(fd, AREA_SCHEDULE_OFFSET, front, NUMBERS_BYTES));
	uint32_t waits = front->nwaits < AREA_WAITS ? front->nwaits : AREA_WAITS;

	TRY(harvest_read(fd, AREA_SCHEDULE_OFFSET + NUMBERS_BYTES, front->waits,
			 waits * sizeof *front->waits));
	return harvest_read(fd, AREA_SCHEDULE_OFFSET + names, front->uncontrolled, AREA_UNCONTROLLED_BYTES);
}

struct error *harvest_schedule(int fd, struct schedule *out, uint32_t *end)
{
	_cleanup_free_ struct area_schedule *front = memory_resize(NULL, FRONT_BYTES);
	struct area_head head;

	*out = (struct schedule){ 0 };
	TRY(harvest_read(fd, 0, &head, sizeof head));
	TRY(read_front(fd, front));
	*end = front->end <= END_LAST ? front->end : END_NONE;
	out->policy = head.control.policy < SCHEDULE_POLICIES ? (enum schedule_policy)head.control.policy
							      : SCHEDULE_FREE;
	out->depth = head.control.depth;
	out->seed = head.options.seed;
	out->points = front->points;
	out->contested = front->contested;
	out->early_ns = front->early_ns;
	out->early_thread = front->early_thread;
	out->diverged_turn = front->diverged_turn;
	out->diverged_thread = front->diverged_thread;
	out->diverged_site = front->diverged_site;
	out->counts = front->claim;
	if (head.control.claim.use != CLAIM_UNUSED && claim_is_sound(&head.control.claim)) {
		out->claim = memory_alloc(sizeof *out->claim);
		*out->claim = head.control.claim;
	}
	if (front->uncontrolled[0])
		out->uncontrolled =
			strndup(front->uncontrolled, strnlen(front->uncontrolled, AREA_UNCONTROLLED_BYTES));
	take_waits(front, out);
	if (front->end == END_MEMORY)
		take_fault(&front->fault, &out->fault);
	struct error *error = take_turns(fd, front->nturns < AREA_TURNS ? front->nturns : AREA_TURNS, out);

	if (!error)
		error = take_sites(fd, &head.control, out);
	if (error)
		schedule_free(out);
	return error;
}
