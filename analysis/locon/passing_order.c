/* What passing runs did with the accesses of a pattern: in which order, in how many runs. Words for it are
 * made in report/passing_words.c. */
#include "analysis/locon/locate_answer.h"

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

static void find_order(const struct locon *locon, const struct locon_request *request,
		       const struct explain_pattern *pattern, struct finding *finding)
{
	const struct explain_event *head = &pattern->events[0],
				   *tail = &pattern->events[pattern->nevents - 1];

	copy_access(finding, request, locon->input->nsites, tail);
	copy_access(finding, request, locon->input->nsites, head);
	finding->passing = (struct finding_passing){ .kind = PASSING_REVERSED,
						     .one = tail->thread,
						     .other = head->thread,
						     .one_writes = tail->write,
						     .other_writes = head->write,
						     .before = passed_with(locon, tail, head),
						     .runs = locon->input->npassed };
}

static void find_triple(const struct locon *locon, const struct locon_request *request,
			const struct explain_pattern *pattern, struct finding *finding)
{
	const struct explain_event *a = &pattern->events[0], *b = &pattern->events[1],
				   *c = &pattern->events[pattern->nevents - 1];
	size_t before = passed_with(locon, b, a), after = passed_with(locon, c, b);

	put_apart(finding, locon, request, pattern, b->thread, before > after);
	finding->passing = (struct finding_passing){ .kind = PASSING_APART,
						     .one = b->thread,
						     .other = a->thread,
						     .one_writes = b->write,
						     .other_writes = c->write,
						     .before = before,
						     .after = after,
						     .runs = locon->input->npassed };
}

static void find_couple(const struct locon *locon, const struct locon_request *request,
			const struct explain_pattern *pattern, struct finding *finding)
{
	uint32_t one = pattern->events[0].thread, other = one;

	for (size_t i = 0; i < pattern->nevents; i++)
		if (pattern->events[i].thread != one)
			other = pattern->events[i].thread;
	put_apart(finding, locon, request, pattern, one, true);
	finding->passing = (struct finding_passing){
		.kind = PASSING_IN_TURN, .one = one, .other = other, .runs = locon->input->npassed
	};
}

void locon_passing_order(const struct locon *locon, const struct locon_request *request,
			 const struct explain_pattern *pattern, struct finding *finding)
{
	if (pattern->class == FINDING_ORDER)
		find_order(locon, request, pattern, finding);
	else if (pattern->class == FINDING_ATOMICITY && pattern->nevents >= 3)
		find_triple(locon, request, pattern, finding);
	else
		find_couple(locon, request, pattern, finding);
}
