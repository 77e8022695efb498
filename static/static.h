/* Whole programs, read from the bitcode that `unsnarl cc` keeps in them: candidates for
 * concurrency bugs. The one header that other rooms see; nothing of LLVM shows here. */
#ifndef STATIC_STATIC_H
#define STATIC_STATIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/site.h"

enum candidate_kind {
	CANDIDATE_RACE,      /* two accesses, one a write, no lock in common */
	CANDIDATE_ORDER,     /* both under one lock, or atomic: only their order can be wrong */
	CANDIDATE_ATOMICITY, /* two accesses of one thread that belong together, one of another between */
	CANDIDATE_MULTI_ATOMICITY, /* the same with two variables */
	CANDIDATE_DEADLOCK,        /* locks taken in a circle */
	CANDIDATE_KINDS
};

struct candidate_access {
	unsigned
		thread; /* 1 or 2: which of the candidate's threads does it; a circle of locks may have more */
	enum site_kind kind; /* READ, WRITE, UPDATE; SYNC for a call that locks */
	bool atomic, frees;
	uint32_t line, column;
	char *file, *function, *variable, *through; /* never NULL, may be "" */
	char *root;           /* the thread, in words: "main", "worker created at pool.c:12" */
	char *locks;          /* held there, in words; "" for none */
	uint32_t instruction; /* number in the whole program: for slices and verify builds */
};

struct candidate {
	unsigned rank; /* from 1 */
	enum candidate_kind kind;
	double score;                          /* 0..1 */
	uint64_t id;                           /* the same for the same lines in every scan */
	VEC(struct candidate_access) accesses; /* in the order that would be wrong */
	/* Further accesses of thread 2 that could come between just as well. */
	VEC(struct candidate_access) others;
	char *variable;
	char *parallel;    /* why both may happen at a time, a clause */
	VEC(char *) notes; /* what raised or lowered the score */
	bool observed;     /* recorded runs saw its memory shared */
};

/* Why pairs were left out, with counts. */
enum pruned {
	PRUNED_ONE_THREAD, /* only one thread ever runs both */
	PRUNED_BEFORE,     /* one is done before the other's thread is created */
	PRUNED_AFTER,      /* one is done after the other's thread was joined */
	PRUNED_APART,      /* one thread has ended when the other begins */
	PRUNED_ELSEWHERE,  /* they touch different places for certain */
	PRUNED_TYPES,      /* by C's rules for types they touch different things */
	PRUNED_RULES
};
const char *pruned_words(enum pruned rule);

struct scan {
	VEC(struct candidate) candidates; /* best first */
	uint64_t pruned[PRUNED_RULES];    /* pairs of statements */
	VEC(char *) roots;                /* the program's threads, in words */
	size_t functions, instructions, accesses, private_accesses, objects, locks, units;
	bool cut;            /* more candidates than are kept */
	uint64_t dropped;    /* how many these are */
	VEC(char *) skipped; /* libraries without bitcode */
};

/* What recorded runs saw at a line: asked for each access; NULL: nothing is known. */
typedef bool scan_observed(void *context, const char *file, uint32_t line);

struct scan_options {
	const char *const *paths;
	size_t npaths;
	size_t most; /* candidates that are kept; 0 = as many as there are memory for */
	void (*progress)(void *context, const char *stage, unsigned done, unsigned total); /* may be NULL */
	void *context;
};

struct error *static_scan(const struct scan_options *options, struct scan *out);
/* Candidates whose memory no run saw shared go last. */
void scan_rank(struct scan *scan, scan_observed *observed, void *context);
void scan_free(struct scan *scan);

/* Whether and why a pair of lines was pruned or kept: sentences, one to a line, owned by the caller. Each place
 * is FILE:LINE; a file may be named by its end. */
struct error *static_why(const struct scan_options *options, const char *first, const char *second,
			 char **out);

void candidate_free(struct candidate *candidate);           /* what it holds, not the struct */
const char *candidate_kind_name(enum candidate_kind kind);  /* "race", "atomicity" … */
const char *candidate_kind_words(enum candidate_kind kind); /* for people */

#endif
