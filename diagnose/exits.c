/* Where groups end. Exits: where a thread that has done the first step of its role is, when
 * the last step will not come: the check said no, say. There the group is over, as a lock
 * would be given back on that way, too. Traced runs show both ways; an exit is the first
 * place of one without the last step that no way with it has. Gaps: the last step may be
 * that of a loop; how many accesses come between two times of it is seen there, too.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "diagnose/proposals.h"
#include "loom/watch.h"

#define PATH_MOST 64u
#define GAP_MOST (1u << 16)

struct path {                         /* of one thread in one role */
	bool within, behind;          /* between the first and the last step; behind the last one */
	uint32_t since;               /* accesses since that */
	uint32_t number;              /* among all ways, from 1 */
	uint32_t n, sites[PATH_MOST]; /* a loop's mostly once */
};

struct paths {
	const struct atlas *atlas;
	struct claim *claim;
	unsigned char *bits; /* steps by site number */
	uint32_t role, first, last;
	struct path *threads;
	uint32_t nthreads, npaths;
	uint32_t *walked; /* by site number: the way on which it was met last */
	struct map usual; /* sites on ways that have the last step */
	bool learns;      /* the first time through: these are collected */
	uint64_t gaps;    /* bit i: at most 2 to the i accesses from one time of the last step to the next */
};

static bool is_part(const struct claim *claim, uint64_t id)
{
	for (uint32_t i = 0; i < claim->nsteps; i++)
		if (claim_has_site(&claim->steps[i], id))
			return true;
	for (uint32_t i = 0; i < claim->nroles; i++)
		for (uint32_t j = 0; j < claim->roles[i].ndoors; j++)
			if (claim->roles[i].doors[j] == id)
				return true;
	return false;
}

static void note_exit(struct paths *paths, const struct path *path)
{
	struct claim_role *role = &paths->claim->roles[paths->role];

	for (uint32_t i = 0; i < path->n && !paths->learns && paths->usual.n; i++) {
		if (map_get(&paths->usual, path->sites[i]))
			continue;
		const struct site *site = atlas_number(paths->atlas, path->sites[i]);

		for (uint32_t j = 0; site && j < role->nexits; j++)
			if (role->exits[j] == site->id)
				return;
		if (site && !is_part(paths->claim, site->id) && role->nexits < CLAIM_EXITS)
			role->exits[role->nexits++] = site->id;
		return;
	}
}

/* Threads are stopped before the read of an update, so that is its time. */
static bool is_second_half(const struct paths *paths, const struct event *event)
{
	const struct site *site = atlas_number(paths->atlas, event->site);

	return event->write && site && site->kind == SITE_UPDATE;
}

/* An access behind the last step: is it that step again? */
static void walk_behind(struct paths *paths, struct path *path, unsigned steps)
{
	if (!path->behind || path->since++ == GAP_MOST) {
		path->behind = false;
	} else if (steps >> paths->last & 1) {
		paths->gaps |= UINT64_C(1) << (path->since > 1 ? 32 - __builtin_clz(path->since - 1) : 0);
		path->since = 0;
	} else if (steps >> paths->first & 1) {
		path->behind = false;
	}
}

static void walk_site(struct paths *paths, uint32_t thread, uint32_t site)
{
	struct path *path = &paths->threads[thread];

	if (site >= paths->atlas->nnumbered)
		return;
	unsigned steps = paths->bits[site];

	if (path->within && steps >> paths->last & 1) {
		for (uint32_t i = 0; i < path->n && paths->learns; i++)
			map_put(&paths->usual, path->sites[i], NULL);
		path->within = false;
		path->behind = true;
		path->since = 0;
	} else if (path->within && (steps >> paths->first & 1 || path->n == PATH_MOST)) {
		note_exit(paths, path);
		path->within = false;
	}
	if (steps >> paths->first & 1) {
		*path = (struct path){ .within = true,
				       .behind = path->behind,
				       .since = path->since,
				       .number = ++paths->npaths };
	} else if (path->within && path->n < PATH_MOST && paths->walked[site] != path->number) {
		paths->walked[site] = path->number;
		path->sites[path->n++] = site;
	}
}

static void walk_run(struct paths *paths, const struct observations *run, bool passed)
{
	size_t call = 0;

	paths->threads = memory_alloc((run->nthreads + 1) * sizeof *paths->threads);
	for (size_t i = 0; i <= run->nevents; i++) {
		for (; call < run->ncalls && run->calls[call].before <= i; call++)
			if (run->calls[call].thread < run->nthreads && run->calls[call].site != SITE_NIL)
				walk_site(paths, run->calls[call].thread, run->calls[call].site);
		if (i < run->nevents && run->events[i].thread < run->nthreads) {
			uint32_t site = run->events[i].site;

			walk_behind(paths, &paths->threads[run->events[i].thread],
				    is_second_half(paths, &run->events[i]) || site >= paths->atlas->nnumbered
					    ? 0
					    : paths->bits[site]);
			walk_site(paths, run->events[i].thread, site);
		}
	}
	/* Whoever was on a way when the run failed may have been on the usual one. */
	for (uint32_t i = 0; i < run->nthreads && passed; i++)
		if (paths->threads[i].within)
			note_exit(paths, &paths->threads[i]);
	free(paths->threads);
}

uint64_t claim_find_exits(const struct evidence *evidence, struct claim *claim)
{
	/* Every proposal is walked through whole traces, which may be long. */
	if (watch_now() > evidence->deadline)
		return 0;
	_cleanup_free_ unsigned char *bits = claim_site_bits(evidence->atlas, claim);
	uint64_t gaps = 0;

	for (uint32_t role = 0; role < claim->nroles; role++) {
		_cleanup_free_ uint32_t *walked =
			memory_alloc((evidence->atlas->nnumbered + 1) * sizeof *walked);
		struct paths paths = {
			.atlas = evidence->atlas, .claim = claim, .bits = bits, .role = role, .walked = walked
		};
		uint32_t steps = 0;

		for (uint32_t i = claim->nsteps; i-- > 0;)
			if (claim->steps[i].role == role) {
				paths.last = steps++ ? paths.last : i;
				paths.first = i;
			}
		for (int turn = 0; steps > 1 && turn < 2; turn++) {
			paths.learns = turn == 0;
			walk_run(&paths, evidence->run, false);
			for (size_t i = 0; i < evidence->npassed; i++)
				if (evidence->passed[i].story.traced)
					walk_run(&paths, evidence->passed[i].story.traced, true);
		}
		map_free(&paths.usual);
		gaps |= paths.gaps;
	}
	return gaps;
}
