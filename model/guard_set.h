/* A guard set: for each shared access which accesses of other threads may come right
 * before it (AI's belonging sets), and rules that hold one known fault down. What
 * `learn` writes and a guarded build is made from. Text: doc/formats.md, "Guard set".
 */
#ifndef MODEL_GUARD_SET_H
#define MODEL_GUARD_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/place.h"
#include "model/site.h"

#define GUARD_NIL 0u          /* in a set: nobody else has been there */
#define GUARD_SITES 65000u    /* a guarded program's accesses have 16 bits */
#define GUARD_LIMIT_MS 10u    /* the paper's, section 3.3 */
#define GUARD_MOST_MS 600000u /* ten minutes */

/* Where the bytes lie that an access touched in traced runs; 0 when no trace tells. */
enum guard_memory {
	GUARD_MEMORY_LASTING = 1, /* static, or whatever the program's own code did not begin */
	GUARD_MEMORY_HEAP = 2,    /* blocks that the program allocates */
	GUARD_MEMORY_STACK = 4,   /* variables on stacks */
};

struct guard_site {
	uint64_t id; /* place_id */
	enum site_kind kind;
	uint32_t line, column;
	uint32_t size; /* bytes; 0 when it differs from time to time */
	struct place_rank rank;
	uint32_t grain;                             /* bytes that are told apart at it: 1, 2, 4 or 8 */
	uint32_t group;                             /* accesses of different groups never met; 0 unknown */
	uint64_t count;                             /* how often it ran in the runs that were counted */
	char *file, *function, *variable, *through; /* never NULL */
	bool any;                                   /* anything may come before it */
	bool begins;                                /* training: it was the first at some location */
	bool own;         /* with GUARD_NIL: where nobody else has been the thread itself has */
	bool turn;        /* another thread's access comes right before it, never the thread's own */
	bool again;       /* training: the thread's own access came right before it */
	uint32_t returns; /* training: traces in which a thread came back to it when another had been there */
	uint64_t returned;    /* training: the last of these */
	uint8_t memory;       /* enum guard_memory, several at once */
	bool idle;            /* not in the text: see guard_set_find_idle */
	VEC(uint32_t) before; /* rising: GUARD_NIL, numbers of sites */
	VEC(uint32_t)
	doubted; /* rising: the same, of what passing runs had, but maybe by luck; not in `before` */
};

enum guard_rule_kind {
	GUARD_ORDER = 1, /* the second site waits until the first has been done */
	GUARD_ATOMIC,    /* from the first site to the second one step for the others */
};

/* Holds one fault down, whatever came before. */
struct guard_rule {
	enum guard_rule_kind kind;
	uint32_t first, second;
	VEC(uint32_t) others; /* GUARD_ATOMIC: sites that wait while a thread is between the two */
	bool apart;           /* first and second are of different variables: addresses do not tell */
};

struct guard_set {
	uint64_t runs; /* that passed and taught it */
	bool converged;
	uint32_t limit_ms;
	VEC(struct guard_site) sites; /* number i is items[i - 1] */
	VEC(struct guard_rule) rules;
};

/* Of a site, as guarded programs have them: GUARD_OWN and GUARD_TURN of loom/guard/guard.h. */
static inline uint8_t guard_set_traits(const struct guard_site *site)
{
	return (uint8_t)((site->own ? 1u : 0u) | (site->turn ? 2u : 0u));
}

void guard_set_free(struct guard_set *set);

/* The site of this number; numbers are from 1. */
static inline struct guard_site *guard_set_site(const struct guard_set *set, uint32_t number)
{
	return &set->sites.items[number - 1];
}
/* Is an access of others, by its number, the read of an update in the source (`x += y`) whose write is one too? Both
 * are one step then. */
bool guard_rule_updates(const struct guard_set *set, const struct guard_rule *rule, uint32_t site);
/* By how many bytes variables are told apart that are accessed by so many: their narrowest access says it, and 1 for
 * copies (0), which begin and end anywhere. */
uint32_t guard_set_grain(uint32_t size);
/* A new site as the table describes it, with an empty set. Returns its number. */
uint32_t guard_set_add(struct guard_set *set, const struct site *site, struct place_rank rank);
/* Lets `before` come before `number`; false when it could already. */
bool guard_set_allow(struct guard_set *set, uint32_t number, uint32_t before);
/* Keeps `before` out of the set of `number`, as one that passing runs had and may have had by luck: a guarded program
 * gives up the wait for it earlier than for what was never seen. */
void guard_set_doubt(struct guard_set *set, uint32_t number, uint32_t before);
bool guard_set_allows(const struct guard_set *set, uint32_t number, uint32_t before);
/* The number of a site of this id, 0 when there is none. */
uint32_t guard_set_find(const struct guard_set *set, uint64_t id);
/* Adds the rules of another set, and the sites of theirs that `set` does not have; these stay free to come after
 * anything. The longer limit holds. */
void guard_set_add_rules(struct guard_set *set, const struct guard_set *from);
/* A fresh set of the sites for which keep[number] holds. Others disappear from sets and rules. */
void guard_set_choose(const struct guard_set *set, const bool *keep, struct guard_set *out);
/* By number: the lowest number of those that are in the same sets. Owned by the caller. */
uint32_t *guard_set_alike(const struct guard_set *set);
/* Sets `idle` where no access of the group can ever violate its set: each may follow each, and nobody. Nothing is
 * to be noted there either, since groups never met. */
void guard_set_find_idle(struct guard_set *set);
/* May a guarded access of the set touch memory of this kind? Traces tell: an access that none of them has seen is rare,
 * and if it is wrongly left out a stall in vain is what comes of it. Without any trace all may. */
bool guard_set_touches(const struct guard_set *set, enum guard_memory memory);
/* What tells whether two sets are the same: their text. */
uint64_t guard_set_hash(const struct guard_set *set);

/* Looks for the set's sites among a unit's: which[i] becomes the number of sites[i], 0 for none. A place is
 * told by its rank when the function still has as many that are alike, else by line and column. */
void guard_set_match(const struct guard_set *set, const struct site *sites, size_t n, uint32_t *which);

/* ---- guard_set_text.c ---- */
void guard_set_write(FILE *out, const struct guard_set *set);
/* Writes beside `path` and renames: a reader sees the old file or the new one. */
struct error *guard_set_save(const char *path, const struct guard_set *set);
/* Would that be possible? Asked before an hour of runs. */
struct error *guard_set_try_save(const char *path);
/* Reads text of any origin; `name` is for sentences. */
struct error *guard_set_parse(const char *text, size_t size, const char *name, struct guard_set *out);
struct error *guard_set_read(const char *path, struct guard_set *out);

#endif
