/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The binary loom: a Valgrind tool that writes the same run area as the runtime
 * of hooked programs does. Only the thread that holds Valgrind's big lock runs
 * guest code or the functions declared here, so nothing below needs a lock.
 *
 *   main.c        starts the tool: options, the run area, what the core is asked for
 *   area.c        the run area: logs of pairs, predecessors, edges, events; sets of what is logged
 *   sites.c       which instruction is which site; modules; what belongs to the program
 *   instrument.c  puts calls of the functions below before accesses, in VEX IR
 *   lanes.c       vector registers are written in one piece, in VEX IR
 *   access.c      what instrumented code calls
 *   routines.c    the loops of the program; trail.c: which of them a thread is in
 *   quick.c       what accesses to private memory do, woven into the program
 *   shadow.c      what is known of every location; shared.c, parts.c: of those that several threads have
 *                 touched, parts_cells.c: from one to the other, parts_room.c: where parts lie; notes.c: of
 *                 memory that was written as a whole
 *   threads.c     logical threads, and where each stands
 *   records.c     what the core keeps of each thread
 *   lock.c        Valgrind's big lock, and handing the processor from thread to thread
 *   couples.c     pairs that belong together
 *   heap.c        the allocator of the program; heap_blocks.c: its blocks
 *   sync.c        synchronisation calls, from preload.c, which lives in the program
 *   system_calls.c  system calls; virtual_time.c, futexes.c, inputs.c: those that wait;
 *                 signal.c, timers.c, children.c, file_locks.c: signals, timers, other processes, files
 *   fork_server.c  the fork server
 *   control.c     controlled runs: what is a point, and the life of threads; the engine is that of
 *                 loom/runtime/control; objects.c: what those who cannot go on wait for
 *
 * A new mode of the tool (for example one that follows values) has its own file
 * with an instrument_* function that instrument.c calls for every statement, and
 * reads what it is to do from struct area_control. It may rely on this: in a
 * controlled run the same plan gives the same instructions with the same values,
 * and an instruction instance is named by (thread->number, *thread->order). */
#ifndef GRIND_TOOL_H
#define GRIND_TOOL_H

#include "loom/grind/core.h"

#include "loom/area.h"
#include "model/code_place.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- threads.c ---- */
#define LIBRARY_ACCESSES 32u /* the last ones of a thread: more than a function of libc makes at a time */
struct library_access {
	Addr address, call;
	uint64_t order;
};

struct thread {
	uint32_t number; /* run-wide */
	uint32_t index;  /* in its process */
	uint32_t slot;   /* the same, from 1, for tables of AREA_SLOTS */
	ThreadId tid;    /* Valgrind's, which it uses again after the thread has ended */
	uint64_t *order; /* accesses so far: in the area when there is room */
	uint64_t own_order, block_order;
	uint32_t context;
	Addr call;       /* the program's call instruction that was executed last */
	Addr own_call;   /* likewise, outside of functions that C++ headers brought into the program, */
	Addr own_sp;     /* and the stack pointer behind it */
	Addr shared_low; /* lowest place of its stack that another thread has touched; ~0 = none */
	Addr stack_low, stack_high; /* its stack: the first and the last byte */
	int lwp;
	bool ended, joined;
	bool queued; /* for the big lock, with this ticket */
	uint32_t ticket;
	uint32_t patience;   /* for loom/runtime/control; here it is an order: */
	uint64_t linger_at;  /* from then on it may wait for others without a point, see control.c; */
	bool lingers;        /* its next access is one therefore */
	struct trail *trail; /* trail.c */
	Addr clear_tid;      /* where the kernel says that it is gone */
	Addr robust;         /* its list of robust mutexes */
	/* The synchronisation call that it is in. */
	uint32_t calls; /* enum area_wait_kind */
	uint32_t call_site;
	uint64_t closed;     /* its order at the last one */
	Addr called, second; /* its object, and the mutex of a wait for a condition */
	uint32_t inner;      /* calls for the same that it makes within, see sync.c */
	struct agent *agent;
	struct recent_pairs *met, *taken; /* couples.c */
	bool has_couples;                 /* it looks for no more */
	struct library_access last[LIBRARY_ACCESSES];
	uint32_t nlast;
};
bool thread_has_stack_at(const struct thread *thread, Addr address);
void threads_prepare(void); /* before options are read */
void threads_start(void);
void threads_enter_area(void);
struct thread *thread_of(ThreadId tid);
struct thread *thread_numbered(uint32_t number); /* NULL = not of this process */
bool thread_is_alone(void);
uint32_t thread_last_made(void);    /* its number */
uint32_t thread_with_id(Addr id);   /* libc's pthread_t, which lies around what the kernel clears */
void thread_switched(ThreadId tid); /* `tid` has the big lock from here on */
void thread_context_changed(void);  /* that of the running one may have */

/* ---- records.c ---- */
void records_know_few(void); /* after the first system call: the core has made its tables by then */
void records_know_one_more(ThreadId tid);

/* The state of the tool. What instrumented code reads and writes itself comes first. */
struct grind {
	Addr call;            /* of the running thread, see struct thread */
	Addr own_call;        /* likewise */
	Addr own_sp;          /* likewise */
	Addr shared_low;      /* likewise */
	Addr loop_low;        /* likewise: stack pointer of the innermost loop that it is in; ~0 = none */
	uint64_t *order_at;   /* likewise */
	uint64_t block_order; /* likewise, at the start of its block */
	uint64_t own;       /* the tags of memory that belongs to it alone, see shadow.h; all ones: none do */
	uint64_t context;   /* likewise, four times: of what it writes, see shadow.h */
	uint64_t linger_at; /* likewise */
	struct thread *thread; /* the running one */
	struct area_head *head;
	struct area_process *process;
	struct area_schedule *schedule;
	bool serves;     /* a fork server: there is no run area yet */
	bool observed;   /* there is a run area */
	bool controlled; /* this process is: the first one that has threads */
	bool pointed;    /* every access goes the long way: the run may be controlled, or is traced */
	bool traced;
	bool has_far_memory;     /* beyond what has cells, see shadow.h */
	bool faults;             /* accesses to dead memory end the run */
	uint32_t observes;       /* OBSERVE_* */
	uint32_t context_events; /* kept */
	uint64_t random;
};
extern struct grind grind;
uint64_t grind_random(void);
void *grind_reserve(SizeT size); /* zeros, which take no memory before they are touched */

/* ---- area.c ---- */
#define AREA_HIDDEN "UNSNARL_LOOM"
_Static_assert(sizeof AREA_HIDDEN == sizeof AREA_ENVIRONMENT, "one replaces the other");
bool area_start(void);      /* false: there is none, the program runs unobserved */
void grind_take_area(void); /* of a run that was forked */
void area_fork_child(void);
uint32_t area_text(const char *text); /* offset of a copy among the paths; 0 when there is no room */
uint32_t log_pair(uint32_t kind, uint32_t head_thread, uint64_t head, uint64_t tail, Addr address);
/* Of each site the last pair that it was the tail of, 0 where there is none. The child of a fork has no thread in
 * common with its parent, so it needs no table of its own. */
extern uint64_t *latest_pairs;
static inline uint64_t latest_pair(uint32_t kind, uint32_t head_thread, uint32_t head_site)
{
	uint32_t me = grind.thread->number;

	if ((head_thread | me) >> 22)
		return 0;
	return (uint64_t)kind << 62 | (uint64_t)head_thread << 40 | (uint64_t)me << 18 | head_site;
}
void log_predecessor(uint32_t site, uint32_t before);
void log_edge(uint32_t source, uint32_t source_context, uint32_t sink, uint32_t sink_context, bool write);
bool log_couple(uint32_t first, uint32_t second, bool crossed, uint32_t span); /* true: it is new */
void log_event(Addr address, SizeT size, uint32_t site, uint32_t action, uint64_t order);

/* ---- trail.c ---- */
/* The loop in which the access of that order stood. */
struct area_loop trail_at(const struct thread *thread, uint64_t order);
Addr trail_low(const struct thread *thread); /* for grind.loop_low */

/* ---- sites.c ---- */
enum code_kind {
	CODE_NONE,    /* not observed: the dynamic linker, libc, the tool's own */
	CODE_PROGRAM, /* instructions are sites */
	CODE_LIBRARY, /* what it does is done by the call from the program */
};
enum code_kind code_kind(Addr pc);
/* The number of a site: an access or call of the instruction at `pc`. `variable` is the address that it always
 * touches, 0 when it varies; `what` the function that is called, NULL for accesses. */
uint32_t site_at(Addr pc, enum site_kind kind, bool atomic, uint32_t size, Addr variable, const char *what);
/* Is it code of the C++ library that its headers brought into the program? */
bool site_in_header(Addr pc);
/* The instruction of a site in such code; 0: it is elsewhere. */
Addr site_header_code(uint32_t site);
/* Where in the site's file the access is made, and from where its function was called. */
void site_callers(uint32_t site, struct area_caller *out);
/* The call outside of headers in which the running thread is; 0: none, or it is not known. */
Addr site_own_call(void);
/* The call of the program itself that led to the code of headers that called last; 0: none, or it is not known. */
Addr site_led_by(void);
/* The site of what a library does for the program. */
uint32_t site_of_call(enum site_kind kind, const char *what);
uint64_t site_id(uint32_t site);
void site_used(uint32_t site); /* from here on the area has it */
void sites_fork_child(void);

/* ---- fork_server.c ---- */
bool server_prepare(void);    /* is this to be a fork server? */
bool server_stops_here(void); /* is the block at hand, of the program, the first that can be forked? */
void server_loop(void);       /* returns in a child, once for every run */
void server_note_translation(Addr address); /* in a child: it was not translated yet */
void server_note_faults(void); /* the program handles faults of memory: each access has to be made */

/* ---- instrument.c ---- */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		 IRType host_word);

/* ---- lanes.c ---- */
IRSB *with_whole_lanes(IRSB *in); /* vector registers are written and read as a whole where they can be */

/* ---- quick.c: the answers for private memory, in VEX IR ---- */
struct weave {
	IRSB *out;
	/* Of the block at hand; NULL until they are loaded. */
	IRExpr *own, *own_half, *order;
	uint32_t counted; /* accesses since `order` was loaded */
#define QUICK_MOST 4096u
	bool begun;
};
void quick_begin(struct weave *weave); /* before the first access of a block */
/* An access that is neither atomic nor guarded; false: it cannot be answered so. */
bool quick_access(struct weave *weave, IRExpr *address, uint32_t site, uint32_t size, bool write);
void quick_tell_order(struct weave *weave); /* before the block is left, or a function counts accesses */
void quick_counted_elsewhere(struct weave *weave); /* that function was called */

/* ---- access.c ---- */
/* An access as functions are told of it. */
#define ACCESS_WHAT(site, size, write, count) \
	((UWord)(site) | (UWord)(write) << 18 | (UWord)(size) << 19 | (UWord)(count) << 32)
#define ACCESS_SITE(what) ((uint32_t)(what) & (AREA_PLACES - 1))
#define ACCESS_WRITES(what) ((bool)((what) >> 18 & 1))
#define ACCESS_SIZE(what) ((SizeT)((what) >> 19 & 0x1fff))
#define ACCESS_COUNT(what) ((what) >> 32) /* in its block */
_Static_assert(AREA_PLACES == 1u << 18, "a site has 18 bits");
VG_REGPARM(2) void access_missed(Addr address, UWord what); /* quick.c has no answer */
VG_REGPARM(2) void access_any(Addr address, UWord what);
void access_linger(void); /* the thread may wait for others without passing a point */
void access_block(void);  /* a block with accesses begins: is that so? */
VG_REGPARM(3) void access_update(Addr address, UWord site, UWord size);
VG_REGPARM(3) void access_library(Addr address, UWord size, UWord write);
VG_REGPARM(1) void access_header_call(Addr sp); /* a function of a header calls */
VG_REGPARM(1) void access_stack(Addr sp);       /* frames below are over: forget what others did there */
void access_yield(void);                        /* the program says that it spins */
/* An access outside of instrumented code: system calls, the heap. */
void access_by_call(Addr address, SizeT size, bool write, uint32_t site);

/* The same without a point: in the middle of a system call. */
void shadow_by_call(Addr address, SizeT size, bool write, uint32_t site);

/* ---- shadow.c ---- */
#define WORD_ORDER_BITS 40
#define WORD_SITE(word) ((uint32_t)((word) >> WORD_ORDER_BITS))
#define WORD_ORDER(word) ((word) & ((1ull << WORD_ORDER_BITS) - 1))
void shadow_start(void);
/* One access, in pieces where it covers more than one granule. */
void shadow_access(Addr address, SizeT size, uint64_t word, bool write);
/* An access that teaches nothing, to what several threads have touched; false: it has to be told as any other. Only
 * where no access is a point. */
bool shadow_passes_over(Addr address, SizeT size, uint64_t word, bool write);
/* One of a single granule of which all is known inside of its cell; false: it is not. */
bool shadow_access_inside(Addr address, SizeT size, uint64_t word, bool write);
/* One by a library to memory that is the running thread's own, when there is nothing to tell; false: it is not. */
bool shadow_access_own(Addr address, SizeT size, uint32_t site, bool write);
void shadow_forget(Addr address, SizeT size);
/* No memory of the program from here on, until it is forgotten. */
void shadow_bury(Addr address, SizeT size);
/* Has no other thread than the running one touched it so far? */
bool shadow_is_private(Addr address, SizeT size);
/* Could an access of the running thread and what others did there still have come the other way round? What a
 * thread did before its last synchronisation call is closed. */
bool shadow_is_open(Addr address, SizeT size, bool write);
void shadow_choose_way(void);   /* something has changed that tells whether all accesses go the long way */
void shadow_forget_sites(void); /* of no site it is known that it has nothing to tell */

/* ---- couples.c ---- */
void couples_meet(struct thread *other, uint32_t kind, uint64_t head, uint64_t tail, Addr address,
		  uint32_t number);

/* ---- lock.c ---- */
bool lock_give_way(void); /* whoever waits for it may go first; false: nobody did */
void lock_hand_over(
	struct thread *next); /* a controlled run goes on as `next`; returns when it is this one's turn */
void lock_leave(struct thread *next); /* likewise, of a thread that ends */
void lock_set_free(void);             /* the run is controlled no more */
void lock_leave_soon(ThreadId tid);   /* it goes back to the core at the end of the block that it is in */

/* ---- heap.c ---- */
#define HEAP_BESIDE 16 /* bytes on either side of a block, that nobody may touch */
void heap_start(void);
bool heap_is_kept(Addr address); /* is it in a block that was freed and not given out again? */

/* ---- heap_blocks.c ---- */
struct heap_block {
	Addr start;
	SizeT size;
	bool freed;
	uint32_t site, thread; /* that allocated it, or freed it */
	Addr call;             /* that allocated it, in runs that follow values */
	uint64_t size_mark;    /* of what said how large it is, likewise */
};
void heap_born(Addr start, SizeT size, const char *what);
bool heap_dies(Addr start, const char *what); /* false: it was not a living block */
SizeT heap_size(Addr start);                  /* of a living block, else 0 */
SizeT heap_size_of_freed(Addr start);
bool heap_lives(Addr start);
Addr heap_made_by(Addr address);       /* the call that allocated the block there, or beside; 0: none */
uint64_t heap_size_mark(Addr address); /* of the block there, or beside */
bool heap_holds(Addr address);         /* is it in a block, living or freed? */
/* Of an address in a block: brings the two bounds, which are around it, into the block. */
void heap_bounds(Addr address, Addr *low, Addr *high);
/* An access to what is no memory of the program: in a controlled run it ends with a sentence. */
void heap_fault(Addr address, SizeT size, bool write);

/* ---- sync.c, system_calls.c ---- */
void grind_abort(const char *message); /* the program gets SIGABRT, as from libc's own checks */
Bool sync_request(ThreadId tid, UWord *request, UWord *result);
void calls_start(void);
extern Addr calls_child_clear_tid; /* of the thread that is being made */
extern bool calls_made;            /* the kernel has been called for the program */

#endif
