/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Following values: who defined every byte of memory, where the values in registers
 * were loaded from, and what of both is suppressed. On only in runs of isolate
 * (model/isolate_format.h). Every value has a mark: two numbers of the loads that it
 * comes from, or that of the instruction that made it of nothing in memory (a constant,
 * the address of a local), a bit for values that are only copied and one for suppressed
 * ones.
 *
 *   define.c       marks of memory, the logs of loads and definitions
 *   define_sites.c instructions
 *   define_ir.c    marks of registers and temporaries, in VEX IR
 *   define_ir_control.c branches, calls and returns, in VEX IR
 *   define_ir_cuts.c values of which a part is kept, in VEX IR
 *   define_fail.c  the failure, told from marks and logs
 *   define_stack.c a stack that is used up
 *   define_follow.c hops back from a value
 *   define_reads.c what the failure depends on
 *   define_checks.c branches that looked at a value
 *   define_length.c copies that ended before what was not written
 *   define_place.c where in the program that was
 *   define_pointer.c the pointers to a freed block
 *   define_clues.c what else the failure hangs on: counts, calls, sizes and lengths
 *   define_cuts.c  values that lost bits
 *   define_renewed.c memory of the program's own pools that was given out again
 *   define_watch.c what the user watches
 *   suppress.c     what is not executed */
#ifndef GRIND_DEFINE_H
#define GRIND_DEFINE_H

#include "loom/grind/tool.h"
#include "model/isolate_format.h"

#define MARK_SUPPRESSED (1ull << 63)
#define MARK_COPY (1ull << 62)
#define MARK_BITS 31
#define MARK_NUMBER ((1ull << MARK_BITS) - 1)
#define MARK_FIRST(mark) ((uint32_t)((mark) & MARK_NUMBER))
#define MARK_SECOND(mark) ((uint32_t)((mark) >> MARK_BITS & MARK_NUMBER))
#define MARK_MADE \
	(1u << 30) /* of a number: no load, but the instruction that made the value of nothing in memory */

#define NEAR_BASE (1u << 16) /* fields of a structure are not farther from its beginning */

#define GIVERS 4
/* Who wrote what a load reads, and how often that was: an index that is wrong leads to what others wrote. */
struct value_givers {
	struct {
		const struct value_site *site; /* NULL: no instruction */
		uint32_t n;
	} items[GIVERS];
	uint32_t n, all; /* all: executions, also of givers that found no room */
};

/* An instruction that loads, stores, branches or jumps. */
struct value_site {
	Addr pc;
	uint32_t number, size;
	enum code_kind kind;
	bool planned, watched, in_header;
	Addr with_sign; /* the instruction that widens what it loads with its sign; 0: none */
	Addr after;     /* the next instruction */
	Addr target,
		beside; /* of a branch: where it goes when its guard holds, and when not; 0 = not known */
	struct value_givers *givers; /* of an instruction of the program */
};

#define LOAD_WORDS 4 /* of the widest load */
struct load {
	uint64_t order, mark; /* mark: of the address */
	Addr address, call;
	const struct value_site *site; /* NULL: it stands for the two loads of its mark */
	uint32_t number, thread;
	uint32_t definition[LOAD_WORDS]; /* of each eight bytes */
};

struct definition {
	uint64_t order, mark, value, instance; /* mark: of the value */
	uint64_t where;                        /* mark of the address */
	uint64_t whole;                        /* what the value is the low part of, where that is known */
	uint64_t decided;                      /* mark of the last branch of the program before it */
	Addr caller;                           /* of the function that the thread was in */
	Addr address, call;
	SizeT size;
	const struct value_site *site; /* NULL unless an instruction did it */
	uint32_t number, thread, definer;
	uint32_t
		first; /* its number when it was made: it gets others while it is read, so that it is not forgotten */
};

/* A branch of the program that went by something that was read. */
struct value_branch {
	const struct value_site *site;
	uint64_t mark, when;
	Addr taken;
};
#define BRANCH_DEPTHS 64
#define BRANCH_KEPT 4

#define DEEP_KEPT 256u /* the last branches, when calls are nested deep */

#define PASSED 3u /* arguments of a call that are looked at */
struct passed {
	uint64_t values[PASSED], marks[PASSED];
};

/* What a thread did last. */
struct value_thread {
	uint64_t *counts; /* executions by site */
	uint32_t ncounts;
	struct {
		const struct value_site *site;
		Addr address;
		uint64_t mark;
		bool write, returns;
	} access, jump, operand;
	bool divides; /* the last of access and operand was the operand */
	struct value_branch branches[BRANCH_DEPTHS][BRANCH_KEPT]; /* by how many calls it was in */
	struct {
		struct value_branch branch;
		uint32_t definition; /* the number of the next one */
	} *deep;                     /* a ring; NULL: it was never in so many calls */
	uint32_t ndeep;
	Addr *returns, *frames; /* the calls it is in */
	struct {
		uint32_t load, definition; /* the numbers of the next ones */
	} *entered;                        /* when they were made */
	uint64_t *targets;                 /* marks of what said where these calls go */
	uint32_t nreturns, returns_room;
	uint64_t decided; /* mark of the last branch of the program */
	struct {
		Addr back;
		struct passed passed;
	} called;          /* the last call of a library's function by the program */
	uint64_t nchecked; /* branches of the program that went by a value */
	Addr stack_low;    /* lowest byte of the stack that it has written and not left */
};

struct define {
	uint64_t result;      /* what instrumented code gets beside a helper's value */
	uint64_t hooked;      /* mark of the address that a hook of the tool is called for */
	struct passed passed; /* to the call that is made */
	bool on;
	bool suppresses;
	struct isolate_area *area;
	uint64_t quiet;      /* reads since the last write that others can see */
	Addr arguments;      /* from here on the first stack holds what the kernel put there */
	uint8_t nowhere[64]; /* suppressed accesses go there */
};
extern struct define define;

void define_start(void);
struct value_thread *define_thread(void);
const struct value_thread *define_thread_in(uint32_t slot); /* NULL: none */
void define_left(struct value_thread *thread, Addr sp);     /* frames below `sp` are over */
const struct load *define_load_numbered(uint32_t number);   /* NULL: too long ago */
uint32_t define_maker(Addr pc);     /* the number of an instruction that makes values */
Addr define_made_at(uint64_t mark); /* that instruction; 0: the value is of loads */
/* Does the value come from a load? */
static inline bool define_is_loaded(uint64_t mark)
{
	return MARK_FIRST(mark) && !(MARK_FIRST(mark) & MARK_MADE);
}
const struct definition *define_numbered(uint32_t number); /* likewise */
/* Is it a push of a register? Functions keep their caller's registers so: that defines nothing. */
bool define_saves_register(const struct definition *definition);
/* Did somebody write what was read whom the instruction reads from in fewer than half of its executions? */
bool define_is_strange(const struct load *load);
uint32_t define_next(void); /* the number of the next definition */
uint32_t define_next_load(void);
uint64_t define_decided(Addr address, uint64_t first); /* mark of the branch before a definition */
uint32_t define_at(Addr address);                      /* the number of its definition */
uint64_t define_marked(Addr address, SizeT size);      /* MARK_SUPPRESSED or 0 */
struct value_site *define_site(Addr pc, uint32_t size, Addr after);

/* Called by instrumented code: they return the address that the access goes to. */
VG_REGPARM(3) Addr define_load(Addr address, uint64_t mark, const struct value_site *site);
Addr define_store(Addr address, uint64_t address_mark, uint64_t mark, const struct value_site *site,
		  uint64_t value, uint64_t whole);
VG_REGPARM(2) uint64_t define_merge(uint64_t a, uint64_t b);
VG_REGPARM(2) void define_operand(uint64_t mark, const struct value_site *site);

/* As if an instruction had read it; `mark` is that of the address. What it read has the mark that is returned. */
uint64_t define_read_by_watch(Addr address, SizeT size, uint64_t mark, const struct value_site *site);

/* By others than instructions. */
void define_by_kernel(Addr address, SizeT size);
void define_allocated(Addr address, SizeT size, bool zero);
bool define_freed(Addr address, SizeT size); /* false: the call is suppressed */

/* ---- suppress.c ---- */
bool suppress_plans(uint32_t definer, Addr key, uint64_t instance);
bool suppress_has_key(Addr key);
VG_REGPARM(3) uint64_t suppress_branch(uint64_t guard, uint64_t mark, const struct value_site *site);
Addr suppress_call(Addr target, uint64_t target_mark, uint64_t arguments, const struct value_site *site,
		   Addr sp);
Addr suppress_return(Addr target, uint64_t mark, const struct value_site *site, Addr sp);
VG_REGPARM(3) Addr suppress_jump(Addr target, uint64_t mark, const struct value_site *site);
bool suppress_system_call(ThreadId tid, long number);
void suppress_system_call_done(ThreadId tid);

/* ---- define_ir.c ---- */
IRSB *define_instrument(IRSB *in, const VexGuestLayout *layout);

/* ---- define_reads.c ---- */
/* Fills the reads of a failure that used what is marked. */
void define_list_reads(struct isolate_failure *failure, uint64_t mark);
/* The branch that decided for the call at which the thread ended; NULL when none is known. */
const struct value_branch *define_deciding_branch(const struct value_thread *thread);
/* The mark of the pointer through which that call was made, where another one had said where it lies (a virtual function,
 * say), and the call; 0: it was made by name. */
uint64_t define_ended_by(const struct value_thread *thread, Addr *call);

/* ---- define_place.c ---- */
/* The call outside of headers that the running thread is in, also when headers have called the program back since. */
Addr define_own_call(void);
/* The program's call that led to what is executed, outside of functions of headers where that is known. */
static inline Addr define_call(void)
{
	Addr led = site_led_by();

	return led ? led : grind.call;
}
/* Likewise, to the instruction at hand; 0: of a header, and it is not known. */
static inline Addr define_call_to(const struct value_site *site)
{
	return site && site->in_header ? define_own_call() : define_call();
}
/* The instruction when it is the program's, else the program's call that led to it. */
struct isolate_place define_place(Addr pc, Addr call);
/* A call, when it is the program's; else none. */
struct isolate_place define_calling_place(Addr call);
/* Of an access that is traced: who led to the code of a header that makes it. */
void define_note_led(uint32_t site);

/* ---- define_fail.c ---- */
/* The failure to be filled; NULL when one is known already, or values are not followed. */
struct isolate_failure *define_begin(uint32_t kind, Addr pc);
void define_add_uses(struct isolate_failure *failure, uint64_t mark);
void define_fatal(ThreadId tid);                         /* a signal ends the process */
void define_dead(Addr address, SizeT size, bool write);  /* memory of no block was accessed */
void define_freed_wrongly(Addr address, bool was_block); /* freed already, or never allocated */
void define_hung(void); /* nobody goes on, or the running thread goes round and round */

/* The mark of a value, by the read of what was written last among what led there: whoever goes round and round follows
 * what was written before. What lies in the thread's frames, below the address, was only passed on. */
uint64_t define_of_round(uint64_t mark, Addr frames);

/* ---- define_stack.c ---- */
/* Did the thread run out of stack? Then its stack pointer has left what is mapped, or is about to. */
bool define_is_below_stack(ThreadId tid, const struct value_thread *thread);
/* Whether the calls went on was decided by a branch: what that went by is what was used. */
void define_end_of_stack(const struct value_thread *thread, const struct value_branch *decided, Addr ip);

/* ---- define_follow.c ---- */
bool define_is_readable(Addr address, SizeT size);
/* The definition of that number, seen from an address. */
struct isolate_definition define_describe(uint32_t number, Addr address, SizeT size);
/* What an address was made of: a pointer into what lies there, and something that was added to it. */
struct made_of {
	uint32_t base, index; /* loads; 0: none */
	uint32_t seen;        /* loads that were looked at, and such as stand for two */
};
struct made_of define_made_of(uint64_t mark, Addr address);
uint64_t define_value_read(const struct load *load);
void define_follow(struct isolate_use *use, uint32_t number); /* hops back from a load */

/* ---- define_checks.c ---- */
/* A branch of the program went by a value. True: it is to go the other way. */
bool define_checked(uint64_t mark, const struct value_site *site);
/* The branch that looked last at what the definition of that number had put there; number 0: none did. */
struct isolate_branch define_check_of(uint32_t definition);

/* ---- define_length.c ---- */
/* Fills what said how long a copy is that ends before the address, which nobody has written. */
void define_tell_length(struct isolate_failure *failure, Addr unwritten);

/* ---- define_pointer.c ---- */
/* The mark of the pointer that the program gave to free; for the call of the tool's function. */
uint64_t define_freed_by(Addr block);
/* Fills the pointers of a failure that used a freed block by an address that is marked. */
void define_tell_pointers(struct isolate_failure *failure, uint64_t used, Addr address);

/* ---- define_clues.c ---- */
/* The mark of what said how large a block is to be; for the call of the tool's function. */
uint64_t define_size_mark(SizeT size);
void define_add_clue(struct isolate_failure *failure, const struct isolate_clue *clue);
/* Of a freed block at the address: the calls of the functions that freed and used it, and who had lowered the count that
 * decided for the free. */
void define_tell_free(struct isolate_failure *failure, Addr address);
/* Of an access by a function of a library, or of memory beside a block whose size is marked: who had said how much. */
void define_tell_extent(struct isolate_failure *failure, uint64_t size_mark);
/* The definitions of the location, by instructions of the program, since it was allocated, and before that number: calls
 * `tell` for each, the youngest first, until that is false. */
void define_each_earlier(Addr address, SizeT size, uint32_t before,
			 bool (*tell)(const struct definition *definition, void *context), void *context);

/* ---- define_cuts.c ---- */
/* An instruction keeps only so many bytes (size of the site) of a value, or makes one that is less than zero. */
VG_REGPARM(3) void define_cut(uint64_t full, uint64_t mark, const struct value_site *site);
VG_REGPARM(2)
void define_read_with_sign(uint64_t mark, Addr pc); /* the marked value is widened with its sign */
/* An instruction loads a part only of what was stored there. */
void define_loaded_part(const struct definition *from, uint64_t mark, const struct value_site *site);
/* Tells where the marked value, or what it was made of, had lost bits; of a length also where it had become less than
 * zero. True: there is such a place. */
bool define_tell_cut(struct isolate_failure *failure, uint64_t mark, bool is_length);
/* Likewise of what a load read: also when that was stored. */
bool define_tell_read_cut(struct isolate_failure *failure, const struct load *load, bool is_length);
/* Of what said where to read: where it became less than zero. */
bool define_tell_turned_index(struct isolate_failure *failure, const struct load *load);

/* ---- define_renewed.c ---- */
/* Was what the use had read left from an owner before? */
void define_tell_renewed(struct isolate_failure *failure, const struct isolate_use *use);
/* Behind a store: it may be the one behind which memory is to be cleared. */
void define_renew(const struct value_site *site, uint64_t instance);

/* ---- define_watch.c ---- */
void define_ended(void);                                           /* the program ends by itself */
void define_watched(const struct value_site *site, uint64_t mark); /* what is watched was read or written */
bool define_is_point(Addr pc); /* the expression is evaluated before this instruction */
VG_REGPARM(1) void define_evaluate(const struct value_site *site);

#endif
