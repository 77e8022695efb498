/* Proposals: what may have been the cause of a failure, each as a claim that experiments
 * can force and forbid. They come from the methods that compare runs, from the switches
 * that the shortest failing run needs (virtual_fix.c), from its accesses, and from what
 * passing runs did where the failing one ended. Who proposes does not matter for the
 * verdict. */
#ifndef DIAGNOSE_PROPOSALS_H
#define DIAGNOSE_PROPOSALS_H

#include "diagnose/claim_build.h"
#include "diagnose/lab.h"
#include "diagnose/locations.h"
#include "diagnose/retell.h"

struct proposal {
	struct claim claim;
	struct claim_parts parts;
	uint32_t methods;           /* bits by place of the opinion that claims it; 0: found in the trace */
	const struct finding *told; /* as that opinion tells it; NULL */
	size_t last;                /* event of the failing run by which it was complete */
	uint64_t gaps;              /* as claim_find_exits has them */
	struct proof proof;
	/* By causes_sort: */
	bool wide; /* a couple that was made since no group alone mends: both sides are groups, which is almost a lock around all */
	bool excessive; /* a group within it mends the program as well */
	size_t stretch; /* equal for groups of the same stretch (group_is_same_stretch) */
	enum verdict
		shown; /* what was shown of it, or of another of its stretch that fails no more often when forced */
	unsigned sides; /* proof_sides of it and of the others of its stretch */
	bool tight;     /* told by propose_tighter */
};

struct proposals {
	struct proposal *items;
	size_t n, room; /* as VEC */
};

/* Where proposals are looked for. */
struct evidence {
	const struct observations *run; /* the shortest failing run, traced */
	struct atlas *atlas;
	const struct schedule *schedule; /* that it followed */
	struct locations *locations;     /* its accesses by place */
	struct retold *passed;           /* passing runs, traced; nearest first */
	size_t npassed;
	double deadline; /* of the diagnosis: what only makes claims finer is left out from then on */
};

/* Doors that only passing runs show, since the failing one did not come to all steps (doors.c). */
void claim_find_later_doors(const struct evidence *evidence, const struct claim_parts *parts,
			    struct claim *claim);

/* Sets the exits of all roles (exits.c). Bit i: at most 2 to the i accesses lie from one time of a role's last step to
 * the next, and more than half as many. */
uint64_t claim_find_exits(const struct evidence *evidence, struct claim *claim);

/* What a finding about waiting threads claims (claim_waits.c): that one which read, waited and was woken does not
 * look again; that a signal came before the wait; that locks were taken in a circle. False when the finding is
 * about something else. */
bool claim_of_waits(const struct evidence *evidence, const struct finding *finding,
		    const struct claim_parts *parts, struct claim *out);

/* Adds a proposal unless it is there already or cannot be a claim; its place in the list, SIZE_MAX. */
size_t proposals_add(struct proposals *list, const struct evidence *evidence, enum claim_kind kind,
		     const struct claim_parts *parts);

/* The same for a claim that is whole already; `parts` is what is told of it. */
size_t proposals_add_claim(struct proposals *list, const struct evidence *evidence, const struct claim *claim,
			   const struct claim_parts *parts);

/* Is the one group a part of the other: in a traced run, do its first and its last access both come between theirs
 * (group_within.c)? */
bool group_is_within(const struct evidence *evidence, const struct proposal *inner,
		     const struct proposal *outer);

/* The last access of the group's own thread. */
const struct claim_part *group_end(const struct claim_parts *parts);
/* The event at which the innermost lock was taken that the thread holds at `event`; false when it holds none. */
bool group_section(const struct observations *run, uint32_t thread, size_t event, size_t *start);
/* Do both begin in the same section of a lock, or with the same access, and end so? Then experiments cannot tell them
 * apart: who is kept from one access of a section is kept from all. */
bool group_is_same_stretch(const struct evidence *evidence, const struct proposal *a,
			   const struct proposal *b);

/* The same group told by the first read behind its first section, and from event *from on, that sees another's write
 * (propose_tighter.c); its place in the list, SIZE_MAX when there is none. *from is where to look for the next. */
size_t propose_tighter(const struct evidence *evidence, const struct claim_parts *wide, size_t *from,
		       struct proposals *list);

/* Accesses of the failing run: unserialisable triples on one location, the nearest to forced switches
 * first, then orders of two (propose_trace.c). */
void propose_triples(const struct evidence *evidence, struct proposals *list);
void propose_orders(const struct evidence *evidence, struct proposals *list);
/* That `early` was to wait for `late`, in each way, if the two conflict and nothing orders them. */
void propose_order(const struct evidence *evidence, const struct claim_part *early,
		   const struct claim_part *late, struct proposals *list);
/* Reads of others within a group that may have been meant to wait for a later write of the group (required_order.c). */
void propose_inner_orders(const struct evidence *evidence, const struct claim_parts *group,
			  struct proposals *list);
/* Is it proven that a read has to come behind a write, and does every run fail in which it does not? */
bool order_is_required(const struct proposal *proposal);
/* Does forbidding it keep out almost everything: a group on either side, or over many locks? */
bool proposal_is_wide(const struct proposal *proposal);
/* Updates that, alone, do not mend the program, with all other updates of the same variable (propose_merged.c). */
void propose_merged(const struct evidence *evidence, struct proposals *list);
/* Reads that came before a write which passing runs had by then (propose_passing.c). */
void propose_awaited(const struct evidence *evidence, struct proposals *list);

/* The smallest groups around the forced switches that, made one step, mend the program (virtual_fix.c). Where none does,
 * `couples` with a group on either side, for the end. */
struct error *virtual_fix(const struct evidence *evidence, struct lab *lab, struct proposals *list,
			  struct proposals *couples);
/* Frees that, held until others are done, mend a program which uses blocks after they were freed (teardown.c). */
struct error *virtual_teardown(const struct evidence *evidence, struct lab *lab, struct proposals *list);

#endif
