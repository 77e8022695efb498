/* Drives the active tester: runs a verify build with longer and longer delays and in
 * every order, until it fails or nothing more is to be hoped for (COLFINDER, section
 * 4.2). The verdict is by failure alone, by the same oracle as everywhere. */
#ifndef LOOM_TESTER_H
#define LOOM_TESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "loom/active/active.h"
#include "loom/launch.h"

#define TESTER_DELAYS 10u /* 1, 2, 4 … 512 ms */

enum tester_verdict {
	TESTER_HARMFUL,        /* it failed when two threads met there */
	TESTER_NOT_REPRODUCED, /* they met, or were held long, and nothing failed */
	TESTER_NEVER_MET,      /* no two threads were ever there at a time */
	TESTER_NEVER_REACHED,  /* the runs did not come there */
	TESTER_ALWAYS_FAILS,   /* it fails without any delay */
	TESTER_INTERRUPTED,
};

struct tester_site {
	bool writes, frees, cross;
};

struct tester_options {
	struct launch_options launch; /* of the verify build */
	const struct tester_site *sites;
	unsigned nsites;
	bool hoisted;         /* some hooks stand before locks, and behind them as well */
	bool alone;           /* these are locks that only one of the two sides holds */
	unsigned first, last; /* delays to try: 2 to these powers, in ms; below TESTER_DELAYS */
	uint64_t seed;
	double seconds;     /* at most; 0 = no limit */
	unsigned again;     /* runs like the one that failed, to see how surely it does */
	unsigned plain;     /* runs without delay, before all others; at least 1 */
	bool until_met;     /* nothing but whether two threads meet is asked: then it ends */
	bool (*stop)(void); /* Ctrl-C; may be NULL */
	/* After each run; may be NULL. */
	void (*progress)(void *context, unsigned delay_ms, unsigned runs);
	void *context;
};

/* How threads are held and let go in a run. */
struct tester_way {
	enum active_order order;
	bool behind;    /* they are held behind their locks, not before */
	bool scattered; /* in loops they are held in rounds by chance */
	bool stays;     /* the one that went first stays until the other's access is done */
};

struct tester_result {
	enum tester_verdict verdict;
	bool settled;                 /* longer delays would tell nothing new */
	unsigned again, again_failed; /* runs like the one that failed, and how many of them failed too */
	unsigned runs;                /* with delays */
	unsigned plain, plain_failed; /* without */
	unsigned delay_ms;            /* of the run that failed; else the longest tried */
	struct tester_way way;        /* of the run that failed; else of the last one */
	uint64_t reached, met;        /* over all runs */
	struct run failure;           /* of a harmful one; freed by tester_result_free */
	double plain_s, delayed_s;    /* how long runs took, in all */
	double plain_cpu_s, delayed_cpu_s; /* the processor's part of it */
};

/* Adds to *out, which is all zero before the first call for a candidate: delays may be tried in several goes.
 * Nothing more is tried when the result says that it is settled. */
struct error *tester_run(const struct tester_options *options, struct tester_result *out);
void tester_result_free(struct tester_result *result);

const char *tester_verdict_words(enum tester_verdict verdict);

#endif
