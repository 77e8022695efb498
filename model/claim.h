/* An interleaving claim: a few accesses (or calls) of two or three threads that came in
 * this order, and are said to be why a run failed. Control can force a claim, so that it
 * happens, and forbid it, so that it cannot, as if the program were mended. Plain fixed
 * arrays: the runtime reads a claim as it stands in the run area. Text form: claim_text.c
 * (doc/formats.md, "Claim"). */
#ifndef MODEL_CLAIM_H
#define MODEL_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CLAIM_STEPS 6u
#define CLAIM_SITES 32u        /* of one step: an unrolled or inlined line has several */
#define CLAIM_ROLES 3u         /* threads that take part */
#define CLAIM_EXITS 8u         /* places behind which a role has no further step */
#define CLAIM_DOORS 16u        /* lock calls before which a role is held */
#define CLAIM_ANYWHERE 0u      /* location of a step that may be at any address */
#define CLAIM_NEVER UINT32_MAX /* occurrence of a step that the run ended before */

enum claim_kind {
	CLAIM_NONE,
	CLAIM_ATOMIC,     /* what one role does is one step for the other roles, at these locations */
	CLAIM_ORDER,      /* the first step came too early: it is to wait until the second was done once, */
	CLAIM_ORDER_EACH, /* as often as itself, */
	CLAIM_ORDER_LAST, /* or until it is not done any more */
	CLAIM_ORDER_ONCE, /* one time that the first step was done waits for one time of the second */
	CLAIM_LOOK_AGAIN, /* a thread that read (first step) and waited (second) goes on without reading again */
	CLAIM_LOCKS,      /* roles take locks in a circle: the first step of each takes its first one */
	CLAIM_MISSED, /* a signal (the last step but one) comes before the wait (the last) that it was meant for */
	CLAIM_TAKEN, /* signals (all steps but the last) wake one thread, and not the one whose wait is the last step */
	CLAIM_KINDS
};

enum claim_use {
	CLAIM_UNUSED,
	CLAIM_FORBID, /* it cannot happen */
	CLAIM_FORCE,  /* threads are held so that it happens */
	/* Of atomic claims: it cannot happen, and the first group of role 0 waits until others have done their steps, */
	CLAIM_OTHERS_FIRST,
	CLAIM_GROUP_FIRST, /* or they wait until a whole group was done. */
	CLAIM_USES
};

struct claim_step {
	uint64_t sites[CLAIM_SITES]; /* ids */
	uint32_t nsites;
	uint32_t role;     /* threads take roles as they come; role 0 is that of the first step */
	uint32_t location; /* steps of one location, from 1, meet at overlapping addresses */
	uint32_t thread;   /* number of the thread that did it in the run before */
	uint32_t
		occurrence; /* it was its so many-th time there, from 1; 0 not known, or CLAIM_NEVER. Of an order-once: how many
				accesses the thread had made before */
	uint32_t write; /* 1: it writes, or is a call */
};

struct claim_role {
	uint64_t doors[CLAIM_DOORS]; /* ids of lock calls: it is held there instead of inside */
	uint32_t ndoors;
	uint64_t exits[CLAIM_EXITS]; /* ids: whoever comes there will not do the last step */
	uint32_t nexits;
	uint32_t reach; /* accesses of its thread from its first to its last step, in the run before */
	uint32_t
		linger; /* accesses behind its last step in which it may come again, in a loop; 0: it is over at once */
	uint32_t
		passes_doors; /* 1: it comes to doors of its own between its steps, too: there it does not begin anew */
	uint32_t
		many_locks; /* 1: between its steps it takes others of its doors' locks, which its first step does not tell */
};

struct claim {
	uint32_t kind; /* enum claim_kind */
	uint32_t use;  /* enum claim_use */
	uint32_t nsteps, nroles;
	struct claim_step steps[CLAIM_STEPS]; /* in the order of the failing run */
	struct claim_role roles[CLAIM_ROLES];
};

/* What a run in which a claim was used tells of it. */
struct claim_counts {
	uint32_t held;     /* times a thread was held */
	uint32_t given_up; /* times one was let go because nobody else could run */
	uint32_t
		in_vain; /* an order: times one was let go at a place where what it waited for has not come so far */
	uint32_t occurred; /* forced: times that the whole interleaving came about */
	uint32_t orders;   /* forbidden: CLAIM_BEFORE, CLAIM_AFTER */
};
#define CLAIM_BEFORE 1u /* another role's step came before a whole group of role 0, */
#define CLAIM_AFTER 2u  /* and after one */

/* Is it about one access that has to wait for another? */
static inline bool claim_is_order(const struct claim *claim)
{
	return claim->kind >= CLAIM_ORDER && claim->kind <= CLAIM_ORDER_ONCE;
}

/* Is it how the threads wait that cannot go on? Whoever waited for whom was seen then: it is the failure itself. */
static inline bool claim_is_waiting(const struct claim *claim)
{
	return claim->kind == CLAIM_LOCKS || claim->kind == CLAIM_MISSED || claim->kind == CLAIM_TAKEN;
}

/* Is what it claims to be kept from happening? */
static inline bool claim_forbids(const struct claim *claim)
{
	return claim->use == CLAIM_FORBID || claim->use == CLAIM_OTHERS_FIRST ||
	       claim->use == CLAIM_GROUP_FIRST;
}

/* No number in it leads out of its arrays; roles and steps make sense. */
bool claim_is_sound(const struct claim *claim);

/* Does the set of a step hold the site? */
bool claim_has_site(const struct claim_step *step, uint64_t id);

struct error;
struct site;
/* Writes the text; `find` (as schedule_lookup) may be NULL. */
void claim_write(FILE *out, const struct claim *claim, const struct site *(*find)(void *, uint64_t),
		 void *context);
char *claim_text(const struct claim *claim); /* the same as a string */
/* Reads a text of any origin; the error names the line. `name` is for the error. */
struct error *claim_parse(const char *text, size_t size, const char *name, struct claim *out);
struct error *claim_read(const char *path, struct claim *out);

#endif
