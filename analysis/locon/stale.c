/* Partially missing couples where the code runs in rounds (LOCON, Table 1, 10 to 13,
 * third case). A thread reads two variables of another and dies of it: the first as
 * of this round, the second still as of the round before. The pair that would show
 * it, this second read before this round's write, is missing because of the end;
 * what shows it is that the second value is older than the first, where passing
 * runs have it younger.
 */
#include <stdlib.h>

#include "analysis/locon/procedure_three.h"
#include "base/hash.h"

#define ADJACENT 16u  /* accesses of the reader between the two reads */
#define LEAST_BOTH 5u /* passing runs that have them the other way round */
#define RARELY 15u    /* and for one that has them so as well, as many that do not */
#define MOST_LOOKED 64u
#define MOST_ENDS 256u

/* Two values of one thread, read by one other thread soon after each other. */
static bool reads_both(const struct pair *p, const struct pair *q)
{
	return p->kind == PAIR_WRITE_READ && q->kind == PAIR_WRITE_READ && p->head_thread == q->head_thread &&
	       p->tail_thread == q->tail_thread && p->address != q->address &&
	       p->tail_order < q->tail_order && q->tail_order <= p->tail_order + ADJACENT;
}

/* 1 when the run has the second value older than the first, 0 when younger, -1 when it lacks them. */
static int is_older(const struct locon *locon, const struct locon_run *run, uint32_t p_key, uint32_t q_key)
{
	for (size_t i = 0; i < run->npairs; i++) {
		if (locon->key_of[run->indexes[i]] != p_key)
			continue;
		for (size_t j = 0; j < run->npairs; j++)
			if (locon->key_of[run->indexes[j]] == q_key &&
			    reads_both(&run->pairs[i], &run->pairs[j]))
				return run->pairs[j].head_order < run->pairs[i].head_order;
	}
	return -1;
}

static void look(const struct locon *locon, uint32_t p, uint32_t q, struct locon_couples *out)
{
	const struct locon_input *input = locon->input;
	uint32_t p_key = locon_key_of_failed(locon, p), q_key = locon_key_of_failed(locon, q);
	uint32_t older = 0, younger = 0;

	for (size_t r = 0; r < input->npassed; r++) {
		int answer = is_older(locon, &input->details[r], p_key, q_key);

		older += answer == 1;
		younger += answer == 0;
	}
	if (younger < LEAST_BOTH || older * RARELY > younger)
		return;
	*VEC_PUSH(out) = (struct locon_couple){
		.first = p,
		.second = q,
		.expected = younger,
		.passed = older,
		.span = input->failed.pairs[q].tail_order - input->failed.pairs[p].tail_order,
		.stale = true,
	};
}

static void raise(struct map *last, uint32_t thread, uint64_t order)
{
	uint64_t *known = map_put(last, thread, NULL);

	if (*known < order)
		*known = order;
}

/* Pairs of the failed run whose tail is among the last that its thread did, as far as pairs tell. */
struct ends {
	uint32_t items[MOST_ENDS];
	size_t n;
	uint64_t last[MOST_ENDS]; /* of the thread */
};

static void find_ends(const struct locon_run *run, struct ends *ends)
{
	_cleanup_(map_free) struct map last = { 0 };

	for (size_t i = 0; i < run->npairs; i++) {
		raise(&last, run->pairs[i].head_thread, run->pairs[i].head_order);
		raise(&last, run->pairs[i].tail_thread, run->pairs[i].tail_order);
	}
	ends->n = 0;
	for (size_t i = 0; i < run->npairs && ends->n < MOST_ENDS; i++) {
		uint64_t end = *map_get(&last, run->pairs[i].tail_thread);

		if (run->pairs[i].kind != PAIR_WRITE_READ || run->pairs[i].tail_order + 2 * ADJACENT < end)
			continue;
		ends->last[ends->n] = end;
		ends->items[ends->n++] = (uint32_t)i;
	}
}

/* The next two in question after *i and *j; false: there are no more. */
static bool next_two(const struct locon_run *run, const struct ends *ends, size_t *i, size_t *j)
{
	for (; *j < ends->n; ++*j, *i = 0) {
		const struct pair *q = &run->pairs[ends->items[*j]];

		if (q->tail_order + ADJACENT < ends->last[*j])
			continue;
		for (; *i < ends->n; ++*i) {
			const struct pair *p = &run->pairs[ends->items[*i]];

			if (reads_both(p, q) && q->head_order < p->head_order)
				return true;
		}
	}
	return false;
}

bool third_may_be_stale(const struct locon *locon)
{
	struct ends ends;
	size_t i = 0, j = 0;

	if (!locon->input->cut_short)
		return false;
	find_ends(&locon->input->failed, &ends);
	return next_two(&locon->input->failed, &ends, &i, &j);
}

void third_stale(const struct locon *locon, struct locon_couples *out)
{
	const struct locon_run *failed = &locon->input->failed;
	struct ends ends;
	size_t i = 0, j = 0;

	if (!locon->input->details || !locon->input->cut_short)
		return;
	find_ends(failed, &ends);
	for (; next_two(failed, &ends, &i, &j); i++) {
		if (out->looked++ >= MOST_LOOKED) {
			out->cut = true;
			return;
		}
		look(locon, ends.items[i], ends.items[j], out);
	}
}
