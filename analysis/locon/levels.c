/* Test Procedure III at its finer levels: were two pairs together in a passing
 * run not only by their places, but between the same two threads, with their
 * ends in the same iterations, or at one moment?
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/locon/explain.h"
#include "analysis/locon/procedure_three.h"
#include "base/hash.h"

#define MOST_VARIANTS 4096u /* combinations of threads looked at for one couple */
#define LEAST_SURE 3.0
#define RARELY 15        /* a couple in one of so many passing runs may be news still */
#define MOST_ALARMS 0.25 /* passing runs that would be suspects by the same measure */
#define MOST_TRIPLE_ALARMS 0.1
#define MOST_SPAN 64u /* accesses of the thread between the two of a triple */
#define MOST_COUPLES 1000u

void third_bitmap_freep(roaring_bitmap_t **bitmap)
{
	if (*bitmap)
		roaring_bitmap_free(*bitmap);
}

void third_free(struct third *third)
{
	VEC_FREE(&third->members);
	free(third->row);
	free(third->masks);
	free(third->start);
	free(third->variants);
}

void third_variants(const struct locon *locon, struct third *third)
{
	size_t npairs = locon->input->npairs, nkeys = locon->keys.n;

	third->start = memory_alloc((nkeys + 2) * sizeof *third->start);
	third->variants = memory_alloc((npairs + 1) * sizeof *third->variants);
	for (size_t i = 0; i < npairs; i++)
		third->start[locon->key_of[i] + 2]++;
	for (size_t k = 2; k < nkeys + 2; k++)
		third->start[k] += third->start[k - 1];
	for (size_t i = 0; i < npairs; i++)
		third->variants[third->start[locon->key_of[i] + 1]++] = (uint32_t)i;
}

static bool opposed(const struct pair_identity *a, const struct pair_identity *b)
{
	return a->head_thread == b->tail_thread && a->tail_thread == b->head_thread &&
	       a->head_thread != a->tail_thread;
}

static bool shows_opposed(const struct locon *locon, const struct third *third, size_t run, uint32_t a,
			  uint32_t b)
{
	const roaring_bitmap_t *passed = locon->input->passed[run];

	for (uint32_t i = third->start[a]; i < third->start[a + 1]; i++) {
		const struct pair_identity *p = &locon->input->pairs[third->variants[i]];

		if (!roaring_bitmap_contains(passed, third->variants[i]))
			continue;
		for (uint32_t j = third->start[b]; j < third->start[b + 1]; j++)
			if (opposed(p, &locon->input->pairs[third->variants[j]]) &&
			    roaring_bitmap_contains(passed, third->variants[j]))
				return true;
	}
	return false;
}

static bool both_in(const struct third *third, size_t run, uint32_t a, uint32_t b)
{
	size_t word = run / 64;
	uint64_t mask = third->masks[(size_t)third->row[a] * third->words + word] &
			third->masks[(size_t)third->row[b] * third->words + word];

	return mask >> (run % 64) & 1;
}

double third_threads(const struct locon *locon, const struct third *third, uint32_t a, uint32_t b)
{
	size_t of_a = third->start[a + 1] - third->start[a], of_b = third->start[b + 1] - third->start[b];
	size_t both = 0;

	if (of_a * of_b > MOST_VARIANTS)
		return 0;
	for (size_t r = 0; r < locon->input->npassed; r++) {
		if (!both_in(third, r, a, b))
			continue;
		if (shows_opposed(locon, third, r, a, b))
			return 0;
		both++;
	}
	return (double)both;
}

enum relation { UNKNOWN, NO_LOOP, SAME_ITERATION, OTHER_ITERATION, OTHER_LOOP };

/* How the iterations of two accesses of one thread relate. */
static enum relation relate(const struct loop_point *a, const struct loop_point *b)
{
	if (a->site == LOOP_NONE && b->site == LOOP_NONE)
		return NO_LOOP;
	if (a->site == LOOP_NONE || b->site == LOOP_NONE)
		return OTHER_LOOP;
	if (a->iteration == ITERATION_UNKNOWN || b->iteration == ITERATION_UNKNOWN)
		return UNKNOWN;
	if (a->site != b->site)
		return OTHER_LOOP;
	return a->entry == b->entry && a->iteration == b->iteration ? SAME_ITERATION : OTHER_ITERATION;
}

struct relations {
	enum relation first, second; /* in the thread of p's head, in that of its tail */
};

static struct relations relations(const struct pair *p, const struct pair *q)
{
	return (struct relations){ relate(&p->head_loop, &q->tail_loop),
				   relate(&p->tail_loop, &q->head_loop) };
}

/* 1 when the run shows the couple in these relations, 0 when in others, -1 when it cannot be told. */
static int shows_related(const struct locon *locon, size_t run, uint32_t p_key, uint32_t q_key,
			 struct relations wanted)
{
	const struct locon_run *details = &locon->input->details[run];
	int answer = -1;

	for (size_t i = 0; i < details->npairs; i++) {
		if (locon->key_of[details->indexes[i]] != p_key)
			continue;
		for (size_t j = 0; j < details->npairs; j++) {
			if (locon->key_of[details->indexes[j]] != q_key ||
			    !locon_opposed(&details->pairs[i], &details->pairs[j]))
				continue;
			struct relations found = relations(&details->pairs[i], &details->pairs[j]);

			if (found.first == wanted.first && found.second == wanted.second)
				return 1;
			if (found.first != UNKNOWN && found.second != UNKNOWN)
				answer = 0;
		}
	}
	return answer;
}

double third_loops(const struct locon *locon, const struct third *third, const struct pair *p,
		   const struct pair *q, uint32_t p_key, uint32_t q_key)
{
	struct relations wanted = relations(p, q);
	size_t both = 0;

	if (wanted.first != SAME_ITERATION && wanted.second != SAME_ITERATION)
		return 0;
	for (size_t r = 0; r < locon->input->npassed; r++) {
		if (!both_in(third, r, p_key, q_key))
			continue;
		int shown = shows_related(locon, r, p_key, q_key, wanted);

		if (shown > 0)
			return 0;
		both += shown == 0;
	}
	return (double)both;
}

/* A couple of a run by its keys, whether one other thread took part or two, and in which order. */
static uint64_t pack(const struct locon *locon, const struct locon_run *run, const struct couple *couple)
{
	uint64_t first = locon->key_of[run->indexes[couple->first]],
		 second = locon->key_of[run->indexes[couple->second]];
	bool two = run->pairs[couple->first].tail_thread != run->pairs[couple->second].head_thread;

	return first << 34 | second << 2 | (uint64_t)couple->crossed << 1 | two;
}

/* In how many passing runs each couple came. */
static void count_moments(const struct locon *locon, struct map *seen)
{
	for (size_t r = 0; r < locon->input->npassed; r++) {
		const struct locon_run *run = &locon->input->details[r];

		for (size_t i = 0; i < run->ncouples; i++) {
			uint64_t *at = map_put(seen, pack(locon, run, &run->couples[i]), NULL);

			/* The run that was counted last, and how many. */
			if (*at >> 32 != r + 1)
				*at = (r + 1) << 32 | ((uint32_t)*at + 1);
		}
	}
}

static double expect_both(const struct locon *locon, uint32_t a, uint32_t b)
{
	return (double)locon->keys.items[a].passed * locon->keys.items[b].passed /
	       (double)locon->input->npassed;
}

/* Two accesses of a thread to one location with one of another in between that cannot be serialised:
 * suspicious by itself, so it need not have been likely before. */
static bool is_triple(const struct locon *locon, const struct locon_run *run, const struct couple *couple)
{
	const struct pair *first = &run->pairs[couple->first], *second = &run->pairs[couple->second];

	return first->address == second->address && couple->span <= MOST_SPAN &&
	       explain_triple(first, second) && explain_joins(locon, first, second, true);
}

/* Is it a couple from which something follows? One of two pairs that are rare themselves is not. */
static bool counts(const struct locon *locon, const struct locon_run *run, const struct couple *couple,
		   bool triple)
{
	if (triple)
		return is_triple(locon, run, couple);
	return expect_both(locon, locon->key_of[run->indexes[couple->first]],
			   locon->key_of[run->indexes[couple->second]]) >= LEAST_SURE;
}

/* How rare the rarest couple of each passing run is, if it is one that counts: alarms[t]
 * becomes the share of passing runs that have a couple which at most t others have. */
static void count_alarms(const struct locon *locon, const struct map *seen, bool triples, double *alarms,
			 size_t n)
{
	for (size_t r = 0; r < locon->input->npassed; r++) {
		const struct locon_run *run = &locon->input->details[r];
		uint32_t rarest = UINT32_MAX;

		for (size_t i = 0; i < run->ncouples; i++) {
			const struct couple *couple = &run->couples[i];
			uint32_t others = (uint32_t)*map_get(seen, pack(locon, run, couple)) - 1;

			if (others < rarest && counts(locon, run, couple, triples))
				rarest = others;
		}
		for (size_t t = rarest; t < n; t++)
			alarms[t] += 1.0 / (double)locon->input->npassed;
	}
}

struct moments {
	struct map seen;   /* couples of passing runs */
	struct map taken;  /* of the failed one, once each */
	double *alarms[2]; /* of couples that were likely; of triples */
	size_t nalarms;
};

/* What goes wrong may now and then do no harm; but what many passing runs have of this rarity tells
 * nothing. */
static bool is_news(const struct locon *locon, const struct moments *moments, const struct couple *couple,
		    double expected, uint32_t passed)
{
	const struct locon_run *failed = &locon->input->failed;

	if (passed >= moments->nalarms)
		return false;
	if (counts(locon, failed, couple, false) && passed * RARELY <= expected &&
	    moments->alarms[0][passed] <= MOST_ALARMS)
		return true;
	return counts(locon, failed, couple, true) && moments->alarms[1][passed] <= MOST_TRIPLE_ALARMS;
}

static void take_moments(const struct locon *locon, struct moments *moments, struct locon_couples *out)
{
	const struct locon_input *input = locon->input;

	for (size_t i = 0; i < input->failed.ncouples; i++) {
		struct couple couple = input->failed.couples[i];
		double expected = expect_both(locon, locon_key_of_failed(locon, couple.first),
					      locon_key_of_failed(locon, couple.second));
		uint64_t packed = pack(locon, &input->failed, &couple), *at = map_get(&moments->seen, packed);
		uint32_t passed = at ? (uint32_t)*at : 0;
		bool fresh;

		out->looked++;
		if (!is_news(locon, moments, &couple, expected, passed))
			continue;
		map_put(&moments->taken, packed, &fresh);
		if (!fresh)
			continue;
		if (out->n >= MOST_COUPLES) {
			out->cut = true;
			break;
		}
		*VEC_PUSH(out) = (struct locon_couple){ .first = couple.first,
							.second = couple.second,
							.expected = expected,
							.passed = passed,
							.span = couple.span,
							.moment = true,
							.crossed = couple.crossed };
	}
}

void third_moments(const struct locon *locon, struct locon_couples *out)
{
	struct moments moments = { .nalarms = locon->input->npassed / RARELY + 1 };

	if (!locon->input->details)
		return;
	count_moments(locon, &moments.seen);
	for (int triples = 0; triples < 2; triples++) {
		moments.alarms[triples] = memory_alloc(moments.nalarms * sizeof(double));
		count_alarms(locon, &moments.seen, triples, moments.alarms[triples], moments.nalarms);
	}
	take_moments(locon, &moments, out);
	free(moments.alarms[0]);
	free(moments.alarms[1]);
	map_free(&moments.seen);
	map_free(&moments.taken);
}
