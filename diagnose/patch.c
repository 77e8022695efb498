/* Making a patch of a finding and trying it on the program.
 */
#include "diagnose/patch.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/invariant/emergency.h"
#include "base/memory.h"
#include "diagnose/statistics.h"
#include "loom/arm.h"
#include "loom/armed_format.h"

struct error *patch_make(const struct finding *finding, const char *path, struct guard_set *out)
{
	struct unit *units = NULL;
	size_t n = 0;

	TRY(unit_read_elf(path, &units, &n));
	struct error *error =
		n ? emergency_set(finding, units, n, out)
		  : error_new("%s has no hooks: build it with unsnarl cc, so that its accesses can be named",
			      path);

	for (size_t i = 0; i < n; i++)
		unit_free(&units[i]);
	free(units);
	return error;
}

bool patch_is_decided(const struct patch_proof *proof)
{
	return proof->held || proof->failed >= PATCH_FAILED_LEAST ||
	       statistics_upper(proof->failed, proof->runs) * PATCH_RUNS < PATCH_FAILED_LEAST;
}

bool patch_can_be_offered(const struct patch_proof *proof)
{
	return patch_is_proven(proof) && proof->failed >= PATCH_FAILED_LEAST;
}

struct times {
	VEC(double) list;
};

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(struct times *times)
{
	if (!times->list.n)
		return 0;
	qsort(times->list.items, times->list.n, sizeof *times->list.items, by_size);
	return times->list.items[times->list.n / 2];
}

static struct error *run_once(const struct launch_options *launch, uint64_t *failed, struct times *times)
{
	_cleanup_(run_free) struct run run = { 0 };

	TRY(launch_run(launch, &run));
	*failed += run.label == LABEL_FAIL;
	*VEC_PUSH(&times->list) = run.cpu_s;
	return NULL;
}

/* Runs that are not counted: they show inside which locks the guarded accesses lie. */
#define SHOWING 3u

/* The set is in the environment while the program runs with it, and only then. */
static struct error *run_patched(const struct launch_options *launch, const char *file, uint64_t *failed,
				 struct times *times)
{
	setenv(ARMED_ENVIRONMENT, file, 1);
	struct error *error = run_once(launch, failed, times);

	unsetenv(ARMED_ENVIRONMENT);
	return error;
}

static struct error *compare(struct launch_options *options, const char *file, uint64_t runs,
			     const struct patch_limits *limits, struct patch_proof *out,
			     struct times times[2])
{
	struct times unused = { 0 };
	struct error *error = NULL;
	uint64_t ignored = 0;

	for (unsigned i = 0; i < SHOWING && !error; i++)
		error = run_patched(options, file, &ignored, &unused);
	for (uint64_t i = 0; i < runs && !error && !(limits->stop && limits->stop()) &&
			     !(limits->is_decided && limits->is_decided(out));
	     i++) {
		options->area.seed++;
		error = run_once(options, &out->failed, &times[0]);
		if (!error)
			error = run_patched(options, file, &out->held, &times[1]);
		out->runs += !error;
	}
	VEC_FREE(&unused.list);
	return error;
}

struct error *patch_prove(const struct launch_options *launch, const struct guard_set *patch, uint64_t runs,
			  uint32_t jitter_us, const struct patch_limits *limits, struct patch_proof *out)
{
	struct launch_options options = *launch;
	struct times times[2] = { 0 };
	struct arm_counts counts;

	*out = (struct patch_proof){ 0 };
	options.control = (struct area_control){ .policy = POLICY_FREE };
	options.area = (struct area_options){ .jitter_us = jitter_us, .seed = launch->area.seed };
	TRY(arm_program(launch->path, patch, NULL, &counts));
	_cleanup_free_ char *file = memory_string(getenv(ARMED_ENVIRONMENT));

	unsetenv(ARMED_ENVIRONMENT);
	struct error *error = compare(&options, file, runs, limits, out, times);

	close(atoi(file));
	out->plain_s = median(&times[0]);
	out->patched_s = median(&times[1]);
	VEC_FREE(&times[0].list);
	VEC_FREE(&times[1].list);
	return error;
}
