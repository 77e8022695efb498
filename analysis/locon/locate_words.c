/* An interleaving in sentences, for someone who never heard of it: what each
 * thread did in which order, and what it did in runs that passed.
 */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/locon/answer.h"

struct text {
	char *bytes;
	size_t n;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_cleanup_free_ char *more = memory_vformat(format, arguments);
	va_end(arguments);
	size_t size = strlen(more);

	text->bytes = memory_resize(text->bytes, text->n + size + 1);
	memcpy(text->bytes + text->n, more, size + 1);
	text->n += size;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "thread 1 reads site.hits (counter.c:73)" */
static void put_access(struct text *text, const struct finding_access *access, const char *last_variable)
{
	const char *verb = access->missing
				   ? (access->kind == SITE_WRITE ? "has not yet written" : "has not yet read")
			   : finding_frees(access)      ? "frees"
			   : access->kind == SITE_WRITE ? "writes"
							: "reads";
	bool again = last_variable && !strcmp(last_variable, access->variable) && *access->variable;

	put(text, "T%u %s %s", access->thread, verb,
	    again               ? "it"
	    : *access->variable ? access->variable
				: "the same memory");
	if (*access->file)
		put(text, " (%s:%u)", base_name(access->file), access->line);
}

char *locon_summary(const struct finding *finding)
{
	struct text text = { 0 };
	const char *last = NULL;

	for (size_t i = 0; i < finding->accesses.n && i < 8; i++) {
		const struct finding_access *access = &finding->accesses.items[i];

		put(&text, "%s", !i ? "" : i + 1 == finding->accesses.n ? ", then " : ", ");
		put_access(&text, access, last);
		last = access->variable;
	}
	if (finding->accesses.n > 8)
		put(&text, " and so on");
	put(&text, ".");
	return text.bytes;
}

static uint32_t key_between(const struct locon *locon, const struct explain_event *head,
			    const struct explain_event *tail)
{
	enum pair_kind kind =
		head->write ? (tail->write ? PAIR_WRITE_WRITE : PAIR_WRITE_READ) : PAIR_READ_WRITE;

	return locon_find(locon, kind, locon_place(locon, head->site), locon_place(locon, tail->site));
}

static size_t passed_with(const struct locon *locon, const struct explain_event *head,
			  const struct explain_event *tail)
{
	uint32_t key = key_between(locon, head, tail);

	return key == LOCON_NONE ? 0 : locon->keys.items[key].passed;
}

static void copy_access(struct finding *finding, const struct locon_request *request, size_t nsites,
			const struct explain_event *event)
{
	const struct site *site = event->site < nsites ? request->sites[event->site] : NULL;
	struct finding_access *access = finding_add_access(&finding->otherwise, event->site, site);

	access->thread = event->thread;
	access->kind = event->write ? SITE_WRITE : SITE_READ;
}

/* The events of one thread after those of the others, or before them. */
static void put_apart(struct finding *finding, const struct locon *locon, const struct locon_request *request,
		      const struct explain_pattern *pattern, uint32_t thread, bool first)
{
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < pattern->nevents; i++)
			if ((pattern->events[i].thread == thread) == (first == (turn == 0)))
				copy_access(finding, request, locon->input->nsites, &pattern->events[i]);
}

static void tell_order(const struct locon *locon, const struct locon_request *request,
		       const struct explain_pattern *pattern, struct finding *finding)
{
	const struct explain_event *head = &pattern->events[0],
				   *tail = &pattern->events[pattern->nevents - 1];
	size_t shown = passed_with(locon, tail, head), n = locon->input->npassed;

	copy_access(finding, request, locon->input->nsites, tail);
	copy_access(finding, request, locon->input->nsites, head);
	if (shown)
		finding->instead = memory_format("In %s%zu passing run%s the %s comes first, then the %s.",
						 n == 1       ? "the "
						 : shown == n ? "all "
							      : "",
						 shown, shown == 1 ? "" : "s", tail->write ? "write" : "read",
						 head->write ? "write" : "read");
	else
		finding->instead = memory_string("In passing runs the two do not meet in this order.");
}

static void tell_triple(const struct locon *locon, const struct locon_request *request,
			const struct explain_pattern *pattern, struct finding *finding)
{
	const struct explain_event *a = &pattern->events[0], *b = &pattern->events[1],
				   *c = &pattern->events[pattern->nevents - 1];
	size_t before = passed_with(locon, b, a), after = passed_with(locon, c, b);

	put_apart(finding, locon, request, pattern, b->thread, before > after);
	if (before && after)
		finding->instead = memory_format(
			"In passing runs T%u's %s comes before both accesses of T%u (%zu run%s) "
			"or after both (%zu run%s).",
			b->thread, b->write ? "write" : "read", a->thread, before, before == 1 ? "" : "s",
			after, after == 1 ? "" : "s");
	else
		finding->instead = memory_format("In passing runs T%u's %s comes %s both accesses of T%u.",
						 b->thread, b->write ? "write" : "read",
						 before  ? "before"
						 : after ? "after"
							 : "before or after",
						 a->thread);
}

static void tell_couple(const struct locon *locon, const struct locon_request *request,
			const struct explain_pattern *pattern, struct finding *finding)
{
	uint32_t one = pattern->events[0].thread, other = one;

	for (size_t i = 0; i < pattern->nevents; i++)
		if (pattern->events[i].thread != one)
			other = pattern->events[i].thread;
	put_apart(finding, locon, request, pattern, one, true);
	finding->instead = memory_format("In passing runs T%u is done with all of these variables before T%u "
					 "begins, or the other way round.",
					 one, other);
}

void locon_words(const struct locon *locon, const struct locon_request *request,
		 const struct explain_pattern *pattern, struct finding *finding)
{
	finding->summary = locon_summary(finding);
	if (pattern->class == FINDING_ORDER)
		tell_order(locon, request, pattern, finding);
	else if (pattern->class == FINDING_ATOMICITY && pattern->nevents >= 3)
		tell_triple(locon, request, pattern, finding);
	else
		tell_couple(locon, request, pattern, finding);
}
