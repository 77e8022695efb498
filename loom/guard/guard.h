/* The runtime of guarded production builds (AI, section 3.3): remembers for each guarded
 * location the last two accesses by different threads, and before an access whose remote
 * predecessor is not in its set lets the thread wait a little, looking again.
 *
 * It stands on libc alone, takes no lock, allocates nothing, opens no file but the log it
 * is given, and never blocks a thread for longer than the limit. Everything here may run
 * in a signal handler, in a forked child and in thousands of threads.
 */
#ifndef LOOM_GUARD_GUARD_H
#define LOOM_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loom/guard/inline.h"

/* ---- what the build brings (written by loom/compile/guard_data.c) ---- */

struct guard_name {
	uint64_t id;
	const char *kind, *file, *function, *variable; /* escaped: each is one word */
	uint32_t line, column;
};

struct guard_rule_data {
	uint16_t kind; /* enum guard_rule_kind of model/guard_set.h */
	uint16_t apart;
	uint16_t first, second; /* sites */
};

struct guard_data {
	uint64_t hash;                  /* of the set's text */
	uint32_t nsites, nrules;        /* sites are numbered from 1; 0 is nil */
	uint32_t limit_us;              /* longest stall */
	uint32_t words;                 /* of a row; 0: lists instead of rows */
	const uint64_t *rows;           /* bit `before` of row `site`: may come before it */
	const uint32_t *starts;         /* lists: of site s from starts[s] to starts[s + 1] */
	const uint16_t *members;        /* rising */
	const uint8_t *any;             /* by site: anything may come before */
	const uint8_t *traits;          /* by site: GUARD_OWN, GUARD_TURN */
	const uint8_t *shifts;          /* by site: logarithm of its grain */
	const uint16_t *alike;          /* by site: the same number for those that may precede the same */
	const struct guard_name *names; /* by site */
	const struct guard_rule_data *rules;
	const char *log; /* NULL: the environment names one, or there is none */
	uint32_t ndoubted;
	const uint32_t
		*doubted; /* site << 16 | before, rising: not in the set, but seen in runs that passed */
};

#define GUARD_OWN 1u  /* where nobody else has been, the thread itself has */
#define GUARD_TURN 2u /* another thread has been there last, or nobody */

extern const struct guard_data *unsnarl_guard_data;

/* ---- hooks: what guarded code calls ---- */

#ifdef __clang__
#define GUARD_HOOK __attribute__((preserve_most))
#else
#define GUARD_HOOK
#endif

/* One location, told apart from its neighbours; `address` is a multiple of the site's grain. */
GUARD_HOOK void unsnarl_guard(uint64_t address, uint64_t site);
/* Two neighbours of `1 << shift` bytes, which the address is a multiple of. */
GUARD_HOOK void unsnarl_guard_two(uint64_t address, uint64_t site, uint64_t shift);
/* Several: every `1 << shift` bytes is one. */
GUARD_HOOK void unsnarl_guard_range(uint64_t address, uint64_t size, uint64_t site, uint64_t shift);
/* So many, from the beginning of one on. */
GUARD_HOOK void unsnarl_guard_row(uint64_t address, uint64_t n, uint64_t site, uint64_t shift);
/* Of every `step` bytes the first `extent`, so many times; what are step and extent is in the two halves of `form`, and
 * the site above the logarithm of its grain in `named`. */
GUARD_HOOK void unsnarl_guard_strided(uint64_t address, uint64_t times, uint64_t form, uint64_t named);
/* A block that is about to be freed: where nobody has been there is nothing to say. */
GUARD_HOOK void unsnarl_guard_freed(uint64_t block, uint64_t site, uint64_t shift);
/* Memory that begins a new life: a block from malloc; a variable on the stack. */
GUARD_HOOK void unsnarl_guard_fresh(uint64_t block);
GUARD_HOOK void unsnarl_guard_fresh_stack(uint64_t address, uint64_t size);
/* Before a mutex is taken inside which the access stands: waits there instead, without the mutex. */
GUARD_HOOK void unsnarl_guard_ahead(uint64_t address, uint64_t site, uint64_t mutex);
/* Right behind the call that took it, which returned `error`: when somebody came in between, gives it back and
 * waits again. */
GUARD_HOOK void unsnarl_guard_locked(uint64_t address, uint64_t site, uint64_t mutex, uint64_t error);
/* Rules, by number; sizes are in bytes. */
GUARD_HOOK void unsnarl_guard_enter(uint64_t rule, uint64_t address,
				    uint64_t size); /* before the first of a group */
GUARD_HOOK void unsnarl_guard_leave(uint64_t rule); /* behind the last */
/* Around an access by others: nobody is in the group meanwhile, and a group cannot begin between the look and the
 * access. */
GUARD_HOOK void unsnarl_guard_touch(uint64_t rule, uint64_t address, uint64_t size, uint64_t site);
GUARD_HOOK void unsnarl_guard_touched(uint64_t rule);
/* The same where there is no hook behind the access: only waits. */
GUARD_HOOK void unsnarl_guard_wait(uint64_t rule, uint64_t address, uint64_t size, uint64_t site);
GUARD_HOOK void unsnarl_guard_done(uint64_t rule, uint64_t address,
				   uint64_t size); /* behind what has to come first */
/* Observed programs have no hooks behind accesses: the same as leave and done, after a moment. */
void unsnarl_guard_leave_soon(uint64_t rule);
void unsnarl_guard_touched_soon(uint64_t rule);
void unsnarl_guard_done_soon(uint64_t rule, uint64_t address, uint64_t size);
GUARD_HOOK void unsnarl_guard_await(uint64_t rule, uint64_t address, uint64_t size);

/* ---- rooms of the runtime ---- */

/* start.c: what the environment says, threads, the end. */
struct guard_settings {
	bool off;
	uint32_t limit_us;
	char log[512]; /* empty: none */
};
extern struct guard_settings guard_settings;
extern __thread uint32_t guard_self; /* number of this thread, 1 to 65534; 0: not yet */
void guard_register(void);
uint64_t guard_now_us(void);

/* cells.c: where the last two accesses of each location lie. */
extern struct guard_map unsnarl_guard_map;
extern __thread struct guard_memo unsnarl_guard_memos[GUARD_MEMOS];
bool guard_cells_start(void);            /* false when there is no room in the address space */
void guard_cells_off(void);              /* the guard is off: accesses need no call */
void guard_cells_mark(uint64_t address); /* before a location's first access is noted */
void guard_forget(uint64_t address, uint64_t size);

/* record.c: the last two accesses of each location. */
/* Site and thread of the last access by another thread before one at `site`; 0 when there was none. */
uint32_t guard_predecessor(uint64_t address, uint32_t site);
bool guard_note(uint64_t address, uint32_t site, bool must);
/* Notes it if it may come now, and says in *note how it can be taken back while nobody else has come. */
struct guard_note {
	uint64_t before, after; /* states of the location */
	uint64_t at_us;         /* when it was noted; UINT64_MAX: not yet */
	uint64_t stalled_us;    /* when its stall began, however often it gave way; 0: not yet */
};
bool guard_note_for_now(uint64_t address, uint32_t site, struct guard_note *note);
bool guard_note_undo(uint64_t address, uint32_t site, const struct guard_note *note);
bool guard_may_follow(uint64_t address, uint32_t site); /* what is on record there */
#define GUARD_SEVERAL 0xffffu /* in place of a thread: at least two, which one of them does not matter */

/* Steps within the sets that a thread did: at this site from this state to that one. Where accesses of several
 * threads lie side by side one memo of a site is not enough. */
#ifndef GUARD_STEPS
#define GUARD_STEPS 128u
#endif
extern __thread struct guard_step {
	uint64_t site, from, to;
} guard_steps[GUARD_STEPS];

static inline struct guard_step *guard_step_of(uint64_t state, uint32_t site)
{
	return &guard_steps[(state * 0x9e3779b97f4a7c15u >> 57 ^ site) % GUARD_STEPS];
}

/* One access, at the location of this cell. */
GUARD_HOOK void guard_one(uint64_t *cell, uint64_t address, uint32_t site);

static inline uint32_t guard_word(uint32_t site, uint32_t thread)
{
	return thread << GUARD_SITE_BITS | site;
}
static inline uint32_t guard_word_site(uint32_t word)
{
	return word & 0xffff;
}
static inline uint32_t guard_word_thread(uint32_t word)
{
	return word >> GUARD_SITE_BITS;
}
bool guard_allows(uint32_t site, uint32_t before);

/* range.c */
void guard_rows_start(void);
extern bool guard_has_vectors; /* of the processor */

/* stall.c */
struct guard_pace { /* the small steps of one stall */
	uint64_t started_us, limit_us;
	uint64_t looked_us; /* at the last step */
	uint64_t held_us;   /* of the time until then, in which who is waited for was stalled itself */
	unsigned step;
};
void guard_pace_start(struct guard_pace *pace, uint64_t limit_us);
/* Waits one step; false when the limit has been reached. While who is waited for is stalled itself the time does not
 * count, but for the limit of all stalls. */
bool guard_pace_step(struct guard_pace *pace);
/* One more moment: who let us go has been at its access, but may not have done it yet. */
void guard_pace_settle(const struct guard_pace *pace);
/* Waits until who came before `site` is in its set, within the limit; then notes the access. */
void guard_stall(uint64_t address, uint32_t site);
/* The same before `mutex` is taken. While others have it, who came before may well be in the middle of what it
 * has it for: that is waited for as well, but it is no violation. After a violation the access is noted here
 * already, so that of several that waited for the same only one goes on. */
void guard_stall_ahead(uint64_t address, uint32_t site, const int *mutex);
/* The same with the mutex taken, which is given back while it waits; it has it again at the end. */
void guard_stall_locked(uint64_t address, uint32_t site, void *mutex);

/* tally.c: violations by site and predecessor. */
enum guard_why {
	GUARD_AFTER,  /* what came before is not in its set */
	GUARD_INSIDE, /* a rule: another thread is in the middle of a group */
	GUARD_EARLY,  /* a rule: what has to come first has not been done */
};
struct guard_violation {
	enum guard_why why;
	uint64_t address;      /* where it is one of the sets */
	uint32_t site, before; /* words; site without a thread means this thread */
	bool resolved;
	uint64_t waited_us;
};
/* Not in the set, but runs that passed had it: maybe by luck. */
bool guard_tally_is_doubted(uint32_t site, uint32_t before);
/* How long a thread may be stalled for this violation: less each time it was in vain. */
uint64_t guard_tally_limit(uint32_t site, uint32_t before);
void guard_tally(const struct guard_violation *violation);
void guard_tally_forget(void); /* in a forked child */
void guard_tally_end(void);    /* logs what has not been logged */
/* A stall begins: others know of it, and the log does if the process ends. */
void guard_tally_begin(const struct guard_violation *violation, const struct guard_pace *pace);
void guard_tally_awaits(uint32_t before, uint64_t looked_us); /* for whom it waits now */
void guard_tally_ended(void);
/* Does this thread wait there for the access of this word, and has looked after that time? */
bool guard_tally_is_awaited(uint64_t address, uint32_t word, uint32_t by, uint64_t since_us);
/* Is who this thread waits for stalled itself? Where they wait for each other, all in a circle, the one with the
 * shortest limit is to give up, the first that came among equals: for that one nobody is, and `weakest` says so. */
bool guard_tally_is_held(bool *weakest);

/* log.c */
void guard_log_text(const char *sentence); /* a line that begins with # */
void guard_log(const struct guard_violation *violation, uint64_t times, const char *outcome);

/* rules.c */
void guard_rules_child(void); /* in a forked child: the parent's other threads are in no group of it */
void guard_rules_forget(uint64_t address, uint64_t size);

#endif
