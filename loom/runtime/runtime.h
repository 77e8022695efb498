/* The ground that all rooms of the runtime stand on: its state, its threads, its memory.
 * Rooms include one way: process/ (which also implements this file) sync/, control/,
 * observe/, and each of those through the one header named after it.
 *
 * * It lives in other people's processes: libc only, no malloc, no output unless
 * something is wrong, and a correct program must behave as without it. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* All of the runtime's code lies together, so that a frame of it is known (callers.c). */
#pragma clang section text = "unsnarl_text"

#include "loom/area.h"
#include "loom/runtime/observe/layout.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
/* Variables that every run writes lie side by side: in the children of a fork server each page of
 * them is copied once per run. */
#define HOT __attribute__((section("unsnarl_hot")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Relaxed accesses to what several threads touch: for counters and hints where
 * no other memory is published through them. */
#define RELAXED_GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define RELAXED_SET(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

/* Where tables lie: side by side, so that they are one mapping with few page tables of its own. Both
 * cost time in every run that a fork server forks: the kernel looks through all of a page table when a
 * process ends, 6 us for one that covers a gigabyte. So what short runs touch is in the gigabyte of histories,
 * from 0x220000000000 on, or in that of the run area: tables that are larger begin or end there. */
#define NOTE_START 0x21d000000000ull   /* a fork server's note, which its children lack (server.c) */
#define LISTED_START 0x21e000000000ull /* three kinds of blocks of readers, */
#define LISTED_SPAN (1ull << 34)       /* 16 GiB each, */
#define LISTS_START 0x21f000000000ull  /* and the lists that they name */
#define REGION_START LISTED_START
#define READERS_END 0x220000100000ull     /* 12 GiB of blocks, numbered from the end downwards */
#define FIRST_SPARES_START READERS_END    /* the first numbers of spare blocks */
#define FIRST_SPARES 128u                 /* chunks of them: 64 KiB */
#define HISTORIES_START 0x220000110000ull /* 64 MiB */
#define TABLES_START 0x220004200000ull    /* 830 MiB: those that need no address of their own; MARKS_START */
#define BLOCKS_START 0x220038800000ull    /* cuts, rows and arrays, which share their memory (spare.c) */
#define BLOCKS_SIZE (1ull << 35)
#define FAR_TABLES_START 0x220900000000ull /* 16 GiB: and where there is no more room for tables */
#define SPARES_START 0x220d00000000ull     /* further numbers of spare blocks; MEMOS_START comes next */
#define SPARES_SIZE (1ull << 32)
#define REGION_END (MEMOS_START + AREA_SLOTS * MEMOS_SIZE)
#define AREA_START 0x231840000000ull                 /* the run area: less than 840 MiB */
#define NO_MEMOS_START (AREA_START + (840ull << 20)) /* 1 GiB, of which runs touch the beginning */

struct index {
	uint32_t *first; /* number of the entry + 1, the first table */
	uint32_t *slots; /* and all further ones */
};

struct runtime {
	bool active; /* an area is there and observers are on */
	int area_fd;
	struct area_head *head;
	struct area_process *process;
	struct area_options options;
	uint32_t context_mask;               /* two bits per kept event */
	uint32_t context_full, context_most; /* bit above a full context, largest context (context.c) */
	bool always_slow;                    /* line granularity or trace: every access must be seen */
	bool armed;                          /* under guard: a guard set came with the environment */
	bool serves;                         /* a fork server that has not begun to fork */
	bool controlled;                     /* one thread runs at a time (control.c) */
	bool lean;                           /* so far a short run, which touches as few pages as it can */
	struct thread *threads;              /* AREA_SLOTS of them */
	struct memo *no_memos;               /* for threads that do not use theirs: never written */
	struct index pairs, predecessors, edges, couples;
	uint32_t recycled; /* how often slots of threads were given away */
	/* On a cache line of their own, since they change: blocks handed out so far. */
	uint32_t next_readers[READERS_KINDS] __attribute__((aligned(64))), next_blocks, next_far_blocks;
	uint32_t trace_lock;
};
extern HIDDEN struct runtime runtime;

/* ---- process/start.c ---- */
/* Zeroed memory that costs nothing until touched; never fails to return (it ends the process with a sentence). */
/* armed.c: a guard set holds an observed program. */
HIDDEN void armed_find(char **environment); /* getenv does not work yet when a program starts */
HIDDEN bool armed_start(void);
HIDDEN void armed_access(uint32_t site, uint64_t address, size_t size);
HIDDEN void armed_behind(void);        /* the thread's last access has been made */
HIDDEN void armed_lock(uint64_t lock); /* before it is taken, and before it is given back */
HIDDEN void armed_unlock(uint64_t lock);
HIDDEN void armed_forget(uint64_t address, size_t size);
HIDDEN void *runtime_map(uint64_t at, size_t size);
/* The same for tables, or beginnings of such, that most runs write: a few pages that come together. */
HIDDEN void *runtime_map_near(size_t size);
HIDDEN void *runtime_map_far(size_t size); /* and for those that few runs write */
HIDDEN void text_learn(bool controlled);   /* inherited_text.c: the run ends now; which pages it needed */
HIDDEN void runtime_touch_near(void);      /* a run begins that will write them */
HIDDEN void runtime_die(const char *what);
HIDDEN bool runtime_claim_process(void);
HIDDEN void runtime_serve(void); /* a fork server begins to fork; nothing in other programs */
HIDDEN struct area_schedule *runtime_schedule(void); /* its part of the run area */
HIDDEN bool runtime_take_area(int fd);               /* a fork server maps the area of the runs to come */
/* Memory ends or begins its life: its history is forgotten. `stack`: a variable on the stack begins. */
HIDDEN void runtime_forget(struct thread *self, uint64_t address, size_t size, bool stack);

/* ---- process/thread.c ---- */
enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_ENDED, THREAD_RECYCLING };
#define SLOT_GONE (AREA_SLOTS - 1) /* stands for threads whose slot was given away */
extern EXPORT __thread struct thread *unsnarl_self __attribute__((tls_model("initial-exec")));
extern HIDDEN struct thread unsnarl_nobody;
/* This thread, registered now if it was unknown; NULL when there is no slot or no area. */
HIDDEN struct thread *thread_self(void);
HIDDEN void thread_start(void);
HIDDEN void thread_set_ways(struct thread *thread); /* the short ones of its accesses */
HIDDEN struct thread *thread_new(void);             /* announced by its creator; NULL when there is no slot */
HIDDEN void thread_adopt(struct thread *thread);    /* the calling thread becomes it */
HIDDEN void thread_discard(struct thread *thread);
HIDDEN void thread_end(void); /* of the calling thread */
HIDDEN void thread_after_fork(bool renumber);
/* Full order of an event of `slot` from its low 32 bits, or those of a private cell: wrong by a multiple of
 * 2^32 or 2^26 when that thread made more accesses since. */
HIDDEN uint64_t thread_order(uint32_t slot, uint32_t low);
HIDDEN void thread_leave_runtime(struct thread *self); /* a jump or cancellation leaves the runtime */

/* ---- process/loaded_units.c ---- */
HIDDEN void units_prepare(void);
HIDDEN void units_after_fork(void);
/* Where in its file an address of code lies, and the offset of the file's path + 1; 0: in none that has hooks. */
HIDDEN uint32_t units_place(const void *code, uint32_t *path);
HIDDEN void units_find_program(void); /* before the first unit is there: saves time then */
HIDDEN void units_forget_memos(uint32_t slot);
HIDDEN void units_forget_marks(void);
HIDDEN uint64_t units_site_id(uint32_t site); /* 0 when unknown */
HIDDEN void units_copy(struct area_process *to, const struct area_process *from);

/* ---- process/system.c: the kernel itself, past our own names ---- */
HIDDEN long raw_call(long number, long a, long b, long c, long d, long e, long f);
HIDDEN bool raw_wait(uint32_t *place, uint32_t value, time_t seconds); /* false after so many seconds */
HIDDEN void raw_wake(uint32_t *place);

/* ---- control/points.c: the door from hooks, where one thread runs at a time ---- */
enum access { ACCESS_READ = 1, ACCESS_WRITE = 2 };
HIDDEN void control_forget(uint64_t address, size_t size); /* memory begins a new life */
HIDDEN void control_access(struct thread *self, uint64_t word, uint64_t address, size_t size,
			   enum access access);
/* ---- control/heap_blocks.c: ends the run when the access, which was recorded, does not keep to a heap block ---- */
HIDDEN void heap_check(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access);
/* Of the calling thread's next access, at `address`, only the first byte is certain; until it is called with 0. */
HIDDEN void heap_only_first_byte(uint64_t address);
HIDDEN bool control_must_see(uint32_t site); /* must every access there be seen? */
/* The same without a call: what is not known yet must be seen. */
INLINE bool must_be_seen(uint64_t site)
{
	return UNLIKELY(runtime.controlled) && !*(const volatile uint8_t *)(PASSES_START + site);
}
/* Would the long way only record such an access: no point, no fault? For short ways that check no more. */
HIDDEN bool control_lets_pass(const struct thread *self, uint64_t site, uint64_t address, size_t size,
			      enum access access);
INLINE bool passes_control(const struct thread *self, uint64_t site, uint64_t address, size_t size,
			   enum access access)
{
	return LIKELY(!runtime.controlled) || control_lets_pass(self, site, address, size, access);
}
/* Has the thread in this slot passed no synchronisation call since it made this access? */
HIDDEN bool control_is_open(uint32_t slot, uint32_t order);

#endif
