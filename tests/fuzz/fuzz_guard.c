/* Guard sets, which `cc --guard` and `relax` read, and the logs of guarded programs. The first byte says
 * which; with 2 a log is let into a set, its text behind the set's. */
#include "tests/fuzz/fuzz.h"

#include "analysis/invariant/violations.h"
#include "base/error.h"
#include "model/guard_set.h"

static char *written(const struct guard_set *set, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	guard_set_write(out, set);
	fclose(out);
	return text;
}

static void read_set(const char *text, size_t size, struct guard_set *set)
{
	struct guard_set again = { 0 };
	struct error *error = guard_set_parse(text, size, "fuzz", set);
	size_t length = 0;

	if (error) {
		error_free(error);
		guard_set_free(set);
		*set = (struct guard_set){ 0 };
		return;
	}
	char *copy = written(set, &length);

	error = guard_set_parse(copy, length, "fuzz", &again);
	if (error || guard_set_hash(set) != guard_set_hash(&again))
		abort();
	guard_set_free(&again);
	free(copy);
}

static void read_log(const char *text, size_t size, struct guard_set *set)
{
	struct violations violations = { 0 };
	struct findings findings = { 0 };

	violations_parse(text, size, &violations);
	violations_sort(&violations);
	violations_findings(&violations, &findings);
	violations_relax(&violations, set, true);
	findings_free(&findings);
	violations_free(&violations);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	uint64_t what = fuzz_number(&fuzz, 1);
	size_t left = fuzz_left(&fuzz), first = what == 0 ? left : what == 1 ? 0 : left / 2;
	char *text = fuzz_copy(&fuzz, first), *log = fuzz_copy(&fuzz, left - first);
	struct guard_set set = { 0 };

	if (first)
		read_set(text, first, &set);
	read_log(log, left - first, &set);
	guard_set_free(&set);
	free(text);
	free(log);
	return 0;
}
