/* All parts of an analysis, for the rooms that look for candidates in it. */
#ifndef STATIC_SCANNER_H
#define STATIC_SCANNER_H

#include "static/accesses.h"
#include "static/static.h"

/* A line of the program with what it does there: accesses of one statement are one in answers. */
struct statement {
	bool own; /* in a file of the program, not in a header of the system */
	uint32_t line, column;
	enum site_kind kind;
	const char *file, *function, *variable, *through; /* interned */
};

struct scanner {
	struct whole whole;
	struct points points;
	struct threads threads;
	struct locks locks;
	struct accesses accesses;
	VEC(struct statement) statements;
	struct map statement_numbers; /* identity → number, plus 1 */
	struct map strings;
	uint32_t *statement_of;          /* by access */
	char **root_words, **lock_words; /* made when they are asked for */
	size_t nlock_words;
	struct map tag_answers; /* pair of tags → may they meet? plus 1 */
	struct map parallel;    /* pair of accesses → what pairs_parallel says of it */
	struct phases *phases;  /* made when it is asked for */
	const struct scan_options *options;
	double end; /* of the time for candidates; 0: none */
};

#define SCANNER_REMEMBERS (1u << 20) /* answers about pairs; then it begins anew, since they come in groups */

struct error *scanner_start(struct scanner *scanner, const struct scan_options *options);
void scanner_free(struct scanner *scanner);

/* Tells how far the search for candidates is. False when the time is up: what is left of this stage was not looked
 * at, and the answer says so. */
bool scanner_go_on(const struct scanner *scanner, struct scan *out, enum scan_stage stage, size_t done,
		   size_t total);

/* ---- describe.c ---- */
/* The number of the statement that an instruction belongs to. */
uint32_t scanner_statement(struct scanner *scanner, uint32_t instruction, LLVMValueRef pointer,
			   enum site_kind kind);
const char *scanner_root(struct scanner *scanner, uint32_t root); /* in words */
const char *scanner_lock(struct scanner *scanner, uint32_t lock); /* its name */
char *scanner_locks(struct scanner *scanner, const struct lockset *held);
void scanner_describe(struct scanner *scanner, uint32_t access, unsigned thread, uint32_t root,
		      struct candidate_access *out);
/* The same for a call that locks. */
void scanner_describe_call(struct scanner *scanner, uint32_t instruction, unsigned thread, uint32_t root,
			   const struct lockset *held, const char *variable, struct candidate_access *out);

static inline bool scanner_is_own(const struct scanner *scanner, uint32_t access)
{
	return scanner->statements.items[scanner->statement_of[access]].own;
}

/* May the two be of one location, by the rules of types? */
bool scanner_types_meet(struct scanner *scanner, const struct access_at *a, const struct access_at *b);

/* ---- control.c ---- */
/* For each block of a function the branches that decide whether it runs. */
struct control {
	const struct loops *loops;
	VEC(uint32_t) * deciders; /* by block number: blocks whose terminators decide */
};
void control_find(const struct loops *loops, bool ignore_error_exits, struct control *out);
void control_free(struct control *control);

/* ---- pairs.c, atomic.c, cycles.c ---- */
/* A pair of roots in which the two accesses may happen at a time. False with the reason when there is none. */
bool pairs_parallel(struct scanner *scanner, uint32_t a, uint32_t b, uint32_t roots[2], enum pruned *why);
void pairs_find(struct scanner *scanner, struct scan *out);
void atomic_find(struct scanner *scanner, struct scan *out);
/* ---- multi.c ---- */
void multi_find(struct scanner *scanner, struct scan *out);
void cycles_find(struct scanner *scanner, struct scan *out);

/* ---- separated.c ---- */
/* What stands between two accesses of two threads, as far as the text tells; it may be meant for something else. */
enum phase {
	PHASE_NONE,
	PHASE_BARRIER, /* whoever goes from the one to the other waits at a barrier, and on the way back, too */
	PHASE_SEMAPHORE, /* posted behind the one, waited for before the other */
	PHASE_CONDITION, /* signalled behind the one, waited for before the other */
	PHASE_JOIN,      /* the creator of the one is there only behind a join */
};
enum phase phases_between(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2]);
void phases_free(struct phases *phases);

/* ---- score.c ---- */
/* How likely a pair is a bug, with the reasons as notes. */
void score_pair(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2],
		struct candidate *candidate);
/* The same without the reasons. */
double score_worth(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2]);
void score_add(struct candidate *candidate, enum candidate_note note);
void score_add_lock(struct candidate *candidate, enum candidate_note note,
		    const char *lock); /* may be NULL */
/* Why two roots may run at a time. */
enum candidate_parallel score_parallel(const struct scanner *scanner, const uint32_t roots[2]);

#endif
