/* What verify knows of each candidate, for verify.c and verify_report.c. */
#ifndef CMDS_VERIFY_H
#define CMDS_VERIFY_H

#include "loom/tester.h"
#include "static/static.h"

struct verified {
	const struct candidate *candidate;
	struct tester_result result;
	bool tried;
	unsigned covered; /* rank of a candidate that was tried with the same lines; 0 none */
	uint64_t run;     /* recorded failing run that a hunt found then; 0 none */
	double seconds;   /* for this candidate, the build included */
	bool sliced;      /* the tests ran on a slice */
};

struct verified_list {
	struct verified *items;
	size_t n, room; /* as VEC */
};

void verify_print(const struct verified *verified);
void verify_print_summary(const struct verified_list *list, bool interrupted, double seconds);
void verify_print_json(const char *program, const struct verified_list *list, bool interrupted,
		       double seconds);
void verified_free(struct verified_list *list);

#endif
