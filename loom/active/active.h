/* The active tester (COLFINDER, sections 3.6 and 4): what unsnarl and a verify build tell each other. A verify
 * build hooks only the accesses of one candidate; its threads run freely. The area is a file that both map. */
#ifndef LOOM_ACTIVE_ACTIVE_H
#define LOOM_ACTIVE_ACTIVE_H

#include <stdint.h>

#define ACTIVE_ENVIRONMENT "UNSNARL_ACTIVE" /* names the area's file */
#define ACTIVE_MAGIC 0x4556495443414e55ull
#define ACTIVE_VERSION 4u
#define ACTIVE_SITES 32u /* a power of two */

/* Beside the site's number: a hook before the call that takes the lock, and one at the access itself. Which of them
 * act is the run's to say: two threads that hold one lock meet only before it, two that were meant to hold one lock
 * and do not only behind. */
#define ACTIVE_BEFORE_LOCK 0x100u
#define ACTIVE_BEHIND_LOCK 0x200u
/* With either of them: the other side does not hold this lock, but may need it on its way. Before the lock nobody
 * knows what the thread will touch: it meets any access of the other side, and the meeting counts when it comes to
 * the same memory. */
#define ACTIVE_LOCK_ALONE 0x400u

enum active_order {
	ACTIVE_LOWER_FIRST,  /* of two that met, the site of the lower number; of one site, who came last */
	ACTIVE_HIGHER_FIRST, /* the other way round */
	ACTIVE_ANY_FIRST,    /* by chance, from the seed */
	ACTIVE_ORDERS
};

struct active_site {
	uint32_t writes; /* set by unsnarl: the access writes */
	uint32_t frees;  /* the access frees the whole block */
	uint32_t cross;  /* meets its partner whatever the addresses are: a lock of a circle */
	/* counted by the program */
	uint32_t reached, held, met, late; /* late: held until the time was up */
};

struct active_area {
	uint64_t magic;
	uint32_t version, nsites;
	uint32_t delay_us; /* how long a thread is held; 0 = no hook does anything */
	uint32_t order;    /* enum active_order */
	uint64_t seed;
	uint32_t meetings;  /* pairs of threads that met */
	uint32_t late_most; /* times that threads of this run are held in vain */
	uint32_t behind;    /* hooks behind locks act, not those before */
	uint32_t scattered; /* in loops, which rounds are held is chance */
	uint32_t stays;     /* who went first goes on when the other's access is done as well */
	uint32_t ends_idle; /* the program may end as soon as no two threads can meet any more, if none did */
	uint32_t ended;     /* counted by the program: it did */
	struct active_site sites[ACTIVE_SITES];
};

#endif
