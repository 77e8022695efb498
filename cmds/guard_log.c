/* What guarded programs logged, told as findings.
 */
#include "cmds/guard_log.h"

#include <inttypes.h>

#include "report/answer.h"
#include "report/finding.h"
#include "report/text.h"
#include "report/words.h"

struct error *guard_log_read(const char *verb, char *const *paths, struct violations *out)
{
	for (char *const *path = paths; *path; path++)
		TRY(violations_read(*path, out));
	if (out->damaged)
		fprintf(stderr, "unsnarl %s: %llu lines could not be read and are left out\n", verb,
			(unsigned long long)out->damaged);
	violations_sort(out);
	return NULL;
}

static char *words_of(const struct violation_access *access)
{
	_cleanup_free_ char *variable = text_clean(access->variable),
			    *function = text_clean(access->function),
			    *file = text_clean(place_file_name(access->file));
	const char *kind = access->kind == SITE_READ    ? "read"
			   : access->kind == SITE_WRITE ? "write"
							: "update";

	return memory_format("%s%s%s at %s:%" PRIu32 " in %s", kind, *variable ? " of " : "", variable, file,
			     access->line, *function ? function : "?");
}

static void print_one(const struct violation *violation, size_t rank)
{
	uint64_t times = violation->resolved + violation->unresolved + violation->unfinished;
	_cleanup_free_ char *access = words_of(&violation->access),
			    *first = words_time((int64_t)(violation->first * 1e6)),
			    *last = words_time((int64_t)(violation->last * 1e6)),
			    *longest = words_seconds(violation->longest_s),
			    *count = words_count(times, "time", "times");

	printf("%zu. thread %u: %s\n", rank, violation->access.thread, access);
	if (violation->before.id) {
		_cleanup_free_ char *before = words_of(&violation->before);

		printf("   right after thread %u: %s,\n   which it never came after in training\n",
		       violation->before.thread, before);
	} else {
		printf("   before any other thread had been there, which never was so in training\n");
	}
	printf("   %s, %s to %s: %" PRIu64 " resolved by waiting, %" PRIu64 " not", count, first, last,
	       violation->resolved, violation->unresolved);
	if (violation->unfinished)
		printf(", %" PRIu64 " when the process ended", violation->unfinished);
	printf("; longest stall %s\n", longest);
}

void guard_log_print(const struct violations *violations)
{
	if (!violations->list.n)
		printf("No violations: every access came after one that it came after in training.\n");
	for (size_t i = 0; i < violations->list.n; i++)
		print_one(&violations->list.items[i], i + 1);
}

void guard_log_json(const char *verb, const struct violations *violations)
{
	_cleanup_(findings_free) struct findings findings = { 0 };
	json_t *answer = answer_new(verb);

	violations_findings(violations, &findings);
	json_t *list = findings_json(&findings);

	for (size_t i = 0; i < violations->list.n; i++) {
		const struct violation *violation = &violations->list.items[i];
		json_t *entry = json_array_get(list, i);

		json_object_set_new(entry, "resolved", answer_count(violation->resolved));
		json_object_set_new(entry, "unresolved", answer_count(violation->unresolved));
		json_object_set_new(entry, "unfinished", answer_count(violation->unfinished));
		json_object_set_new(entry, "longest_s", json_real(violation->longest_s));
	}
	json_object_set_new(answer, "damaged_lines", answer_count(violations->damaged));
	json_object_set_new(answer, "findings", list);
	answer_print(answer);
}
