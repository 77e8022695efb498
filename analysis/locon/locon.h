/* LOCON: names the access pairs that made one failed run fail, by comparing it
 * with runs that passed (Wang et al., ASE 2014). Pure functions on the interned
 * pairs of a campaign, the passing runs as bitmaps over them, and the failed
 * run's pairs with their orders. Knows neither stores nor names.
 *
 * A *place* is a position in the source: sites that the compiler made of one
 * place by inlining or unrolling are one for all comparisons. A *key* is a pair
 * of places with its kind: the identity of a pair at the level of sites.
 */
#ifndef ANALYSIS_LOCON_LOCON_H
#define ANALYSIS_LOCON_LOCON_H

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "model/run.h"

#define LOCON_NONE NUMBERS_NONE
#define LOCON_MOST_RUNS 1000u /* passing runs that are compared; callers pass the newest */

enum locon_level { LOCON_SITE, LOCON_THREAD, LOCON_LOOP, LOCON_MOMENT };

/* A run's pairs in order of first occurrence, its couples, and for each pair its interned index. */
struct locon_run {
	const struct pair *pairs;
	const uint32_t *indexes;
	size_t npairs;
	const struct couple *couples;
	size_t ncouples;
};

struct locon_input {
	const struct pair_identity *pairs; /* interned */
	size_t npairs;
	const uint32_t *places; /* of each site; below nplaces */
	size_t nsites, nplaces;
	const roaring_bitmap_t *const *passed; /* over `pairs` */
	size_t npassed;
	struct locon_run failed;
	/* The pairs of one passing run in order of first occurrence, for that of what is missing. */
	const uint32_t *reference;
	size_t nreference;
	/* Places that ran in the failed run, and in any passing run; NULL: not known. */
	const roaring_bitmap_t *ran, *ran_passing;
	bool cut_short; /* the failed run did not end by itself: it crashed or hung */
	/* Places that free a block, and atomic ones; NULL: none. */
	const roaring_bitmap_t *frees, *atomic;
	/* Whole passing runs, in the order of `passed`; NULL: not read (levels loop and moment need them). */
	const struct locon_run *details;
};

/* Is the place of the site in the set? */
#define LOCON_IN(locon, set, site) \
	((locon)->input->set && roaring_bitmap_contains((locon)->input->set, locon_place((locon), (site))))

struct locon_key {
	enum pair_kind kind;
	uint32_t head, tail; /* places */
	uint32_t sample;     /* an interned pair with this key */
	uint32_t passed;     /* passing runs that show it */
	uint32_t first;      /* its first occurrence in failed.pairs, LOCON_NONE */
	uint64_t signature;  /* equal for keys that the same passing runs show */
};

/* What all procedures share. */
struct locon {
	const struct locon_input *input;
	uint32_t *key_of; /* of each interned pair */
	VEC(struct locon_key) keys;
	struct numbers numbers;   /* of the keys, packed */
	roaring_bitmap_t *always; /* interned pairs that all passing runs show */
	uint64_t *threads; /* that met at each place in pairs, one bit each, by their numbers modulo 64 */
};

void locon_open(struct locon *locon, const struct locon_input *input);
void locon_close(struct locon *locon);

/* Number of the key, LOCON_NONE when no run showed it. */
uint32_t locon_find(const struct locon *locon, enum pair_kind kind, uint32_t head, uint32_t tail);
/* The key with head and tail exchanged, LOCON_NONE. */
uint32_t locon_reversed(const struct locon *locon, uint32_t key);
uint32_t locon_place(const struct locon *locon, uint32_t site);
/* Did some thread run both places, in whatever run? As far as pairs tell. */
bool locon_share_thread(const struct locon *locon, uint32_t a, uint32_t b);
/* The key of a pair of the failed run. */
uint32_t locon_key_of_failed(const struct locon *locon, size_t at);

/* Is `a` predictable by `b`: does b's order of accesses imply a's? Both of one run. */
bool locon_predictable(const struct pair *a, const struct pair *b);

/* A pair of the failed run that sets it apart. */
struct locon_suspect {
	uint32_t at;      /* in failed.pairs */
	uint32_t key;     /* its key */
	bool consequence; /* touches code that no passing run ever ran: later than the cause */
};
struct locon_suspects {
	struct locon_suspect *items;
	size_t n, room; /* as VEC */
};

/* Test Procedure I: pairs of the failed run that at most `tolerance` passing runs
 * show, without predictable ones, in order of occurrence, consequences last.
 * `all` keeps the predictable ones. */
void locon_first(const struct locon *locon, uint32_t tolerance, bool all, struct locon_suspects *out);

/* A pair that passing runs show and the failed run lacks; the reversed pair is the suspect. */
struct locon_missing {
	uint32_t key;
	uint32_t partner; /* key it always came together with; LOCON_NONE: it was in all passing runs */
	uint32_t order;   /* of occurrence in the reference run */
	bool cut_off; /* its tail ran in the failed run and its head never did: the order was turned round */
};
struct locon_missings {
	struct locon_missing *items;
	size_t n, room; /* as VEC */
};

/* Test Procedure II: pairs in all passing runs, and coupled pairs that always came
 * together, that are missing in the failed run and whose reverse no run shows; in
 * order of occurrence, those whose tail ran first. */
void locon_second(const struct locon *locon, struct locon_missings *out);

/* Two pairs of the failed run, opposite ways between the same two threads. */
struct locon_couple {
	uint32_t first, second; /* in failed.pairs; in the order in which they begin */
	double expected;        /* passing runs in which both were to be expected together */
	uint32_t passed;        /* passing runs that had them: none, or hardly any at the level of moments */
	uint64_t span;          /* accesses between their ends in both threads */
	bool stale; /* both pairs go one way; the second's value was to be overwritten before (stale.c) */
	bool moment, crossed; /* moment: of struct couple, and so `crossed` is; the orders are not of then */
};
struct locon_couples {
	struct locon_couple *items;
	size_t n, room; /* as VEC */
	bool cut;       /* not all couples were looked at */
	uint64_t looked;
};

/* Test Procedure III: couples on different locations, each seen in passing runs
 * but never together, at a level of precision, without predictable ones; most
 * telling first. */
void locon_third(const struct locon *locon, enum locon_level level, struct locon_couples *out);

/* Do the two pairs stand opposite ways between the same two threads? */
bool locon_opposed(const struct pair *a, const struct pair *b);
/* Accesses between the ends of two opposed pairs, in both threads. */
uint64_t locon_span(const struct pair *a, const struct pair *b);

#endif
