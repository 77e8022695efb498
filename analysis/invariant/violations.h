/* Violations that guarded programs logged (doc/formats.md, "Guard log"): read, added up by
 * what came after what, told as findings, and let into a guard set when the runs were good. */
#ifndef ANALYSIS_INVARIANT_VIOLATIONS_H
#define ANALYSIS_INVARIANT_VIOLATIONS_H

#include "model/finding.h"
#include "model/guard_set.h"

struct violation_access {
	uint64_t id;
	enum site_kind kind;
	char *file, *function, *variable;
	uint32_t line, column, thread;
};

struct violation {                              /* all lines with the same two accesses */
	struct violation_access access, before; /* before.id 0: nobody had been there */
	uint64_t resolved, unresolved, unfinished;
	double waited_s, longest_s;
	double first, last; /* Unix time */
	uint64_t set;       /* hash of the guard set */
	enum violation_how {
		VIOLATION_AFTER,  /* it never came after `before` */
		VIOLATION_AGAIN,  /* it may, but the thread itself has been there since */
		VIOLATION_SELDOM, /* it did in training, but maybe by luck */
		VIOLATION_INSIDE, /* a rule: `before` begins a group that the other thread is in */
		VIOLATION_EARLY   /* a rule: `before` had to come first */
	} how;
};

struct violations {
	VEC(struct violation) list; /* the most frequent first */
	uint64_t damaged;           /* lines that could not be read */
};

/* Adds what is in a log. Text of any origin: a line that is not as it should be is counted and left out. */
struct error *violations_read(const char *path, struct violations *out);
/* The logs of a NULL-terminated list, sorted. */
struct error *violations_read_all(char *const *paths, struct violations *out);
void violations_parse(const char *text, size_t size, struct violations *out);
void violations_sort(struct violations *violations);
void violations_free(struct violations *violations);

/* Without sentences, which report/guard_view.c makes. */
void violations_findings(const struct violations *violations, struct findings *out);
/* Widens sets by what came before in runs that were right. What waiting resolved never happened, so that the run says
 * nothing of it: left out unless `held_too`. Rules are no sets. */
struct relaxed {
	size_t added;                /* members */
	size_t violations;           /* in all; of them those that add nothing: */
	size_t held, ruled, unknown; /* resolved; against a rule; of accesses that the set does not have */
};
struct relaxed violations_relax(const struct violations *violations, struct guard_set *set, bool held_too);

#endif
