/* What guarded programs logged, told as findings; what relax and guard say of sets.
 */
#include "report/guard_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/options.h" /* options_fill */
#include "report/answer.h"
#include "report/finding_view.h"
#include "report/text.h"
#include "report/words.h"

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

/* How it was against the set, or against a rule of a patch, behind the words of the access; fresh. */
static char *words_how(const struct violation *violation)
{
	_cleanup_free_ char *before = violation->before.id ? words_of(&violation->before) : NULL;
	unsigned thread = violation->before.thread;
	_cleanup_free_ char *whom = thread ? memory_format("thread %u", thread)
					   : memory_string("several threads"); /* which did alike */

	if (violation->how == VIOLATION_AGAIN)
		return memory_string(
			"once more, before another thread had been there again, which never was so in "
			"training");
	bool seldom = violation->how == VIOLATION_SELDOM;

	if (!before)
		return memory_format("before any other thread had been there, which %s",
				     seldom ? "passing runs had in training, maybe by luck"
					    : "never was so in training");
	switch (violation->how) {
	case VIOLATION_INSIDE:
		return memory_format("while %s was in the patch's step that begins with the %s", whom,
				     before);
	case VIOLATION_EARLY:
		return memory_format("before the %s had been done, for which the patch has it wait", before);
	default:
		return memory_format("right after %s: %s, which %s", whom, before,
				     seldom ? "passing runs had in training, maybe by luck"
					    : "it never came after in training");
	}
}

static void fill(const char *text, int at)
{
	options_fill(stdout, text, 3, at);
}

static void print_one(const struct violation *violation, size_t rank)
{
	uint64_t times = violation->resolved + violation->unresolved + violation->unfinished;
	_cleanup_free_ char *access = words_of(&violation->access), *how = words_how(violation),
			    *first = words_time((int64_t)(violation->first * 1e6)),
			    *last = words_time((int64_t)(violation->last * 1e6)),
			    *longest = words_seconds(violation->longest_s),
			    *count = words_count(times, "time", "times"),
			    *unfinished = violation->unfinished
						  ? memory_format(", %" PRIu64 " when the process ended",
								  violation->unfinished)
						  : memory_string("");
	_cleanup_free_ char *what = memory_format("thread %u: %s", violation->access.thread, access);
	_cleanup_free_ char *counts = memory_format(
		"%s, %s%s%s: %" PRIu64 " resolved by waiting, %" PRIu64 " not%s; longest stall %s", count,
		first, strcmp(first, last) == 0 ? "" : " to ", strcmp(first, last) == 0 ? "" : last,
		violation->resolved, violation->unresolved, unfinished, longest);

	fill(what, printf("%zu. ", rank));
	fill(how, 0);
	fill(counts, 0);
}

void guard_log_print(const struct violations *violations)
{
	if (!violations->list.n)
		printf("No violations: every access came after one that it came after in training.\n");
	for (size_t i = 0; i < violations->list.n; i++)
		print_one(&violations->list.items[i], i + 1);
}

/* The sentences of a violation's finding. */
static void tell_finding(const struct violation *violation, struct finding *finding)
{
	uint64_t times = violation->resolved + violation->unresolved + violation->unfinished;

	static const char *const summaries[] = {
		[VIOLATION_AFTER] = "The second access came right after the first one of another thread, "
				    "which it never did in training.",
		[VIOLATION_AGAIN] = "The thread came once more before another one had been there again, "
				    "which it never did in training.",
		[VIOLATION_SELDOM] = "The second access came right after the first one of another thread, "
				     "which it did in passing runs of the training, maybe by luck.",
		[VIOLATION_INSIDE] = "The second access came while the other thread was in the patch's step "
				     "that begins with the first one.",
		[VIOLATION_EARLY] =
			"The first access came before the second one had been done, for which the "
			"patch has it wait.",
	};

	const char *alone =
		violation->how == VIOLATION_SELDOM
			? "The access came before any other thread's, which it did in passing runs of "
			  "the training, maybe by luck."
			: "The access came before any other thread's, which it never did in training.";

	finding->summary = memory_string(violation->before.id ? summaries[violation->how] : alone);
	finding->evidence =
		memory_format("%" PRIu64 " times: %" PRIu64 " resolved by waiting, %" PRIu64 " not, %" PRIu64
			      " when the process ended",
			      times, violation->resolved, violation->unresolved, violation->unfinished);
}

void guard_log_json(const char *verb, const struct violations *violations)
{
	_cleanup_(findings_free) struct findings findings = { 0 };
	json_t *answer = answer_new(verb);

	violations_findings(violations, &findings);
	for (size_t i = 0; i < findings.n; i++)
		tell_finding(&violations->list.items[i], &findings.items[i]);
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

void guard_damaged_print(const char *verb, uint64_t lines)
{
	fprintf(stderr, "unsnarl %s: %" PRIu64 " line%s could not be read and %s left out\n", verb, lines,
		lines == 1 ? "" : "s", lines == 1 ? "is" : "are");
}

void guard_gone_print(size_t gone, size_t all, const char *program)
{
	_cleanup_free_ char *clean = text_clean(program);

	fprintf(stderr,
		"unsnarl guard: %zu of the set's %zu accesses are not in %s any more; "
		"learn again to guard what took their place\n",
		gone, all, clean);
}

void relax_print(const char *path, const struct relaxed *relaxed)
{
	_cleanup_free_ char *file = text_clean(path),
			    *violations = words_count(relaxed->violations, "violation", "violations"),
			    *members = words_count(relaxed->added, "member", "members");

	printf("%s: %s added by %s.\n", file, members, violations);
	if (relaxed->unknown)
		printf("%zu of them %s of accesses that the set does not have.\n", relaxed->unknown,
		       relaxed->unknown == 1 ? "is" : "are");
	if (relaxed->ruled)
		printf("%zu of them %s against an emergency patch, which stays as it is.\n", relaxed->ruled,
		       relaxed->ruled == 1 ? "is" : "are");
	if (relaxed->held)
		printf("%zu of them %s resolved by waiting each time: what was held never\n"
		       "happened, so it stays held (--held lets it happen).\n",
		       relaxed->held, relaxed->held == 1 ? "was" : "were");
	if (relaxed->added)
		printf("Build the program again with it: unsnarl cc --guard %s ...\n", file);
}

void relax_json(const char *path, const struct relaxed *relaxed)
{
	json_t *answer = answer_new("relax");

	json_object_set_new(answer, "guard_set", answer_text(path));
	json_object_set_new(answer, "added", answer_count(relaxed->added));
	json_object_set_new(answer, "held", answer_count(relaxed->held));
	json_object_set_new(answer, "ruled", answer_count(relaxed->ruled));
	json_object_set_new(answer, "unknown", answer_count(relaxed->unknown));
	answer_print(answer);
}
