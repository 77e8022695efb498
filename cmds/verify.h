/* What verify knows of each candidate, for verify.c, verify_try.c and verify_report.c. */
#ifndef CMDS_VERIFY_H
#define CMDS_VERIFY_H

#include "cmds/cmds.h"
#include "diagnose/diagnosis.h"
#include "llvm/llvm.h"
#include "loom/tester.h"
#include "loom/world/world.h"
#include "static/static.h"

/* What experiments say of a candidate beside which the program failed. */
enum confirmation {
	CONFIRM_NOT_ASKED,
	CONFIRM_CAUSE,   /* forbidden the failure goes away, forced it comes */
	CONFIRM_OTHER,   /* the failure has another cause */
	CONFIRM_UNKNOWN, /* no experiment could tell */
};

struct verified {
	const struct candidate *candidate;
	struct tester_result result;
	bool tried;
	unsigned covered;             /* rank of a candidate that was tried with the same lines; 0 none */
	uint64_t run;                 /* recorded failing run that a hunt found then; 0 none */
	double seconds;               /* for this candidate, the build included */
	bool sliced;                  /* the tests ran on a slice */
	bool meets;                   /* threads were seen to meet there, or nobody asks that alone */
	struct tester_result meeting; /* of runs that ask it alone, on a slice */
	enum confirmation confirmed;
	unsigned beside; /* rank of another that failed, and experiments say that this one is why; 0 none */
	char *why;       /* what the experiments showed, a clause; NULL */
};

struct verified_list {
	struct verified *items;
	size_t n, room; /* as VEC */
};

struct verify_command {
	uint64_t seed, again, plain;
	double timeout_s, budget_s;
	const char *check, *expect, *store, *link;
	struct cmds_world world;
	bool all, first, no_hunt, slice, json;
	char **chosen;  /* candidates by rank, id or lines; NULL-terminated */
	char **program; /* and its arguments */
};

struct verify_session {
	const struct verify_command *command;
	const struct llvm_entrances *llvm;
	struct world world;
	bool world_open;
	struct scan scan;
	const char *path; /* of the program */
	uint64_t build;
	char folder[256];
	struct verified_list list;
	struct progress *bar;
	const char *now; /* variable of the candidate at hand */
	unsigned done;
	bool over;      /* nothing more is to be tried */
	bool confirmed; /* experiments were made */
	double start;
	bool length_known, is_long; /* do runs of the program take so long that a further slice pays? */
};

/* It failed there, and no experiment says that something else is why; or one says that this is why it failed
 * elsewhere. */
bool verified_is_harmful(const struct verified *verified);
/* It failed there, but an experiment says that this is not why, or none could tell. */
bool verified_only_fails(const struct verified *verified);

/* verify_try.c: tries a candidate with delays of 2 to these powers, first and last, in ms. */
struct error *verify_try(struct verify_session *session, struct verified *verified, const unsigned steps[2]);

/* verify_confirm.c: the candidate with this number in the list has failed. Makes the program fail under control and
 * tries what all of the list claim; sets `confirmed`, `why` and `run` of each. When the cause is a candidate that
 * was not seen to fail, that one is told by `beside`; it comes last in the list when it was not in it. */
struct error *verify_confirm(const struct diagnosis_options *options, const struct scan *scan, size_t failed,
			     struct verified_list *list);

void verify_print(const struct verified *verified);
void verify_print_summary(const struct verified_list *list, bool interrupted, double seconds);
void verify_print_json(const char *program, const struct verified_list *list, bool interrupted,
		       double seconds);
void verified_free(struct verified_list *list);

#endif
