/* One area for all runs of a candidate: it is written before each run and read after
 * it, so that what a program leaves there can do no harm to the next. */
#include "loom/tester.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "loom/watch.h" /* watch_now */
#include "loom/world/world.h"

/* Orders in which each delay is tried. Who goes first by chance finds what needs changing roles. */
static const enum active_order orders[] = { ACTIVE_LOWER_FIRST, ACTIVE_HIGHER_FIRST, ACTIVE_ANY_FIRST };
#define ORDERS (sizeof orders / sizeof *orders)

/* Delays with which threads are held behind the locks they take, too: who holds one that the other needs is held in
 * vain, so only short ones. */
#define BEHIND_STEPS 5u

/* How often threads of one run are held in vain: less where it takes long. */
#define LATE_SHORT 8u
#define LATE_LONG 3u
#define LATE_BEHIND 48u /* behind locks, where the partner may hold another lock of an array */
#define LONG_MS 64u

struct tester {
	const struct tester_options *options;
	struct active_area *area;
	char path[64];
	double end; /* 0 = none */
};

static struct error *area_make(struct tester *tester)
{
	int fd = memfd_create("unsnarl-active", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof *tester->area) < 0)
		return error_errno(errno, "cannot make the active tester's area");
	void *area = mmap(NULL, sizeof *tester->area, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (area == MAP_FAILED)
		return error_errno(errno, "cannot map the active tester's area");
	tester->area = area;
	/* Whoever opens this path gets the same memory, as long as we live. */
	snprintf(tester->path, sizeof tester->path, "/proc/%d/fd/%d", (int)getpid(), fd);
	if (setenv(ACTIVE_ENVIRONMENT, tester->path, 1) < 0)
		return error_errno(errno, "cannot tell the program of the active tester's area");
	return NULL;
}

static void area_free(struct tester *tester)
{
	if (!tester->area)
		return;
	unsetenv(ACTIVE_ENVIRONMENT);
	munmap(tester->area, sizeof *tester->area);
	close(atoi(strrchr(tester->path, '/') + 1));
}

/* What a run that ends early leaves behind must not be found by the next one. */
static bool may_end_early(const struct launch_options *launch)
{
	return launch->world && !launch->world->share_files && !(launch->world->met & WORLD_SAME_FILES);
}

static void area_fill(struct tester *tester, unsigned delay_ms, const struct tester_way *way, uint64_t seed)
{
	const struct tester_options *options = tester->options;
	struct active_area *area = tester->area;
	bool crowded = way->behind && !options->alone;

	*area = (struct active_area){ .magic = ACTIVE_MAGIC,
				      .version = ACTIVE_VERSION,
				      .nsites = options->nsites,
				      .delay_us = delay_ms * 1000,
				      .late_most = crowded              ? LATE_BEHIND
						   : delay_ms < LONG_MS ? LATE_SHORT
									: LATE_LONG,
				      .order = way->order,
				      .behind = way->behind,
				      .scattered = way->scattered,
				      .stays = way->stays,
				      .ends_idle = may_end_early(&options->launch),
				      .seed = seed };
	for (unsigned i = 0; i < options->nsites && i < ACTIVE_SITES; i++) {
		area->sites[i].writes = options->sites[i].writes;
		area->sites[i].frees = options->sites[i].frees;
		area->sites[i].cross = options->sites[i].cross;
	}
}

struct counts {
	uint64_t reached, met, late;
};

static struct counts area_counts(const struct tester *tester)
{
	struct counts counts = { 0 };

	for (unsigned i = 0; i < ACTIVE_SITES; i++) {
		counts.reached += tester->area->sites[i].reached;
		counts.late += tester->area->sites[i].late;
	}
	counts.met = tester->area->meetings;
	return counts;
}

static bool is_over(const struct tester *tester)
{
	return (tester->options->stop && tester->options->stop()) ||
	       (tester->end > 0 && watch_now() > tester->end);
}

/* Runs without delay: what fails so cannot be blamed on an order. */
static struct error *run_plain(struct tester *tester, struct tester_result *out)
{
	for (unsigned i = 0; i < tester->options->plain; i++) {
		struct run run = { 0 };

		area_fill(tester, 0, &(struct tester_way){ .order = ACTIVE_LOWER_FIRST }, 1);
		TRY(launch_run(&tester->options->launch, &run));
		out->plain++;
		out->plain_failed += run.label == LABEL_FAIL;
		out->plain_s += run.wall_s;
		out->plain_cpu_s += run.cpu_s;
		run_free(&run);
	}
	out->verdict = TESTER_NOT_REPRODUCED;
	if (out->plain && out->plain_failed == out->plain)
		out->verdict = TESTER_ALWAYS_FAILS;
	out->settled = out->verdict == TESTER_ALWAYS_FAILS;
	return NULL;
}

/* What threads were held does not count for the time-out. */
static struct launch_options with_time(const struct tester *tester, unsigned delay_ms)
{
	struct launch_options launch = tester->options->launch;

	if (launch.timeout_s > 0)
		launch.timeout_s +=
			((delay_ms >> BEHIND_STEPS ? LATE_SHORT : LATE_BEHIND) + 2) * delay_ms / 1000.0 + 1;
	return launch;
}

static struct error *run_once(struct tester *tester, unsigned delay_ms, const struct tester_way *way,
			      struct tester_result *out, struct counts *counts)
{
	struct run run = { 0 };

	area_fill(tester, delay_ms, way, tester->options->seed + out->runs);
	const struct launch_options launch = with_time(tester, delay_ms);

	TRY(launch_run(&launch, &run));
	*counts = area_counts(tester);
	out->runs++;
	out->delay_ms = delay_ms;
	out->way = *way;
	out->delayed_s += run.wall_s;
	out->delayed_cpu_s += run.cpu_s;
	out->reached += counts->reached;
	out->met += counts->met;
	if (tester->options->progress)
		tester->options->progress(tester->options->context, delay_ms, out->runs);
	/* Only when two met has the run anything to do with the candidate. */
	if (run.label == LABEL_FAIL && counts->met && !tester->options->until_met) {
		out->verdict = TESTER_HARMFUL;
		out->failure = run;
		return NULL;
	}
	run_free(&run);
	return NULL;
}

/* The same delay and order again, a few times; a run that hangs takes all the time it is given, so only once. */
static struct error *run_again(struct tester *tester, struct tester_result *out)
{
	unsigned most = out->failure.outcome == OUTCOME_TIMEOUT && tester->options->again
				? 1
				: tester->options->again;

	for (unsigned i = 0; i < most && !is_over(tester); i++) {
		struct run run = { 0 };

		area_fill(tester, out->delay_ms, &out->way, tester->options->seed + out->runs + i);
		const struct launch_options launch = with_time(tester, out->delay_ms);

		TRY(launch_run(&launch, &run));
		out->again++;
		out->again_failed += run.label == LABEL_FAIL && tester->area->meetings;
		out->delayed_s += run.wall_s;
		out->delayed_cpu_s += run.cpu_s;
		run_free(&run);
	}
	return NULL;
}

/* The ways to try with one delay. Where both sides hold a lock, threads are held before it in each order, and with
 * short delays behind it in one order, the two by turns. Where one side holds locks alone, nobody can tell whether
 * the other needs them: each order both ways, and with long delays by turns. Which rounds of loops are held is chance
 * with each second delay, and where the order is chance. Whether the first one stays changes with every two delays,
 * so that four delays try all there is. */
static unsigned list_ways(const struct tester_options *options, unsigned step, unsigned norders,
			  struct tester_way *out)
{
	bool brief = step < BEHIND_STEPS;
	unsigned n = 0;

	for (unsigned behind = 0; behind < 2; behind++) {
		if (options->alone ? !brief && step % 2 != behind : behind && !(options->hoisted && brief))
			continue;
		bool single = behind && !options->alone;

		for (unsigned i = 0; i < (single ? 1 : norders); i++)
			out[n++] =
				(struct tester_way){ .order = orders[single ? step % 2 : i],
						     .behind = behind,
						     .scattered = step % 2 || orders[i] == ACTIVE_ANY_FIRST,
						     .stays = (step / 2 + i) % 2 };
	}
	return n;
}

/* All ways of one delay; *late counts threads that were held in vain. */
static struct error *run_ways(struct tester *tester, unsigned step, struct tester_result *out, uint64_t *late)
{
	struct tester_way ways[2 * ORDERS];
	/* Whoever never meets has no order. */
	unsigned n = list_ways(tester->options, step, step < 2 || out->met ? ORDERS : 1, ways);

	for (unsigned i = 0; i < n; i++) {
		struct counts counts;

		if (is_over(tester)) {
			out->verdict = TESTER_INTERRUPTED;
			return NULL;
		}
		TRY(run_once(tester, 1u << step, &ways[i], out, &counts));
		if (out->verdict == TESTER_HARMFUL)
			return run_again(tester, out);
		if (out->met && tester->options->until_met)
			return NULL;
		*late += counts.late;
	}
	return NULL;
}

static struct error *run_all(struct tester *tester, struct tester_result *out)
{
	for (unsigned step = tester->options->first; step <= tester->options->last; step++) {
		uint64_t late = 0, met = out->met;

		out->verdict = TESTER_NOT_REPRODUCED;
		TRY(run_ways(tester, step, out, &late));
		if (out->verdict != TESTER_NOT_REPRODUCED || (out->met && tester->options->until_met)) {
			out->settled = true;
			return NULL;
		}
		/* They met and nobody waited in vain: to wait longer changes nothing. Where they did not meet, who
		 * comes first may be chance. */
		if (!late && out->met > met && step >= 3)
			out->settled = true;
		out->verdict = !out->reached ? TESTER_NEVER_REACHED
			       : out->met    ? TESTER_NOT_REPRODUCED
					     : TESTER_NEVER_MET;
		if (out->settled || !out->reached)
			break;
	}
	out->settled |= !out->reached || tester->options->last + 1 >= TESTER_DELAYS;
	return NULL;
}

struct error *tester_run(const struct tester_options *options, struct tester_result *out)
{
	struct tester tester = { .options = options,
				 .end = options->seconds > 0 ? watch_now() + options->seconds : 0 };
	struct error *error = area_make(&tester);

	if (!error && !out->plain)
		error = run_plain(&tester, out);
	if (!error && !out->settled)
		error = run_all(&tester, out);
	area_free(&tester);
	/* A run that Ctrl-C ended is no mistake: what is known stays known. */
	if (error && options->stop && options->stop()) {
		error_free(error);
		error = NULL;
		if (out->verdict != TESTER_HARMFUL)
			out->verdict = TESTER_INTERRUPTED;
	}
	return error;
}

void tester_result_free(struct tester_result *result)
{
	run_free(&result->failure);
}

const char *tester_verdict_words(enum tester_verdict verdict)
{
	switch (verdict) {
	case TESTER_HARMFUL:
		return "harmful";
	case TESTER_NOT_REPRODUCED:
		return "not reproduced";
	case TESTER_NEVER_MET:
		return "never met";
	case TESTER_NEVER_REACHED:
		return "never reached";
	case TESTER_ALWAYS_FAILS:
		return "fails without any delay";
	default:
		return "interrupted";
	}
}
