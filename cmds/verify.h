/* What verify knows of each candidate, for verify.c and verify_report.c. */
#ifndef CMDS_VERIFY_H
#define CMDS_VERIFY_H

#include "diagnose/diagnosis.h"
#include "loom/tester.h"
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
	unsigned covered; /* rank of a candidate that was tried with the same lines; 0 none */
	uint64_t run;     /* recorded failing run that a hunt found then; 0 none */
	double seconds;   /* for this candidate, the build included */
	bool sliced;      /* the tests ran on a slice */
	enum confirmation confirmed;
	unsigned beside; /* rank of another that failed, and experiments say that this one is why; 0 none */
	char *why;       /* what the experiments showed, a clause; NULL */
};

struct verified_list {
	struct verified *items;
	size_t n, room; /* as VEC */
};

/* It failed there, and no experiment says that something else is why; or one says that this is why it failed
 * elsewhere. */
bool verified_is_harmful(const struct verified *verified);
/* It failed there, but an experiment says that this is not why, or none could tell. */
bool verified_only_fails(const struct verified *verified);

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
