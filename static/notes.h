/* What speaks for or against a candidate of a scan, why its threads may run at a time, and what the scan
 * made of two lines. score.c has the weights, report/candidate_words.c the words.
 */
#ifndef STATIC_NOTES_H
#define STATIC_NOTES_H

enum candidate_note {
	/* two accesses of two threads */
	NOTE_START,        /* nothing known but that the two may meet */
	NOTE_NO_LOCK,      /* they have no lock in common */
	NOTE_ONE_LOCK,     /* they have: only their order can be wrong */
	NOTE_HALF_LOCKED,  /* one holds a lock, the other none: somebody meant to protect it */
	NOTE_BOTH_ATOMIC,  /* meant for several threads */
	NOTE_ONE_ATOMIC,   /* mixed: the plain one was overlooked, or is before or after */
	NOTE_OWN_ARGUMENT, /* each thread reaches it through what it alone was given */
	NOTE_ITS_ELEMENT,  /* the creator fills elements, each thread is given one */
	NOTE_OWN_ELEMENT,  /* elements chosen by the thread's own number */
	NOTE_ELEMENTS,     /* some element of an array: maybe another one */
	NOTE_MADE_HERE,    /* each thread makes one of its own */
	NOTE_LATE_WRITE,   /* the creator writes when the thread may already run */
	NOTE_FREED,        /* one frees what the other uses */
	NOTE_BOTH_WRITE,   /* both write: somebody's value is lost */
	NOTE_MANY_PLACES,  /* a pointer of one of them may lead to very many places */
	NOTE_ANYWHERE,     /* nobody knows where it leads */
	NOTE_NAMELESS,     /* no name in the source: often a compiler's copy */
	NOTE_BARRIER,      /* a barrier keeps them apart */
	NOTE_SEMAPHORE,    /* the one seems to wait for the other at a semaphore */
	NOTE_CONDITION,    /* the one seems to wait for the other at a condition */
	NOTE_BEHIND_JOIN,  /* behind a join of some thread of this kind */
	NOTE_UNWINDING,    /* only when an exception was thrown */
	NOTE_NOT_OURS, /* in a header of the system: whoever calls it wrongly does so at a line of the program */
	/* two accesses of one thread that belong together, and one of another between */
	NOTE_MODIFIES,     /* what is written is made of what was read */
	NOTE_USES_FOUND,   /* the second uses what the first found */
	NOTE_DONE_BECAUSE, /* whether the second is done depends on what the first found */
	NOTE_UNTIED,       /* nothing ties the second to the first, which reads */
	NOTE_REPEATED,     /* a write and what comes in a later round of its loop */
	NOTE_LOOKED_AGAIN, /* what was read is read again under the lock */
	NOTE_GIVEN_BACK,   /* the lock is given back between the two */
	NOTE_OTHER_ROUND,  /* of a loop */
	NOTE_INDIRECT,     /* in a function that the one with both of them calls */
	NOTE_LOCKED_BETWEEN, /* the one between holds the lock of the first: that speaks against a pair, not here */
	/* two variables */
	NOTE_COUPLE,         /* nothing known but that all four may meet */
	NOTE_OTHERS_SECTION, /* the other side uses both under one lock */
	NOTE_SECOND_DEPENDS, /* what is done to the second depends on the first */
	/* locks in a circle */
	NOTE_CIRCLE,       /* each takes what the other one has */
	NOTE_ONE_KIND,     /* both locks are of one kind */
	NOTE_GATED,        /* a third lock lets only one of them in */
	NOTE_JOIN_LOCKED,  /* one waits for the end of a thread that needs its lock */
	NOTE_AWAIT_LOCKED, /* one waits for a signal from a thread that needs its lock */
	CANDIDATE_NOTES
};

struct candidate_reason {
	enum candidate_note note;
	char *lock; /* that it is about, in words; owned, NULL: none */
};

enum candidate_parallel {
	PARALLEL_UNKNOWN,
	PARALLEL_CALLERS,     /* several threads may call this */
	PARALLEL_CREATED,     /* several threads are created at one place */
	PARALLEL_BEFORE_JOIN, /* one creates the other, and this is before its join */
	PARALLEL_UNJOINED,    /* one creates the other, which nobody joins */
	PARALLEL_SIBLINGS,    /* neither is joined before the other is created */
	CANDIDATE_PARALLELS
};

enum pair_verdict {
	PAIR_READS,     /* neither writes */
	PAIR_ELSEWHERE, /* they never touch the same location */
	PAIR_PRUNED,
	PAIR_CANDIDATE,
};

#endif
