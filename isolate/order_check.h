/* The order of threads as the cause: what the files of the order check share. */
#ifndef ISOLATE_ORDER_CHECK_H
#define ISOLATE_ORDER_CHECK_H

#include "diagnose/claim_build.h"
#include "isolate/isolate.h"
#include "report/isolate_words.h"

#define ORDER_NONE SIZE_MAX

struct order_search {
	const struct isolate_options *options;
	struct isolation *isolation;
	const struct schedule *schedule;
	const struct isolate_failure *failure;
	const struct observations *trace;
	struct atlas atlas;
	size_t reads[ISOLATE_READS]; /* the event of each read; ORDER_NONE: not in the trace */
	uint64_t most;               /* experiments in all */
	bool found;                  /* something goes away when an access is moved */
	VEC(uint64_t) tried;         /* groups of accesses, as a number made of their places */
};

/* ---- order_moves.c ---- */
/* One experiment: what was moved, and what came of it. */
struct order_move {
	bool passes;
	bool given_up; /* somebody had to be let go: it passes perhaps for another reason */
};
struct error *order_forbid(struct order_search *search, enum claim_kind kind, const struct claim_parts *parts,
			   struct order_move *out);
/* Does the interleaving fail when it is forced from another beginning? *came: it could be forced. */
struct error *order_force(struct order_search *search, enum claim_kind kind, const struct claim_parts *parts,
			  bool *came, bool *fails);
/* Remembers an experiment for the answer. */
void order_note(struct order_search *search, enum isolate_moved use, const struct claim_parts *parts,
		bool passes, bool given_up, bool came);
bool order_is_over(const struct order_search *search);
struct claim_parts order_parts(const struct order_search *search, const size_t *events, size_t n);
/* Keeps the finding, unless a better one is there. */
void order_tell(struct order_search *search, enum finding_class class, enum isolate_story story, bool sure,
		const struct claim_parts *parts);
/* The same group was not tried yet. */
bool order_is_new(struct order_search *search, const struct claim_parts *parts);

/* ---- order_late.c ---- */
/* Was something read before another thread, which did not come to it any more, had written it? */
struct error *order_check_late(struct order_search *search);

#endif
