/* The experiment on a failing schedule, without a program: edges are found where an
 * exhaustive search finds them, claims are the nearest conflicts that a naive search
 * finds, and what is kept in stores is read back or refused.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diagnose/switches.h"
#include "loom/window.h"
#include "store/codec.h"

static uint64_t state = 7;

static uint64_t below(uint64_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % limit;
}

/* ---- edges ---- */

/* A program of two threads: T1 runs `at` points, T2 `gap` points, T1 the rest. It fails when the switch
 * is at low .. high of T1's points and T2 has done at least `least` of its own before T1 goes on; where
 * T1 has a lock, T2 stops after a point and T1 goes on. */
struct made_up {
	uint64_t low, high, least, lock, unlock; /* lock < unlock: held at lock + 1 .. unlock */
	uint64_t all, gap;
	unsigned tries;
	bool changes; /* inside of the lock it fails, too, but in the other thread */
	bool flaky;   /* every other time it passes */
};

static bool is_locked(const struct made_up *program, uint64_t at)
{
	return at > program->lock && at <= program->unlock;
}

static bool fails(const struct made_up *program, uint64_t at, uint64_t gap)
{
	return at >= program->low && at <= program->high && gap >= program->least && !is_locked(program, at);
}

static void set_turns(struct schedule *out, uint64_t at, uint64_t gap, uint64_t all, enum schedule_stop stop)
{
	*out = (struct schedule){ .turns = memory_alloc(3 * sizeof *out->turns), .nturns = 3 };
	out->turns[0] = (struct schedule_turn){
		.thread = 1, .points = at, .stop = STOP_PREEMPTED, .site = 1000 + at
	};
	out->turns[1] =
		(struct schedule_turn){ .thread = 2, .points = gap, .stop = stop, .site = 2000 + gap };
	out->turns[2] = (struct schedule_turn){ .thread = 1, .points = all > at ? all - at : 1 };
}

static uint64_t goal(const struct schedule_turn *turn, uint64_t most)
{
	uint64_t points = turn->points & ((UINT64_C(1) << 58) - 1);

	if (turn->points & SCHEDULE_ENDLESS || points > most)
		return most;
	return points;
}

static struct error *try_made_up(void *context, const struct schedule_turn *plan, size_t n, bool *same,
				 struct schedule *took, bool *over)
{
	struct made_up *program = context;
	uint64_t at = goal(&plan[0], program->all), gap = n > 1 ? goal(&plan[1], program->gap) : 0;
	bool locked = is_locked(program, at);

	program->tries++;
	*over = false;
	if (locked && gap > 1)
		gap = 1;
	*same = fails(program, at, gap) || (locked && program->changes);
	*same = *same && !(program->flaky && program->tries % 2 == 0);
	set_turns(took, at, gap, program->all,
		  locked               ? STOP_BLOCKED
		  : gap < program->gap ? STOP_PREEMPTED
				       : STOP_ENDED);
	if (locked && program->changes)
		took->turns[2].thread = 2;
	return NULL;
}

static void measure(struct made_up *program, uint64_t at, struct windows *out)
{
	_cleanup_(schedule_free) struct schedule schedule = { 0 };

	set_turns(&schedule, at, program->gap, program->all, STOP_ENDED);
	program->tries = 0;
	assert_null(windows_measure(&schedule, try_made_up, program, 300, out));
}

/* The naive twin: one position after the other. */
static uint64_t scan(const struct made_up *program, uint64_t at, int step)
{
	while (fails(program, at + (uint64_t)(int64_t)step, program->gap))
		at += (uint64_t)(int64_t)step;
	return at;
}

static uint64_t place_of(const struct window_edge *edge, size_t turn, uint64_t otherwise)
{
	return edge->moved ? edge->schedule.turns[turn].points : otherwise;
}

static void test_edges(void **unused)
{
	(void)unused;
	for (int round = 0; round < 500; round++) {
		struct made_up program = { .all = 40 + below(500), .gap = 2 + below(60) };
		_cleanup_(windows_free) struct windows windows = { 0 };

		program.low = 2 + below(program.all - 10);
		program.high = program.low + below(program.all - program.low - 2);
		program.least = 1 + below(program.gap);
		uint64_t at = program.low + below(program.high - program.low + 1);

		measure(&program, at, &windows);
		assert_int_equal(windows.n, 1);
		const struct window *window = &windows.items[0];

		assert_true(window->early.sharp && window->late.sharp && window->brief.sharp);
		assert_int_equal(place_of(&window->early, 0, at), scan(&program, at, -1));
		assert_int_equal(place_of(&window->late, 0, at), scan(&program, at, 1));
		assert_int_equal(place_of(&window->brief, 1, program.gap), program.least);
		/* What is passed over at the early edge, what stands at the late one. */
		assert_int_equal(window->early.site, 1000 + program.low - 1);
		assert_int_equal(window->late.site, 1000 + program.high);
		assert_int_equal(window->late.beyond.turns[0].points, program.high + 1);
		assert_true(program.tries < 130);
	}
}

/* A region that the others wait for lies inside, or at an end, or threads change roles in it. */
static void test_locked(void **unused)
{
	struct made_up program = {
		.all = 100, .gap = 10, .least = 4, .low = 20, .high = 60, .lock = 30, .unlock = 37
	};
	_cleanup_(windows_free) struct windows across = { 0 }, beside = { 0 }, changed = { 0 };

	(void)unused;
	measure(&program, 40, &across);
	assert_int_equal(place_of(&across.items[0].early, 0, 40), 20);
	assert_int_equal(across.items[0].early.site, 1019);
	program.low = 38;
	measure(&program, 40, &beside);
	assert_int_equal(place_of(&beside.items[0].early, 0, 40), 38);
	program.changes = true;
	measure(&program, 40, &changed);
	assert_int_equal(place_of(&changed.items[0].early, 0, 40), 38);
}

/* What does not come back when it is followed again is not measured. */
static void test_gone(void **unused)
{
	struct made_up program = { .all = 100, .gap = 10, .least = 4, .low = 20, .high = 60 };
	_cleanup_(windows_free) struct windows windows = { 0 };

	(void)unused;
	measure(&program, 70, &windows);
	assert_int_equal(windows.n, 0);
	/* Nor what comes by chance. */
	program.flaky = true;
	measure(&program, 30, &windows);
	assert_int_equal(windows.n, 0);
	program.flaky = false;
	/* No edge on that side. */
	program.low = 0;
	measure(&program, 30, &windows);
	assert_int_equal(windows.n, 1);
	assert_false(windows.items[0].early.sharp);
	assert_true(windows.items[0].late.sharp);
}

/* ---- claims ---- */

#define SITES 64u

struct stage {
	struct site sites[SITES];
	const struct site *numbered[SITES];
	struct atlas atlas;
	struct event events[200];
	struct observations run;
	struct schedule_turn turns[4];
	struct schedule schedule;
};

/* Site i has the id 100 + i. */
static void stage_make(struct stage *stage)
{
	*stage = (struct stage){ 0 };
	for (uint32_t i = 0; i < SITES; i++) {
		stage->sites[i] = (struct site){ .id = 100 + i,
						 .kind = SITE_READ,
						 .line = i,
						 .function = "f",
						 .file = "a.c",
						 .variable = "x" };
		stage->numbered[i] = &stage->sites[i];
		*map_put(&stage->atlas.by_id, 100 + i, NULL) = (uint64_t)(uintptr_t)&stage->sites[i];
	}
	stage->atlas.numbered = stage->numbered;
	stage->atlas.nnumbered = SITES;
	stage->run.events = stage->events;
	stage->schedule = (struct schedule){ .turns = stage->turns, .nturns = 3 };
	stage->turns[0] = (struct schedule_turn){ .thread = 1, .points = 1, .stop = STOP_PREEMPTED };
	stage->turns[1] = (struct schedule_turn){ .thread = 2, .points = 1, .stop = STOP_ENDED };
	stage->turns[2] = (struct schedule_turn){ .thread = 1, .points = 1 };
}

/* "1r5 2w5": thread, kind, address; sites are numbered as they come. */
static void stage_play(struct stage *stage, const char *text)
{
	while (*text) {
		char *end;
		struct event *event = &stage->events[stage->run.nevents];

		event->thread = (uint32_t)strtoul(text, &end, 10);
		event->write = *end == 'w';
		event->address = strtoul(end + 1, &end, 10) * 8;
		event->size = 8;
		event->site = (uint32_t)stage->run.nevents++;
		text = end + (*end == ' ');
	}
}

static void assert_claim(const struct hint *claim, enum finding_class class, size_t n, const uint64_t *sites)
{
	assert_int_equal(claim->class, class);
	assert_int_equal(claim->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(claim->steps[i].site, 100 + sites[i]);
}

/* A lost update, with accesses nearer to the switch that conflict but do not matter. */
static void test_moved(void **unused)
{
	struct stage stage;
	struct hints blind = { 0 }, seeing = { 0 };
	/*                0   1   2    3   4   5    6   7   8  */
	const char *text = "1r5 1r6 1r7 2w7 2w6 2w5 1r6 1r7 1w5";
	struct switch_moved one = { .turn = 0,
				    .before = 2,
				    .after = 2,
				    .meanwhile = SIZE_MAX,
				    .early = true,
				    .late = true,
				    .early_site = 100,
				    .late_site = 108 };
	const struct switches_moved moved = { &one, 1, 1 };

	(void)unused;
	stage_make(&stage);
	stage_play(&stage, text);
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, NULL, &blind);
	assert_true(blind.n && !blind.items[0].measured && blind.items[0].steps[0].site == 101);
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, &moved, &seeing);
	assert_claim(&seeing.items[0], FINDING_ATOMICITY, 3, (uint64_t[]){ 0, 5, 8 });
	assert_true(seeing.items[0].exact && seeing.items[0].measured && seeing.items[0].cost == 0);
	/* Where others could only begin at the edge, nothing before it is part of it. */
	stage.sites[40].kind = SITE_SYNC;
	stage.sites[40].variable = "pthread_create";
	one.early_site = 140;
	VEC_FREE(&seeing);
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, &moved, &seeing);
	assert_claim(&seeing.items[0], FINDING_ORDER, 2, (uint64_t[]){ 5, 8 });
	/* A lock that is given back is another matter. */
	stage.sites[40].variable = "pthread_mutex_unlock";
	VEC_FREE(&seeing);
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, &moved, &seeing);
	assert_claim(&seeing.items[0], FINDING_ATOMICITY, 3, (uint64_t[]){ 0, 5, 8 });
	VEC_FREE(&blind);
	VEC_FREE(&seeing);
	map_free(&stage.atlas.by_id);
}

/* What stands at both edges is meant, though a nearer conflict is in what the others had to do at least;
 * and an order is meant where both ends stand at edges and nothing else does. */
static void test_at_edges(void **unused)
{
	struct stage stage;
	struct hints claims = { 0 };
	struct switch_moved one = { .turn = 0,
				    .meanwhile = 1,
				    .early = true,
				    .late = true,
				    .early_site = 101,
				    .late_site = 104,
				    .brief_site = 102 };
	const struct switches_moved moved = { &one, 1, 1 };

	(void)unused;
	stage_make(&stage);
	stage_play(&stage, "1w5 1r5 2r5 2w5 1w5");
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, &moved, &claims);
	assert_claim(&claims.items[0], FINDING_ATOMICITY, 3, (uint64_t[]){ 1, 3, 4 });
	VEC_FREE(&claims);
	/* The early edge is a lock: what was done under it, far away and for a third thread. */
	stage.run.nevents = 0;
	stage.sites[40].kind = SITE_SYNC;
	stage.sites[40].variable = "pthread_mutex_unlock";
	one.early_site = 140;
	one.meanwhile = 2;
	one.brief_site = 102;
	one.late_site = 103;
	stage_play(&stage, "1w9 3r9 2r5 1w5");
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, &moved, &claims);
	assert_claim(&claims.items[0], FINDING_ORDER, 2, (uint64_t[]){ 2, 3 });
	VEC_FREE(&claims);
	map_free(&stage.atlas.by_id);
}

/* An atomic flag that was seen before its data was written is a matter of order. */
static void test_signal(void **unused)
{
	struct stage stage;
	struct hints claims = { 0 };

	(void)unused;
	stage_make(&stage);
	stage_play(&stage, "1w9 2r9 2r5 1w5");
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, NULL, &claims);
	assert_int_equal(claims.items[0].class, FINDING_MULTI_ATOMICITY);
	VEC_FREE(&claims);
	stage.sites[0].atomic = stage.sites[1].atomic = true;
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, NULL, &claims);
	assert_claim(&claims.items[0], FINDING_ORDER, 2, (uint64_t[]){ 2, 3 });
	VEC_FREE(&claims);
	map_free(&stage.atlas.by_id);
}

/* The run ended before the thread went on: a run that got further told what it does next. */
static void test_missing(void **unused)
{
	struct stage stage;
	struct hints claims = { 0 };
	struct switch_moved one = {
		.turn = 0,
		.meanwhile = SIZE_MAX,
		.late = true,
		.late_site = 150,
		.has_next = true,
		.next = { .address = 40, .size = 8, .site = 50, .thread = 1, .write = true }
	};
	const struct switches_moved moved = { &one, 1, 1 };

	(void)unused;
	stage_make(&stage);
	stage_play(&stage, "1r9 2r5 2r6");
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, &moved, &claims);
	assert_int_equal(claims.n, 1);
	assert_claim(&claims.items[0], FINDING_ORDER, 2, (uint64_t[]){ 1, 50 });
	assert_true(claims.items[0].steps[1].missing && claims.items[0].exact);
	VEC_FREE(&claims);
	map_free(&stage.atlas.by_id);
}

/* A long access meets the short ones that lie in it. */
static void test_ranges(void **unused)
{
	struct stage stage;
	struct hints claims = { 0 };

	(void)unused;
	stage_make(&stage);
	stage_play(&stage, "1w5 2w4 1r5");
	stage.events[1].size = 40;
	switches_claim(&stage.run, &stage.atlas, &stage.schedule, NULL, &claims);
	assert_true(claims.n > 0);
	assert_claim(&claims.items[0], FINDING_ATOMICITY, 3, (uint64_t[]){ 0, 1, 2 });
	VEC_FREE(&claims);
	map_free(&stage.atlas.by_id);
}

static bool clash(const struct event *a, const struct event *b)
{
	return a->address == b->address && (a->write || b->write);
}

/* The least distance at which two accesses around the gap conflict with what is in it, on one location
 * in a way that cannot be serialised; UINT_MAX: nowhere. */
static unsigned naive_triple(const struct stage *stage, size_t from, size_t to)
{
	unsigned best = UINT_MAX;

	for (size_t a = 0; a < from; a++)
		for (size_t c = to; c < stage->run.nevents; c++) {
			const struct event *x = &stage->events[a], *y = &stage->events[c];
			const struct event *first = NULL;

			for (size_t b = to; b-- > from;)
				if (clash(x, &stage->events[b]))
					first = &stage->events[b];
			if (!first || x->address != y->address || x->thread != y->thread ||
			    !clash(first, y) || (x->write && first->write && y->write))
				continue;
			unsigned cost = (unsigned)(from - 1 - a + c - to);

			best = cost < best ? cost : best;
		}
	return best;
}

static void test_nearest(void **unused)
{
	(void)unused;
	for (int round = 0; round < 1000; round++) {
		struct stage stage;
		struct hints claims = { 0 };
		size_t from = 1 + below(8), to = from + 1 + below(8), n = to + 1 + below(8);

		stage_make(&stage);
		for (size_t i = 0; i < n; i++)
			stage.events[i] = (struct event){ .address = 8 * below(6),
							  .size = 8,
							  .site = (uint32_t)i,
							  .thread = i >= from && i < to ? 2 : 1,
							  .write = below(3) == 0 };
		stage.run.nevents = n;
		switches_claim(&stage.run, &stage.atlas, &stage.schedule, NULL, &claims);
		unsigned naive = naive_triple(&stage, from, to), found = UINT_MAX;

		for (size_t i = 0; i < claims.n; i++) {
			const struct hint *claim = &claims.items[i];

			assert_true(i == 0 || claim->cost >= claims.items[i - 1].cost);
			if (claim->class == FINDING_ATOMICITY && found == UINT_MAX)
				found = claim->cost;
		}
		/* The best are kept, so one that is nearer than the last of them is among them. */
		if (found != UINT_MAX)
			assert_int_equal(found, naive);
		else if (naive != UINT_MAX)
			assert_true(claims.n == HINTS_MOST && claims.items[claims.n - 1].cost <= naive);
		VEC_FREE(&claims);
		map_free(&stage.atlas.by_id);
	}
}

/* ---- in stores ---- */

static void random_claims(struct hints *out)
{
	*out = (struct hints){ 0 };
	for (size_t n = below(HINTS_MOST + 1); n > 0; n--) {
		struct hint *claim = VEC_PUSH(out);

		*claim = (struct hint){ .n = below(HINT_STEPS + 1),
					.class = (enum finding_class)below(FINDING_CLASSES),
					.scenario = (unsigned)below(FINDING_SCENARIOS + 1),
					.cost = (unsigned)below(1000),
					.measured = below(2),
					.exact = below(2) };
		for (size_t i = 0; i < claim->n; i++)
			claim->steps[i] = (struct hint_step){ .site = below(UINT64_MAX),
							      .thread = (uint32_t)below(1000),
							      .write = below(2),
							      .missing = below(2) };
	}
}

static void test_codec(void **unused)
{
	(void)unused;
	for (int round = 0; round < 500; round++) {
		struct hints claims, read;
		_cleanup_(bytes_free) struct bytes bytes = { 0 };

		random_claims(&claims);
		codec_put_claims(&bytes, &claims);
		assert_true(codec_get_claims(bytes.data, bytes.n, &read));
		assert_int_equal(read.n, claims.n);
		for (size_t i = 0; i < read.n; i++) {
			assert_int_equal(read.items[i].cost, claims.items[i].cost);
			assert_int_equal(read.items[i].class, claims.items[i].class);
			assert_int_equal(read.items[i].n, claims.items[i].n);
			assert_true(read.items[i].exact == claims.items[i].exact);
			for (size_t j = 0; j < read.items[i].n; j++) {
				assert_true(read.items[i].steps[j].site == claims.items[i].steps[j].site);
				assert_true(read.items[i].steps[j].missing ==
					    claims.items[i].steps[j].missing);
			}
		}
		VEC_FREE(&read);
		/* Cut off, or with a byte too many: refused. */
		assert_false(codec_get_claims(bytes.data, bytes.n - 1, &read));
		bytes_put(&bytes, "", 1);
		assert_false(codec_get_claims(bytes.data, bytes.n, &read));
		/* Damaged: refused or read, and what is read is within its bounds. */
		bytes.data[below(bytes.n)] = (unsigned char)below(256);
		if (codec_get_claims(bytes.data, bytes.n, &read))
			for (size_t i = 0; i < read.n; i++)
				assert_true(read.items[i].n <= HINT_STEPS &&
					    read.items[i].class < FINDING_CLASSES);
		VEC_FREE(&read);
		VEC_FREE(&claims);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),    cmocka_unit_test(test_locked),
		cmocka_unit_test(test_gone),     cmocka_unit_test(test_moved),
		cmocka_unit_test(test_at_edges), cmocka_unit_test(test_signal),
		cmocka_unit_test(test_missing),  cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_nearest),  cmocka_unit_test(test_codec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
