/* The order of threads as the cause: what the files of the order check share. */
#ifndef ISOLATE_ORDER_CHECK_H
#define ISOLATE_ORDER_CHECK_H

#include "diagnose/claim_build.h"
#include "isolate/isolate.h"

#define ORDER_NONE SIZE_MAX

/* What a finding rests on. */
enum order_weight {
	ORDER_GIVEN_UP, /* it passed, but somebody had to be let go: perhaps for another reason */
	ORDER_PASSED,   /* it passed when moved to one side */
	ORDER_SHOWN, /* and to the other side, or what failed had read it itself; forcing did not show it */
	ORDER_SURE,  /* moved and forced, and order_is_certain has nothing against it */
};

/* One experiment: what was moved, and what came of it. */
struct order_move {
	bool passes; /* and somebody was held: a run that passes by itself shows nothing */
	bool held;
	bool given_up;   /* somebody had to be let go */
	bool impossible; /* the trace tells: it was not tried */
	bool before;     /* the other thread's access came before a whole group */
};

/* One instance that waited for another, and what came of it. */
struct order_waited {
	size_t early, late;
	struct order_move move;
};

struct order_search {
	const struct isolate_options *options;
	struct isolation *isolation;
	const struct schedule *schedule;
	bool forced; /* the schedule is that of a run in which a claim was forced: it counts the claim's points */
	const struct isolate_failure *failure;
	const struct observations *trace;
	struct atlas atlas;
	size_t reads[ISOLATE_READS];  /* the event of each read; ORDER_NONE: not in the trace */
	uint64_t most;                /* experiments in all */
	enum isolate_verdict verdict; /* of what was found */
	bool found;                   /* the failure goes away when an access is moved; then also */
	enum order_weight weight;
	uint32_t far,
		reading_far; /* how far from the failure the read of that is, and of the one that is looked at */
	size_t reading;      /* number of that read; ORDER_NONE: it is about no read */
	size_t first, last; /* events of the group that is told, where it is one */
	uint64_t counted;   /* location whose lost updates were looked for last */
	VEC(struct order_waited) waited;
	VEC(uint64_t) tried; /* groups of accesses, as a number made of their places */
};

/* ---- order_moves.c ---- */
struct error *order_forbid(struct order_search *search, enum claim_kind kind, const struct claim_parts *parts,
			   struct order_move *out);
/* One instance waits for another: in the failing schedule `early` is held, before a lock if need be, until `late`
 * was done. Of `late` the traced run is told: what never came is in another one than the original. */
struct order_instance {
	const struct observations *trace;
	const struct atlas *atlas;
	size_t event;
};
struct error *order_wait(struct order_search *search, size_t early, const struct order_instance *late,
			 enum claim_kind counted, struct order_move *out);
struct error *order_wait_for(struct order_search *search, size_t early, size_t late, enum claim_kind counted,
			     struct order_move *out);
/* Options of a run along the failing schedule in which the thread waits before `early`, or before the lock that it
 * holds there, until nobody else can go on. False: it cannot be said so. */
bool order_defer(const struct order_search *search, size_t early, struct launch_options *options);
struct error *order_run_once(struct order_search *search, const struct claim *claim,
			     const struct claim_parts *parts, enum claim_kind counted,
			     struct order_move *out);
/* How many accesses the thread had made before the event. */
uint32_t order_accesses(const struct observations *trace, uint32_t thread, size_t event);
/* Does the interleaving fail when it is forced from another beginning? *came: it could be forced. `took`, NULL or
 * the caller's to free, is the schedule of a failing one. */
struct error *order_force(struct order_search *search, enum claim_kind kind, const struct claim_parts *parts,
			  bool *came, bool *fails, struct schedule *took);
/* Remembers an experiment for the answer. */
void order_note(struct order_search *search, enum isolate_moved use, const struct claim_parts *parts,
		bool passes, bool given_up, bool came);
bool order_is_over(const struct order_search *search);
struct claim_parts order_parts(const struct order_search *search, const size_t *events, size_t n);
/* One run of an experiment; what is stuck or goes on and on is ended soon. */
struct error *order_run(const struct order_search *search, struct launch_options *options, struct run *run);
/* Did a branch go by it? Then no value was made of it. */
static inline bool order_is_control(const struct isolate_read *read)
{
	return read->dependence == READ_CONTROL || read->dependence == READ_DECIDED;
}
/* How far a read is from the failure: values it was made of are nearer than branches. */
uint32_t order_far(const struct isolate_read *read);
/* Keeps the finding, unless a better one is there. */
void order_tell(struct order_search *search, enum finding_class class, enum isolate_story story,
		enum order_weight weight, const struct claim_parts *parts);
/* The same group was not tried yet. */
bool order_is_new(struct order_search *search, const struct claim_parts *parts);

/* ---- order_group.c ---- */
/* A group of accesses of a thread, `events`, and what came between them; `between` is that of the other thread. */
struct error *order_check_group(struct order_search *search, const size_t *events, size_t n, size_t between,
				enum finding_class class);
/* Two accesses in the wrong order. `story` tells which of them came too early: the first. */
struct error *order_check_pair(struct order_search *search, size_t first, size_t second,
			       enum isolate_story story);

/* ---- order_certain.c: what else would have to be wrong ---- */
/* Is the read one that experiments can show to be at fault? What failed had used it, or a value that it was made of;
 * the accesses are not just the free of a block and its use, which any order of the two would explain; they are the
 * program's own; and no value behind it was given by another thread without being ordered. */
bool order_is_certain(const struct order_search *search, const struct claim_parts *parts);

/* ---- order_needs.c: what the trace tells without a run ---- */
/* Had the thread of `late` read, on its way there, what the thread of `early` wrote at `early` or behind it? Then
 * `late` may not come at all while `early` waits for it. What is read of the place of `late` only makes its value,
 * unless a block is freed there. */
bool order_needs(const struct order_search *search, size_t early, size_t late);
/* Does a claim about the places of a group not keep the interleaved access out? Its thread was at the same places,
 * and had begun a group of its own elsewhere. */
bool order_is_mixed(const struct order_search *search, const size_t *group, size_t n, size_t between);
/* Where the thread of the interleaved access had begun a group like that of `first` itself, of the same location, which it has
 * not written since, and took a lock only then: neither group can be one step while both are begun. ORDER_NONE: it had
 * not. */
size_t order_own_group(const struct order_search *search, size_t first, size_t between);
/* Of two writes to one place, the first thread's before the second's: did they come the other way round at another
 * place, and did the failing thread read that? Then both places belong together. *there, *back: these writes. */
bool order_crosses(const struct order_search *search, size_t first, size_t second, size_t *there,
		   size_t *back);
/* Had the failing thread joined all others? Then nothing comes late. */
bool order_is_alone(const struct order_search *search);

/* ---- order_late.c ---- */
/* Was something read before another thread, which did not come to it any more, had written it? The failing thread
 * goes on only after the others: from the first read of what it used itself, or from its last turn. */
struct error *order_check_late(struct order_search *search, bool from_read);

/* ---- order_wake.c ---- */
/* Had the failing thread been woken, and gone on without looking again? */
struct error *order_check_wake(struct order_search *search);

/* ---- order_twice.c ---- */
/* Was something done twice that two threads had decided for, each in a section of its own? */
struct error *order_check_twice(struct order_search *search);

/* ---- order_hang.c ---- */
/* Was a lock not given back, do threads wait for each other's locks, or for a signal that was given before? */
struct error *order_check_hang(struct order_search *search);

#endif
