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
#include "static/notes.h"

enum candidate_kind {
	CANDIDATE_RACE,      /* two accesses, one a write, no lock in common */
	CANDIDATE_ORDER,     /* both under one lock, or atomic: only their order can be wrong */
	CANDIDATE_ATOMICITY, /* two accesses of one thread that belong together, one of another between */
	CANDIDATE_MULTI_ATOMICITY, /* the same with two variables */
	CANDIDATE_DEADLOCK,        /* locks taken in a circle */
	CANDIDATE_KINDS
};

struct candidate_access {
	unsigned thread;     /* of the candidate's, from 1 */
	enum site_kind kind; /* READ, WRITE, UPDATE; SYNC for a call that locks or joins */
	bool atomic, frees, joins;
	uint32_t line, column;
	char *file, *function, *variable, *through; /* never NULL, may be "" */
	char *root;           /* the thread, in words: "main", "worker created at pool.c:12" */
	char *locks;          /* held there, in words; "" for none */
	uint32_t instruction; /* number in the whole program: for slices and verify builds */
	uint32_t statement;   /* that all instructions of one statement share; UINT32_MAX: only this one */
	uint32_t lock;        /* a lock that the other side holds as well; UINT32_MAX none */
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
	enum candidate_parallel parallel;   /* why both may happen at a time */
	VEC(struct candidate_reason) notes; /* what raised or lowered the score */
	bool observed;                      /* recorded runs saw its memory shared */
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

/* An instruction that touches shared memory, and the statement that it is part of. With a lock: the instruction
 * that took it for this access. */
struct scan_instruction {
	uint32_t statement, instruction;
	uint32_t lock, section; /* UINT32_MAX: none */
};

enum scan_stage {
	SCAN_READING,
	SCAN_POINTERS,
	SCAN_THREADS,
	SCAN_LOCKS,
	SCAN_ACCESSES,
	SCAN_PAIRS,
	SCAN_ATOMICITY,
	SCAN_COUPLES, /* of variables */
	SCAN_STAGES
};

struct scan {
	VEC(struct candidate) candidates; /* best first */
	uint64_t pruned[PRUNED_RULES];    /* pairs of statements */
	VEC(char *) roots;                /* the program's threads, in words */
	size_t functions, instructions, accesses, private_accesses, objects, locks, units;
	bool cut;                           /* more candidates than are kept */
	uint64_t dropped;                   /* how many these are */
	uint64_t unpaired;                  /* pairs of accesses that were too many to compare */
	uint64_t untried;                   /* of two accesses of one thread: too many to look for a third */
	bool unfinished[SCAN_STAGES];       /* the time was up */
	VEC(char *) skipped;                /* libraries without bitcode */
	VEC(struct scan_instruction) parts; /* of all statements */
};

/* What recorded runs saw at a line: asked for each access; NULL: nothing is known. */
typedef bool scan_observed(void *context, const char *file, uint32_t line);

struct scan_options {
	const char *const *paths;
	size_t npaths;
	size_t most; /* candidates that are kept; 0 = as many as there are memory for */
	/* For the search in all, 0: no limit. What comes before the candidates is done in any case. */
	double seconds;
	/* Of a stage so much is done; of SCAN_POINTERS nobody knows how much there will be. May be NULL. */
	void (*progress)(void *context, enum scan_stage stage, size_t done, size_t total);
	void *context;
};

struct error *static_scan(const struct scan_options *options, struct scan *out);
/* Candidates whose memory no run saw shared go last. */
void scan_rank(struct scan *scan, scan_observed *observed, void *context);
void scan_sort(struct scan *scan); /* best first, with new ranks */
void scan_free(struct scan *scan);

/* What the scan made of two accesses. */
struct pair_told {
	enum pair_verdict verdict;
	enum site_kind kinds[2];
	char *variables[2]; /* never NULL, may be "" */
	enum pruned rule;   /* of PAIR_PRUNED */
	enum candidate_parallel parallel;
	char *lock; /* that both hold, in words; NULL: none */
};

struct pairs_told {
	VEC(struct pair_told) pairs;
	bool found[2]; /* whether something at the place touches memory that several threads can reach */
};

/* Whether and why pairs of two lines were pruned or kept. Each place is FILE:LINE; a file may be named by its
 * end. */
struct error *static_why(const struct scan_options *options, const char *const places[2],
			 struct pairs_told *out);
void pairs_told_free(struct pairs_told *told);

void candidate_free(struct candidate *candidate); /* what it holds, not the struct */
/* Is this what the user means: a rank, an id, or two lines as FILE:LINE,FILE:LINE? */
bool candidate_is(const struct candidate *candidate, const char *name);

/* ---- programs made of the bitcode ---- */

/* A place that a build hooks: the instructions of one statement. A thread that is held inside a lock would keep out
 * who needs it, for the access or on the way there: it is held before it takes the lock (hoisting). */
struct build_part {
	uint32_t instruction, hoisted; /* hoisted: the call that takes the lock; UINT32_MAX none */
	bool alone;                    /* the other side's accesses hold no lock */
};
struct build_site {
	VEC(struct build_part) parts;
	enum site_kind kind; /* READ, WRITE, UPDATE; SYNC for a call that locks */
	bool frees;
	unsigned thread; /* of the candidate */
};

struct build_sites {
	struct build_site *items;
	size_t n, room; /* as VEC */
};

/* The places of a candidate, at most `most`; those that could come between last. */
void build_sites_of(const struct scan *scan, const struct candidate *candidate, size_t most,
		    struct build_sites *out);
void build_sites_free(struct build_sites *sites);

/* What a slice left of the program. */
struct slice_line {
	char *file;
	uint32_t line;
	bool kept, criterion;
};

struct slice_report {
	VEC(struct slice_line) lines;
	size_t functions, functions_kept, instructions, instructions_kept;
};
void slice_report_free(struct slice_report *report);

struct build_options {
	const char *const *paths; /* as for the scan */
	size_t npaths;
	const struct build_sites *sites; /* of the candidate; NULL for none */
	bool slice;                      /* leave out what does not matter to the sites */
	bool prints;                     /* of a slice: what the program prints matters */
	bool meeting; /* of a slice: only whether threads come to the sites at a time matters */
	bool hook;    /* put the hooks in */
	struct slice_report *report; /* of a slice; may be NULL */
	char *const *link;           /* further arguments for the linker, NULL-terminated; may be NULL */
	const char *folder;          /* for files on the way */
	const char *output;
};

/* The whole program once more, without the hooks of unsnarl cc. */
struct error *static_build(const struct build_options *options);

#endif
