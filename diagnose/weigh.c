/* Confidence is what remains of doubt when independent reasons come together: each
 * reason of strength s leaves 1 - s of the doubt. A reason against takes a share of the
 * confidence away. The constants are what the corpus taught (doc/results.md).
 */
#include "diagnose/weigh.h"

#include <stdlib.h>
#include <string.h>

#define POINTS_LOOKED_AT 3u /* of a method that names places: further down everything is named */
#define POINT_STRENGTH 0.4  /* of its first place */
#define WITNESS_STRENGTH 0.5
#define WITNESS_AGAINST 0.6 /* what stays when a witness has seen otherwise */
#define POINTS_AGAINST 0.85
#define POINTS_ALONE 0.5 /* what a claim counts that comes from a method for places */
#define TRUSTED 0.65     /* trust of methods that compare runs */
#define CONFIDENCE_MOST 0.99
#define WHOLE_SHARE 0.2 /* of an agreement, for how much of the other claim the cause holds */
#define LATER 0.98      /* of what may have led to it */

static bool same_place(const struct finding_access *a, const struct finding_access *b)
{
	return a->line == b->line && a->line && !strcmp(a->file, b->file);
}

bool weigh_same(const struct finding *a, const struct finding *b)
{
	if (a->accesses.n != b->accesses.n || a->class != b->class)
		return false;
	for (size_t i = 0; i < a->accesses.n; i++)
		if (!same_place(&a->accesses.items[i], &b->accesses.items[i]) ||
		    a->accesses.items[i].kind != b->accesses.items[i].kind)
			return false;
	return true;
}

bool weigh_touches(const struct finding *a, const struct finding *b)
{
	for (size_t i = 0; i < a->accesses.n; i++)
		for (size_t j = 0; j < b->accesses.n; j++)
			if (same_place(&a->accesses.items[i], &b->accesses.items[j]))
				return true;
	return false;
}

static void believe(struct cause *cause, double strength)
{
	cause->confidence = 1 - (1 - cause->confidence) * (1 - strength);
}

/* Findings of one method with the same score stand side by side. */
static size_t place_of(const struct opinion *opinion, size_t i)
{
	size_t place = 1;

	for (size_t j = 0; j < i; j++)
		place += opinion->findings.items[j].score > opinion->findings.items[i].score;
	return place;
}

static double claim_strength(const struct opinion *opinion, size_t i)
{
	return opinion->trust * opinion->findings.items[i].score / (double)place_of(opinion, i) *
	       (opinion->kind == OPINION_CLAIM ? 1 : POINTS_ALONE);
}

/* How high a method that names places names one of the cause's; 0 not among its first. */
static size_t point_rank(const struct opinion *opinion, const struct finding *finding)
{
	for (size_t i = 0; i < opinion->findings.n && i < POINTS_LOOKED_AT; i++)
		if (weigh_touches(&opinion->findings.items[i], finding))
			return i + 1;
	return 0;
}

static void hear_points(struct cause *cause, const struct opinion *opinion, uint32_t bit)
{
	size_t rank = point_rank(opinion, cause->finding);

	if (!opinion->findings.n)
		return;
	if (rank) {
		cause->agreed |= bit;
		believe(cause, POINT_STRENGTH / (double)rank);
	} else if (!finding_has_calls(cause->finding)) { /* who only sees memory cannot tell */
		cause->disagreed |= bit;
		cause->confidence *= POINTS_AGAINST;
	}
}

static void hear_witness(struct cause *cause, const struct opinion *opinion, uint32_t bit)
{
	switch (opinion->witness(opinion->context, cause->finding)) {
	case WORD_YES:
		cause->agreed |= bit;
		believe(cause, WITNESS_STRENGTH);
		break;
	case WORD_NO:
		cause->disagreed |= bit;
		cause->confidence *= WITNESS_AGAINST;
		break;
	case WORD_NOTHING:
		break;
	}
}

static struct cause *find(struct causes *causes, const struct finding *finding)
{
	for (size_t i = 0; i < causes->n; i++)
		if (weigh_same(causes->items[i].finding, finding))
			return &causes->items[i];
	return NULL;
}

/* Does the finding say what went wrong, not only where? */
static bool is_claim(const struct opinion *opinion, size_t i)
{
	return opinion->kind == OPINION_CLAIM || (opinion->kind == OPINION_POINTS && i < POINTS_LOOKED_AT &&
						  opinion->findings.items[i].scenario);
}

/* A claim made twice is one cause with two reasons. */
static void collect(const struct opinions *opinions, struct causes *out)
{
	for (size_t i = 0; i < opinions->n && i < WEIGH_MOST; i++) {
		const struct opinion *opinion = &opinions->items[i];

		for (size_t j = 0; j < opinion->findings.n; j++) {
			struct cause *cause = find(out, &opinion->findings.items[j]);

			if (!is_claim(opinion, j))
				continue;
			if (!cause) {
				cause = VEC_PUSH(out);
				cause->finding = &opinion->findings.items[j];
			}
			if (cause->claimed & 1u << i) /* once per method */
				continue;
			cause->claimed |= 1u << i;
			believe(cause, claim_strength(opinion, j));
		}
	}
}

static void collect_points(const struct opinions *opinions, struct causes *out)
{
	for (size_t i = 0; i < opinions->n && i < WEIGH_MOST; i++) {
		const struct opinion *opinion = &opinions->items[i];

		for (size_t j = 0;
		     opinion->kind == OPINION_POINTS && j < opinion->findings.n && j < POINTS_LOOKED_AT; j++)
			*VEC_PUSH(out) =
				(struct cause){ .finding = &opinion->findings.items[j],
						.claimed = 1u << i,
						.confidence = POINTS_ALONE * claim_strength(opinion, j) };
	}
}

/* The share of the accesses of a claim that stand at places of the cause. */
static double share_of(const struct finding *claim, const struct finding *cause)
{
	size_t met = 0;

	for (size_t i = 0; i < claim->accesses.n; i++) {
		bool here = false;

		for (size_t j = 0; j < cause->accesses.n && !here; j++)
			here = same_place(&claim->accesses.items[i], &cause->accesses.items[j]);
		met += here;
	}
	return claim->accesses.n ? (double)met / (double)claim->accesses.n : 0;
}

/* Another claim of the same accesses, first in its own list, is agreement; one of others is not. */
static void hear_claims(struct cause *cause, const struct opinion *opinion, uint32_t bit)
{
	if (cause->claimed & bit || !opinion->findings.n)
		return;
	if (weigh_touches(cause->finding, &opinion->findings.items[0])) {
		cause->agreed |= bit;
		believe(cause, claim_strength(opinion, 0) / 2 *
				       (1 - WHOLE_SHARE +
					WHOLE_SHARE * share_of(&opinion->findings.items[0], cause->finding)));
	} else if (!finding_has_calls(cause->finding)) {
		cause->disagreed |= bit;
	}
}

/* Is the one a part of the other: its accesses among the other's, in the same order? */
static bool is_part(const struct finding *part, const struct finding *whole)
{
	size_t at = 0;

	for (size_t i = 0; i < whole->accesses.n && at < part->accesses.n; i++)
		at += same_place(&part->accesses.items[at], &whole->accesses.items[i]) &&
		      part->accesses.items[at].kind == whole->accesses.items[i].kind;
	return at == part->accesses.n && part->accesses.n < whole->accesses.n;
}

/* Both threads run the same code: then it is the overlap that is wrong, not the order. */
static bool is_alike(const struct finding *finding)
{
	const struct finding_access *accesses = finding->accesses.items;

	return finding->class == FINDING_ATOMICITY && finding->accesses.n == 3 &&
	       same_place(&accesses[1], &accesses[2]) && accesses[1].kind == accesses[2].kind;
}

static bool is_trusted(const struct opinions *opinions, uint32_t claimed)
{
	for (size_t i = 0; i < opinions->n && i < WEIGH_MOST; i++)
		if (claimed >> i & 1 && opinions->items[i].trust >= TRUSTED)
			return true;
	return false;
}

/* Of an order and a triple that holds it, the triple explains more, if somebody who compared runs
 * found it or it cannot be an order. */
static void prefer_whole(const struct opinions *opinions, struct causes *causes)
{
	for (size_t i = 0; i < causes->n; i++)
		for (size_t j = 0; j < causes->n; j++) {
			struct cause *whole = &causes->items[i];
			const struct cause *part = &causes->items[j];

			if (i == j || part->finding->class != FINDING_ORDER ||
			    whole->finding->class != FINDING_ATOMICITY ||
			    part->confidence < whole->confidence || !is_part(part->finding, whole->finding) ||
			    !(is_alike(whole->finding) || is_trusted(opinions, whole->claimed)))
				continue;
			whole->confidence = part->confidence + (1 - part->confidence) / 8;
			whole->agreed |= (part->claimed | part->agreed) & ~whole->claimed;
			whole->disagreed &= ~whole->agreed;
			whole->part = part->finding;
		}
}

/* Do all accesses of the one come before all of the other's, in each of the same two or more threads? */
static bool is_before(const struct finding *first, const struct finding *second)
{
	size_t shared = 0;

	for (size_t i = 0; i < second->accesses.n; i++) {
		const struct finding_access *late = &second->accesses.items[i];
		bool met = false;

		for (size_t j = 0; j < first->accesses.n; j++) {
			const struct finding_access *early = &first->accesses.items[j];

			if (early->thread != late->thread)
				continue;
			if (!early->order || !late->order || early->order >= late->order)
				return false;
			met = true;
		}
		if (!met)
			return false;
		shared += i == 0 || late->thread != second->accesses.items[0].thread;
	}
	return shared > 1;
}

/* Of what a method says with equal weight, that which comes later in the failing run may be what the
 * earlier led to; it is not believed more. */
static void prefer_earlier(struct causes *causes)
{
	for (size_t i = 0; i < causes->n; i++)
		for (size_t j = 0; j < causes->n; j++) {
			const struct cause *first = &causes->items[i];
			struct cause *second = &causes->items[j];

			if (i != j && first->claimed & second->claimed &&
			    second->finding->score <= first->finding->score &&
			    second->confidence >= first->confidence &&
			    is_before(first->finding, second->finding))
				second->confidence = first->confidence * LATER;
		}
}

static int compare(const void *left, const void *right)
{
	const struct cause *a = left, *b = right;

	if (a->confidence < b->confidence || a->confidence > b->confidence)
		return a->confidence > b->confidence ? -1 : 1;
	/* Then as the methods had them. */
	return a->finding->rank < b->finding->rank ? -1 : a->finding->rank > b->finding->rank;
}

void weigh(const struct opinions *opinions, struct causes *out)
{
	*out = (struct causes){ 0 };
	collect(opinions, out);
	if (!out->n)
		collect_points(opinions, out);
	for (size_t i = 0; i < out->n; i++) {
		struct cause *cause = &out->items[i];

		for (size_t j = 0; j < opinions->n && j < WEIGH_MOST; j++) {
			const struct opinion *opinion = &opinions->items[j];
			uint32_t bit = 1u << j;

			if (opinion->kind == OPINION_CLAIM)
				hear_claims(cause, opinion, bit);
			else if (opinion->kind == OPINION_WITNESS)
				hear_witness(cause, opinion, bit);
			else if (!(cause->claimed & bit))
				hear_points(cause, opinion, bit);
		}
	}
	prefer_earlier(out);
	prefer_whole(opinions, out);
	for (size_t i = 0; i < out->n; i++)
		if (out->items[i].confidence > CONFIDENCE_MOST)
			out->items[i].confidence = CONFIDENCE_MOST;
	if (out->n)
		qsort(out->items, out->n, sizeof *out->items, compare);
}

const char *weigh_words(double confidence)
{
	return confidence >= 0.9 ? "sure" : confidence >= 0.6 ? "likely" : "a guess";
}

void opinions_free(struct opinions *opinions)
{
	for (size_t i = 0; i < opinions->n; i++)
		findings_free(&opinions->items[i].findings);
	VEC_FREE(opinions);
}
