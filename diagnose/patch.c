/* Making a patch of a finding and trying it on the program.
 */
#include "diagnose/patch.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/invariant/emergency.h"
#include "base/memory.h"
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

/* The set is in the environment while the program runs with it, and only then. */
static void disarm(void)
{
	const char *descriptor = getenv(ARMED_ENVIRONMENT);

	if (descriptor)
		close(atoi(descriptor));
	unsetenv(ARMED_ENVIRONMENT);
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

static struct error *run_patched(const struct launch_options *launch, const struct guard_set *patch,
				 uint64_t *failed, struct times *times)
{
	struct arm_counts counts;

	TRY(arm_program(launch->path, patch, NULL, &counts));
	struct error *error = run_once(launch, failed, times);

	disarm();
	return error;
}

struct error *patch_prove(const struct launch_options *launch, const struct guard_set *patch, uint64_t runs,
			  uint32_t jitter_us, bool (*stop)(void), struct patch_proof *out)
{
	struct launch_options options = *launch;
	struct times plain = { 0 }, patched = { 0 };
	struct error *error = NULL;

	*out = (struct patch_proof){ 0 };
	options.control = (struct area_control){ .policy = POLICY_FREE };
	options.area = (struct area_options){ .jitter_us = jitter_us, .seed = launch->area.seed };
	for (uint64_t i = 0; i < runs && !error && !(stop && stop()); i++) {
		options.area.seed++;
		error = run_once(&options, &out->failed, &plain);
		if (!error)
			error = run_patched(&options, patch, &out->held, &patched);
		out->runs += !error;
	}
	out->plain_s = median(&plain);
	out->patched_s = median(&patched);
	VEC_FREE(&plain.list);
	VEC_FREE(&patched.list);
	return error;
}

bool patch_is_proven(const struct patch_proof *proof)
{
	return proof->failed > 0 && proof->held == 0;
}

char *patch_words(const struct patch_proof *proof)
{
	unsigned long long runs = proof->runs, failed = proof->failed, held = proof->held;

	if (patch_is_proven(proof))
		return memory_format(
			"Proven: %llu of %llu runs failed without the patch, none of %llu with it.", failed,
			runs, runs);
	if (!proof->failed)
		return memory_format(
			"Not proven: none of %llu runs failed without the patch, so it had nothing to hold "
			"(%llu failed with it).",
			runs, held);
	return memory_format(
		"It does not hold: %llu of %llu runs failed without the patch, and %llu of %llu with it.",
		failed, runs, held, runs);
}
