/* From accesses of a traced run, or from a finding, to a claim that can be forced and
 * forbidden: all sites of each line, which thread has which role, which steps share a
 * location, and the doors before which threads are held instead of inside a lock. Pure. */
#ifndef DIAGNOSE_CLAIM_BUILD_H
#define DIAGNOSE_CLAIM_BUILD_H

#include "model/atlas.h"
#include "model/claim.h"
#include "model/finding.h"
#include "model/run.h"

#define CLAIM_NOT_TRACED SIZE_MAX

/* One access of a claim. */
struct claim_part {
	const struct site *site;
	uint32_t thread;
	bool write, missing;
	uint64_t address, size; /* size 0: not known */
	size_t at;              /* event of the traced run; CLAIM_NOT_TRACED */
};

struct claim_parts {
	struct claim_part items[CLAIM_STEPS];
	size_t n;
	bool turned; /* the two in the middle came the other way round than the finding has them */
};

struct claim_part claim_part_of(const struct observations *run, const struct atlas *atlas, size_t event);

/* False when it cannot be one: too many threads, one alone, an access whose site is not known. */
bool claim_build(const struct observations *run, const struct atlas *atlas, enum claim_kind kind,
		 const struct claim_parts *parts, struct claim *out);

/* The accesses of a finding, found again in the run where they are in it. Which of the two that one thread does in the
 * middle of a couple came first, no comparison of runs has said: the run does. */
bool claim_parts_of_finding(const struct observations *run, const struct atlas *atlas,
			    const struct finding *finding, struct claim_parts *out);

/* Of a claim about locks: further calls of the run that take them in the same order (nested_locks.c). */
void claim_add_nested(const struct observations *run, const struct atlas *atlas, struct claim *claim);

/* For each site number of the atlas, the steps that it is one of, as bits. The caller frees it. */
unsigned char *claim_site_bits(const struct atlas *atlas, const struct claim *claim);
/* All sites of a place, `like` first; returns how many. */
uint32_t claim_collect_sites(const struct atlas *atlas, const struct site *like, uint64_t *out,
			     uint32_t most);
/* Leaves out the sites of each step that met nobody in the run, where others of the same line did (claim_meet.c). */
void claim_keep_meeting(const struct observations *run, const struct atlas *atlas, struct claim *claim);
/* Sets the doors of all roles (doors.c). */
void claim_find_doors(const struct observations *run, const struct atlas *atlas,
		      const struct claim_parts *parts, struct claim *claim);
/* Does a thread of the run do first what the order wants last, at one place? Then neither is meant to be first. */
bool claim_is_mutual(const struct observations *run, const struct atlas *atlas, const struct claim *claim);

/* Of an order: does the late step come first anyway, because the threads of the early one are made behind it, or its own
 * is joined before? */
enum claim_settled { CLAIM_UNSEEN, CLAIM_OPEN, CLAIM_SETTLED };
enum claim_settled claim_settled(const struct observations *run, const struct atlas *atlas,
				 const struct claim *claim);

/* The same places in the same order with the same roles. */
bool claim_is_same(const struct claim *a, const struct claim *b);

/* Did the program itself order the two accesses, by making or joining threads or within one? */
bool claim_is_ordered(const struct observations *run, size_t first, size_t second);

#endif
