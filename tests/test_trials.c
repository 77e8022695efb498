/* Forcing and forbidding, held against small programs whose exit status tells whether the
 * claimed interleaving happened. The reference is plain: all schedules with at most two
 * forced switches, one by one. A forbidden claim never happens in any of them and needs no
 * giving up; a forced one happens in every run if some schedule has it.
 */
#include "tests/launched.h"

#include "loom/steer.h"
#include "loom/trials.h"
#include "model/atlas.h"

#define SOURCE_FOLDER "tests/claims"
#define POINTS_MOST 14 /* of a thread in any of the programs */

struct world {
	char *program, *source;
	struct atlas atlas;
	struct steer *steer;
	struct run failed;
	struct trials trials;
};

static char *read_source(const char *name)
{
	_cleanup_free_ char *path = memory_format("%s/" SOURCE_FOLDER "/%s.c", getenv("SOURCE"), name);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char *text = memory_alloc(1 << 16);

	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	return text;
}

static struct world begin(const char *name, const char *argument)
{
	struct world world = { .program = memory_format("/tmp/unsnarl-trials-%d", (int)getpid()),
			       .source = read_source(name) };
	_cleanup_free_ char *command =
		memory_format("\"$UNSNARL\" cc -O1 -g -pthread \"$SOURCE/" SOURCE_FOLDER "/%s.c\" -o %s",
			      name, world.program);
	char *argv[] = { world.program, (char *)argument, NULL };
	struct launch_options options = { .argv = argv, .timeout_s = 20, .still = true };

	assert_int_equal(system(command), 0);
	atlas_read_file(&world.atlas, world.program);
	assert_none(steer_start(&options, 1, &world.steer));
	return world;
}

static void end(struct world *world)
{
	steer_stop(world->steer);
	atlas_free(&world->atlas);
	unlink(world->program);
	free(world->program);
	free(world->source);
}

/* The line that has this comment. */
static uint32_t line_of(const struct world *world, const char *words)
{
	_cleanup_free_ char *comment = memory_format("/* %s */", words);
	const char *found = strstr(world->source, comment);
	uint32_t line = 1;

	assert_non_null(found);
	for (const char *at = world->source; at < found; at++)
		line += *at == '\n';
	return line;
}

static uint64_t site_at(const struct world *world, const char *words, enum site_kind kind)
{
	uint32_t line = line_of(world, words);

	for (size_t i = 0; i < world->atlas.nunits; i++)
		for (uint32_t j = 0; j < world->atlas.units[i].nsites; j++) {
			const struct site *site = &world->atlas.units[i].sites[j];

			if (site->line == line && site->kind == kind)
				return site->id;
		}
	fail_msg("no %s at line %u", site_kind_name(kind), line);
	return 0;
}

static void add_step(const struct world *world, struct claim *claim, uint32_t role, uint32_t location,
		     enum site_kind kind, const char *words)
{
	struct claim_step *step = &claim->steps[claim->nsteps++];

	*step = (struct claim_step){ .sites = { site_at(world, words, kind) },
				     .nsites = 1,
				     .role = role,
				     .location = location,
				     .thread = role + 1,
				     .write = kind == SITE_WRITE };
	if (claim->nroles <= role)
		claim->nroles = role + 1;
}

static void add_door(const struct world *world, struct claim *claim, uint32_t role, const char *words)
{
	claim->roles[role].doors[claim->roles[role].ndoors++] = site_at(world, words, SITE_SYNC);
}

/* ---- all schedules with at most two forced switches ---- */

struct counted {
	unsigned runs, failed, given_up, stuck, occurred, before, after, held, held_failed;
};

static void take(struct world *world, struct counted *counted)
{
	while (steer_pending(world->steer)) {
		struct steer_report report = { 0 };
		bool got;

		assert_none(steer_take(world->steer, 10, &report, &got));
		if (got) {
			counted->runs++;
			counted->failed += report.label == LABEL_FAIL;
			counted->stuck += report.outcome != OUTCOME_EXIT;
			counted->given_up += report.claim.given_up > 0;
			counted->occurred += report.claim.occurred > 0;
			counted->held += report.claim.held > 0;
			counted->held_failed += report.claim.held > 0 && report.label == LABEL_FAIL;
			counted->before += (report.claim.orders & CLAIM_BEFORE) > 0;
			counted->after += (report.claim.orders & CLAIM_AFTER) > 0;
		}
		steer_report_free(&report);
	}
}

static void try(struct world *world, const struct claim *claim, enum claim_use use, uint32_t first,
		uint64_t early, uint32_t second, uint64_t late)
{
	const struct schedule_turn plan[] = {
		{ .thread = 0, .stop = STOP_BLOCKED, .points = SCHEDULE_ENDLESS },
		{ .thread = first, .stop = STOP_PREEMPTED, .points = early | SCHEDULE_UNTIL },
		{ .thread = second, .stop = STOP_PREEMPTED, .points = late | SCHEDULE_UNTIL },
		{ .thread = first, .stop = STOP_BLOCKED, .points = SCHEDULE_ENDLESS },
	};
	/* Main's own accesses matter in some programs: there it takes part like the others. */
	size_t from = first == 0 || second == 0;
	struct steer_order order = { .policy = SCHEDULE_STAY,
				     .most_points = 100000,
				     .seed = early * 64 + late,
				     .spare = true,
				     .light = true };

	order.sites = point_sites_new(NULL, 0, true);
	order.nplan = 4 - from;
	order.plan = memory_alloc(sizeof plan);
	memcpy(order.plan, plan + from, order.nplan * sizeof *plan);
	if (claim) {
		order.claim = *claim;
		order.claim.use = use;
	}
	assert_none(steer_give(world->steer, &order));
}

static struct counted enumerate(struct world *world, const struct claim *claim, enum claim_use use,
				uint32_t one, uint32_t other)
{
	struct counted counted = { 0 };

	for (uint64_t early = 1; early <= POINTS_MOST; early++)
		for (uint64_t late = 1; late <= POINTS_MOST; late++) {
			try(world, claim, use, one, early, other, late);
			try(world, claim, use, other, early, one, late);
			take(world, &counted);
		}
	return counted;
}

/* Fails in some schedules; forbidden in none; forced in all. */
static void check(struct world *world, const struct claim *claim, uint32_t one, uint32_t other)
{
	assert_true(claim_is_sound(claim));
	struct counted plain = enumerate(world, NULL, CLAIM_UNUSED, one, other);
	struct counted without = enumerate(world, claim, CLAIM_FORBID, one, other);
	struct counted with = enumerate(world, claim, CLAIM_FORCE, one, other);

	assert_true(plain.failed > 0 && plain.failed < plain.runs);
	assert_int_equal(without.failed, 0);
	assert_int_equal(without.given_up, 0);
	assert_int_equal(without.stuck + with.stuck + plain.stuck, 0);
	assert_int_equal(with.failed, with.runs);
	assert_int_equal(with.occurred, with.runs);
	assert_int_equal(with.given_up, 0);
}

static struct claim update_claim(const struct world *world)
{
	struct claim claim = { .kind = CLAIM_ATOMIC };

	add_step(world, &claim, 0, 1, SITE_READ, "look");
	add_step(world, &claim, 1, 1, SITE_WRITE, "change");
	add_step(world, &claim, 0, 1, SITE_WRITE, "change");
	return claim;
}

static void test_update(void **state)
{
	struct world world = begin("update", NULL);
	struct claim claim = update_claim(&world);

	(void)state;
	check(&world, &claim, 1, 2);
	end(&world);
}

/* The group spans two critical sections of one lock. */
static void test_sections(void **state)
{
	struct world world = begin("update", "locked");
	struct claim claim = update_claim(&world);

	(void)state;
	add_door(&world, &claim, 0, "door");
	add_door(&world, &claim, 1, "door");
	check(&world, &claim, 1, 2);
	end(&world);
}

/* A lock for each thing: threads inside two of them do not keep each other out. */
static void test_two_locks(void **state)
{
	struct world world = begin("accounts", NULL);
	struct claim claim = update_claim(&world);

	(void)state;
	claim.steps[1] = claim.steps[2];
	claim.steps[1].role = 1;
	add_door(&world, &claim, 0, "door");
	add_door(&world, &claim, 1, "door");
	struct counted plain = enumerate(&world, NULL, CLAIM_UNUSED, 1, 2);
	struct counted without = enumerate(&world, &claim, CLAIM_FORBID, 1, 2);

	assert_true(plain.failed > 0);
	assert_int_equal(without.failed, 0);
	assert_int_equal(without.stuck, 0);
	assert_int_equal(without.given_up, 0);
	end(&world);
}

/* Both sides are groups, under a lock for each of their places, and one of them goes round a loop. */
static void test_many_locks(void **state)
{
	struct world world = begin("audit", NULL);
	struct claim claim = { .kind = CLAIM_ATOMIC };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_WRITE, "take");
	add_step(&world, &claim, 1, 1, SITE_READ, "look");
	add_step(&world, &claim, 1, 2, SITE_READ, "look");
	add_step(&world, &claim, 0, 2, SITE_WRITE, "give");
	add_door(&world, &claim, 0, "door of the giver");
	add_door(&world, &claim, 1, "door");
	for (uint32_t i = 0; i < 2; i++) {
		claim.roles[i].many_locks = 1;
		claim.roles[i].linger = 1;
	}
	claim.roles[1].passes_doors = 1;
	check(&world, &claim, 1, 2);
	end(&world);
}

/* Without the door somebody must be let go in some schedule, but nobody is left waiting. */
static void test_without_door(void **state)
{
	struct world world = begin("update", "locked");
	struct claim claim = update_claim(&world);
	struct counted without = enumerate(&world, &claim, CLAIM_FORBID, 1, 2);

	(void)state;
	assert_true(without.given_up > 0);
	assert_int_equal(without.stuck, 0);
	end(&world);
}

/* The others' steps before all of the group, then behind all of it: neither fails, and each is what was asked for. */
static void check_sides(struct world *world, const struct claim *claim)
{
	struct counted before = enumerate(world, claim, CLAIM_OTHERS_FIRST, 1, 2);
	struct counted after = enumerate(world, claim, CLAIM_GROUP_FIRST, 1, 2);

	assert_int_equal(before.failed + before.given_up + before.stuck + before.after, 0);
	assert_int_equal(before.before, before.runs);
	assert_int_equal(after.failed + after.given_up + after.stuck + after.before, 0);
	assert_int_equal(after.after, after.runs);
}

static void test_couple(void **state)
{
	struct world world = begin("couple", NULL);
	struct claim claim = { .kind = CLAIM_ATOMIC };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_WRITE, "first");
	add_step(&world, &claim, 1, 1, SITE_READ, "see first");
	add_step(&world, &claim, 1, 2, SITE_READ, "see second");
	add_step(&world, &claim, 0, 2, SITE_WRITE, "second");
	add_door(&world, &claim, 0, "door of the writer");
	add_door(&world, &claim, 1, "door of the reader");
	check(&world, &claim, 1, 2);
	check_sides(&world, &claim);
	end(&world);
}

static void test_early(void **state)
{
	struct world world = begin("early", NULL);
	struct claim claim = { .kind = CLAIM_ORDER };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_READ, "use");
	add_step(&world, &claim, 1, 1, SITE_WRITE, "give");
	claim.steps[0].thread = 1;
	claim.steps[1].thread = 0;
	check(&world, &claim, 0, 1);
	end(&world);
}

/* Both sides under one lock: who is too early waits before it takes the lock, or is let go inside. */
static void test_early_inside(void **state)
{
	struct world world = begin("early", "locked");
	struct claim claim = { .kind = CLAIM_ORDER };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_READ, "use");
	add_step(&world, &claim, 1, 1, SITE_WRITE, "give");
	claim.steps[0].thread = 1;
	claim.steps[1].thread = 0;
	assert_true(enumerate(&world, &claim, CLAIM_FORBID, 0, 1).given_up > 0);
	add_door(&world, &claim, 0, "door");
	add_door(&world, &claim, 1, "door of the giver");
	check(&world, &claim, 0, 1);
	end(&world);
}

/* A program that would end while a thread is held does so when that has done its step. */
static void test_held_at_the_end(void **state)
{
	struct world world = begin("leaver", NULL);
	struct claim claim = { .kind = CLAIM_ORDER_LAST };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_READ, "look");
	add_step(&world, &claim, 1, 1, SITE_WRITE, "change");
	claim.steps[0].thread = 1;
	claim.steps[1].thread = 0;
	struct counted without = enumerate(&world, &claim, CLAIM_FORBID, 0, 1);

	assert_true(without.held > 0);
	assert_int_equal(without.held_failed, without.held);
	assert_int_equal(without.given_up + without.stuck, 0);
	end(&world);
}

static void test_late(void **state)
{
	struct world world = begin("late", NULL);
	struct claim claim = { .kind = CLAIM_ORDER_LAST };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_WRITE, "take away");
	add_step(&world, &claim, 1, 1, SITE_READ, "use");
	claim.steps[0].thread = 0;
	claim.steps[1].thread = 1;
	check(&world, &claim, 0, 1);
	end(&world);
}

/* What the program itself orders cannot be forbidden: each run says so, and ends as ever. */
static void test_fixed(void **state)
{
	struct world world = begin("fixed", NULL);
	struct claim claim = { .kind = CLAIM_ATOMIC };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_WRITE, "before");
	add_step(&world, &claim, 1, 1, SITE_WRITE, "other");
	add_step(&world, &claim, 0, 1, SITE_READ, "after");
	struct counted without = enumerate(&world, &claim, CLAIM_FORBID, 0, 1);
	struct counted moved = enumerate(&world, &claim, CLAIM_GROUP_FIRST, 0, 1);

	assert_int_equal(without.given_up, without.runs);
	assert_int_equal(without.failed, 0);
	assert_int_equal(moved.given_up, moved.runs);
	end(&world);
}

/* What comes behind what it is to wait for has not come too early, forced or not. */
static void test_served(void **state)
{
	struct world world = begin("fixed", NULL);
	struct claim claim = { .kind = CLAIM_ORDER };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_READ, "after");
	add_step(&world, &claim, 1, 1, SITE_WRITE, "other");
	struct counted with = enumerate(&world, &claim, CLAIM_FORCE, 0, 1);

	assert_true(with.runs > 0);
	assert_int_equal(with.occurred + with.failed + with.stuck, 0);
	end(&world);
}

/* The program does not live to see the group's last step: it is torn when the other has come between. */
static void test_never(void **state)
{
	struct world world = begin("publish", NULL);
	struct claim claim = { .kind = CLAIM_ATOMIC };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_WRITE, "show");
	add_step(&world, &claim, 1, 1, SITE_READ, "look");
	add_step(&world, &claim, 1, 2, SITE_READ, "use");
	add_step(&world, &claim, 0, 2, SITE_WRITE, "finish");
	assert_int_equal(enumerate(&world, &claim, CLAIM_FORCE, 1, 2).occurred, 0);
	claim.steps[3].occurrence = CLAIM_NEVER;
	check(&world, &claim, 1, 2);
	check_sides(&world, &claim); /* who comes first looks, and leaves */
	end(&world);
}

/* A run that is still at work when patience ends has not passed. */
static void test_slow(void **state)
{
	struct world world = begin("busy", NULL);
	struct trials trials = { .steer = world.steer, .failed = &world.failed, .seed = 1 };
	struct trials_counts counts = { 0 };

	(void)state;
	assert_none(trials_run(&trials, NULL, CLAIM_UNUSED, TRIALS_ANY, 0, 2, false, &counts));
	assert_int_equal(counts.runs, 2);
	assert_int_equal(counts.given_up, 2);
	assert_false(trials_are_kept(&counts));
	trials_free(&trials);
	end(&world);
}

/* Both roles have two sections, of other locks, and the log is written by the same lines: a group does not end at the
 * second lock, which is a door for others, and does not leave its thread in the middle of the second section. */
static void test_entries(void **state)
{
	struct world world = begin("entries", NULL);
	struct claim claim = { .kind = CLAIM_ATOMIC };

	(void)state;
	add_step(&world, &claim, 0, 1, SITE_WRITE, "put");
	add_step(&world, &claim, 1, 1, SITE_WRITE, "clear");
	add_step(&world, &claim, 1, 2, SITE_WRITE, "log");
	add_step(&world, &claim, 0, 2, SITE_READ, "look");
	add_door(&world, &claim, 1, "door of the log");
	claim.roles[0].reach = claim.roles[1].reach = 4;
	claim.roles[1].passes_doors = 1;
	assert_true(claim_is_sound(&claim));
	struct counted plain = enumerate(&world, NULL, CLAIM_UNUSED, 1, 2);
	struct counted without = enumerate(&world, &claim, CLAIM_FORBID, 1, 2);

	assert_true(plain.failed > 0 && plain.failed < plain.runs);
	assert_int_equal(without.failed + without.given_up + without.stuck, 0);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_update),       cmocka_unit_test(test_sections),
		cmocka_unit_test(test_many_locks),   cmocka_unit_test(test_two_locks),
		cmocka_unit_test(test_without_door), cmocka_unit_test(test_couple),
		cmocka_unit_test(test_early),        cmocka_unit_test(test_early_inside),
		cmocka_unit_test(test_late),         cmocka_unit_test(test_held_at_the_end),
		cmocka_unit_test(test_fixed),        cmocka_unit_test(test_served),
		cmocka_unit_test(test_never),        cmocka_unit_test(test_slow),
		cmocka_unit_test(test_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
