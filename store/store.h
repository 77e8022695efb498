/* Campaigns and runs on disk: one SQLite file, `store.db` in the store's folder
 * (format: doc/formats.md, "Store"). One process writes at a time, any number
 * read. A run is stored whole or not at all. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include <roaring/roaring.h>

#include "base/error.h"
#include "model/claim.h"
#include "model/hint.h"
#include "model/run.h"
#include "model/site.h"

struct store;

#define STORE_USUAL ".unsnarl" /* its folder unless --store says otherwise */

/* Opens the store in `folder`. With `create` makes folder and store when absent,
 * and one that cannot be written is an error; without it a read-only store can
 * still be read. A newer, foreign or damaged store is an error and is left as it is. */
struct error *store_open(const char *folder, bool create, struct store **out);
void store_close(struct store *store);
void store_closep(struct store **store);

/* A campaign: runs of one build of one program with one command line. */
struct campaign {
	uint64_t number;  /* from 1 */
	char *program;    /* absolute path */
	char **arguments; /* argv[1..], NULL-terminated */
	uint64_t build;   /* hash of the executable's bytes */
	int64_t created;  /* Unix time, microseconds */
	uint64_t runs, passed, failed;
};
void campaign_free(struct campaign *campaign); /* what it holds, not the struct */

/* The campaign for this program, arguments and build, made when absent. */
struct error *store_campaign(struct store *store, const char *program, char *const *arguments, uint64_t build,
			     uint64_t *number);
/* All campaigns, newest first; an array of *n the caller frees item by item. */
struct error *store_campaigns(struct store *store, struct campaign **out, size_t *n);

/* Stores a run, gives run->number. Reads the tables of units not yet known from
 * their ELF files. When it returns the run survives the death of this process;
 * when it fails nothing of the run is stored. */
struct error *store_add(struct store *store, uint64_t campaign, struct run *run);

/* Reads one run. Site numbers in its observations are the store's (see
 * store_site); `units` is empty. Pairs stand in order of first occurrence,
 * predecessors and edges in order of their interned index. `campaign` may be NULL. */
struct error *store_run(struct store *store, uint64_t number, struct run *out, uint64_t *campaign);

/* Summary of runs in order of number; campaign 0 = all. Of the observations only
 * the counts are filled, the arrays are NULL. The caller frees item by item. */
struct error *store_runs(struct store *store, uint64_t campaign, struct run **out, size_t *n);

/* Gives a stored run its reduced schedule. */
struct error *store_reduce(struct store *store, uint64_t run, const struct schedule *reduced);

/* Gives a stored run what its forced switches point at. */
struct error *store_claim(struct store *store, uint64_t run, const struct hints *claims);
/* That again, best first; none when nobody looked. The caller frees it with VEC_FREE. */
struct error *store_claims(struct store *store, uint64_t run, struct hints *out);
/* Numbers of a campaign's runs that have claims, newest first. The caller frees the array. */
struct error *store_claimed(struct store *store, uint64_t campaign, uint64_t **out, size_t *n);

/* Keeps what a diagnosis of the campaign found, as claims that can be forced and forbidden, in place of what
 * was kept before. Claim i has rank i + 1; those of kind CLAIM_NONE are left out. */
struct error *store_causes(struct store *store, uint64_t campaign, const struct claim *claims, size_t n);
/* One of them again; kind CLAIM_NONE when there is none of that rank. */
struct error *store_cause(struct store *store, uint64_t campaign, uint64_t rank, struct claim *out);

/* The number of the last failed run (of a campaign, 0 = any); 0 when there is none. */
struct error *store_last_failed(struct store *store, uint64_t campaign, uint64_t *number);

/* A site by the store's number. Strings live until store_close. SITE_NIL and
 * unknown numbers are errors. */
struct error *store_site(struct store *store, uint32_t number, const struct site **out);
/* A site by its id, among the units that the campaign's runs have loaded; NULL when
 * there is none. */
struct error *store_site_by_id(struct store *store, uint64_t campaign, uint64_t id, const struct site **out);
/* A site's unit, by its hash, and its place in there; and back. */
struct error *store_site_unit(struct store *store, uint32_t number, uint64_t *hash, uint32_t *index);
struct error *store_unit_site(struct store *store, uint64_t hash, uint32_t index, uint32_t *number);
/* All sites of the unit that holds site `number`: *sites[i] has the number *first + i. They live until store_close. */
struct error *store_unit_sites(struct store *store, uint32_t number, uint32_t *first,
			       const struct site **sites, uint32_t *n);
/* Numbers of the sites at FILE:LINE[:COLUMN] (file may be a suffix such as "a.c"). */
struct error *store_sites_at(struct store *store, const char *file, uint32_t line, uint32_t column,
			     uint32_t **out, size_t *n);

/* Everything interned in a campaign: index i of each array is bit i of a run's bitmap. */
struct interned {
	struct pair_identity *pairs;
	size_t npairs;
	struct predecessor *predecessors;
	size_t npredecessors;
	struct edge *edges;
	size_t nedges;
};
struct error *store_interned(struct store *store, uint64_t campaign, struct interned *out);
void interned_free(struct interned *interned);

/* A run's membership over the campaign's interned observations. Caller frees each bitmap. */
struct membership {
	roaring_bitmap_t *pairs, *predecessors, *edges;
};
struct error *store_membership(struct store *store, uint64_t run, struct membership *out);
void membership_free(struct membership *membership);

/* One of the sets alone, for those who read many runs. */
struct error *store_pair_set(struct store *store, uint64_t run, roaring_bitmap_t **out);
struct error *store_predecessor_set(struct store *store, uint64_t run, roaring_bitmap_t **out);

/* A run's pairs in order of first occurrence, by their interned indexes. The caller frees the array. */
struct error *store_pair_order(struct store *store, uint64_t run, uint32_t **out, size_t *n);
/* A run's edges in order of first occurrence, by their interned indexes; NULL and 0 when the store does
 * not know, as in runs of older versions. The caller frees the array. */
struct error *store_edge_order(struct store *store, uint64_t run, uint32_t **out, size_t *n);

/* A run's pairs in order of first occurrence, each with its interned index, and its couples. */
struct run_pairs {
	struct pair *pairs;
	uint32_t *indexes;
	size_t npairs;
	struct couple *couples;
	size_t ncouples;
};
struct error *store_run_pairs(struct store *store, uint64_t run, struct run_pairs *out);
void run_pairs_free(struct run_pairs *pairs);

#endif
