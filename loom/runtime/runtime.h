/* The runtime's insides: one state struct and what its rooms offer each other.
 * It lives in other people's processes: libc only, no malloc, no output unless
 * something is wrong, and a correct program must behave as without it. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loom/area.h"
#include "loom/runtime/layout.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Relaxed accesses to what several threads touch: for counters and hints where
 * no other memory is published through them. */
#define RELAXED_GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define RELAXED_SET(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

struct index {
	uint32_t *slots; /* number of the log entry + 1 */
	uint32_t mask;
};

struct runtime {
	bool active; /* an area is there and observers are on */
	int area_fd;
	struct area_head *head;
	struct area_process *process;
	struct area_options options;
	uint32_t context_mask;  /* two bits per kept event */
	bool always_slow;       /* line granularity or trace: every access must be seen */
	bool controlled;        /* one thread runs at a time (control.c) */
	struct thread *threads; /* AREA_SLOTS of them */
	struct index pairs, predecessors, edges, couples;
	uint32_t next_readers, next_splits; /* blocks handed out so far */
	uint32_t trace_lock;
};
extern HIDDEN struct runtime runtime;

/* ---- start.c ---- */
/* Zeroed memory that costs nothing until touched; never fails to return (it ends the process with a sentence). */
HIDDEN void *runtime_map(uint64_t at, size_t size);
HIDDEN void runtime_die(const char *what);
HIDDEN bool runtime_claim_process(void);
HIDDEN void *runtime_map_area(uint64_t offset, size_t size); /* a part of the run area */
/* Memory ends or begins its life: its history is forgotten. */
HIDDEN void runtime_forget(struct thread *self, uint64_t address, size_t size);

/* ---- thread.c ---- */
enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_ENDED, THREAD_RECYCLING };
#define SLOT_GONE (AREA_SLOTS - 1) /* stands for threads whose slot was given away */
extern EXPORT __thread struct thread *unsnarl_self __attribute__((tls_model("initial-exec")));
extern HIDDEN struct thread unsnarl_nobody;
/* This thread, registered now if it was unknown; NULL when there is no slot or no area. */
HIDDEN struct thread *thread_self(void);
HIDDEN void thread_start(void);
HIDDEN struct thread *thread_new(void);          /* announced by its creator; NULL when there is no slot */
HIDDEN void thread_adopt(struct thread *thread); /* the calling thread becomes it */
HIDDEN void thread_discard(struct thread *thread);
HIDDEN void thread_end(void); /* of the calling thread */
HIDDEN void thread_after_fork(void);
/* Full order of an event of `slot` from its low 32 bits. */
HIDDEN uint64_t thread_order(uint32_t slot, uint32_t low);
HIDDEN void thread_leave_runtime(struct thread *self); /* a jump or cancellation leaves the runtime */

/* ---- server.c: a program that forks once per run ---- */
/* In the server: serves orders for ever. Returns in each child, with the descriptor of its area; -1 when the
 * program is no server. */
HIDDEN int server_start(char **environment);

/* ---- memory.c ---- */
HIDDEN void memory_start(void);

/* ---- recycle.c ---- */
HIDDEN bool recycle_slots(void); /* false when no slot could be freed */
HIDDEN void recycle_cell(struct cell *cell);

/* ---- units.c ---- */
HIDDEN void units_after_fork(void);
HIDDEN uint64_t units_site_id(uint32_t site); /* 0 when unknown */
HIDDEN void units_copy(struct area_process *to, const struct area_process *from);

/* ---- observe.c ---- */
HIDDEN void observe_start(void);
HIDDEN void observe_after_fork(void);
HIDDEN void observe_pair(struct thread *self, uint32_t kind, uint64_t head, uint64_t tail, uint64_t address);
/* The pair a couple ends with, as observe_pair gets it; called for every pair, known or not, while patience lasts. */
HIDDEN void couples_meet(struct thread *self, struct thread *other, uint32_t kind, uint64_t head,
			 uint64_t tail, uint64_t address);
HIDDEN void observe_couple(struct thread *self, const struct area_couple *couple);
HIDDEN void observe_predecessor(struct thread *self, uint32_t site, uint32_t before);
HIDDEN void observe_edge(struct thread *self, uint32_t source, uint32_t source_context, uint32_t sink,
			 uint32_t sink_context, bool write);
HIDDEN void observe_dropped(void);

/* ---- cell.c: one unit's history ---- */
enum access { ACCESS_READ = 1, ACCESS_WRITE = 2 };
HIDDEN void cell_read(struct thread *self, struct cell *cell, uint16_t *owner, uint64_t word,
		      uint64_t address);
HIDDEN void cell_write(struct thread *self, struct cell *cell, uint16_t *owner, uint64_t word,
		       uint64_t address);
HIDDEN void cell_copy(struct thread *self, struct cell *to, const struct cell *from, uint16_t owner,
		      uint32_t length);
HIDDEN void cell_clear(struct thread *self, struct cell *cell, uint16_t owner);
/* An access to the unit of `length` whose cell this is, when it changes no owner: without lock. */
HIDDEN bool cell_access(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			uint32_t length, enum access access, uint32_t *memo);
/* Any access to it, under the lock; false when there is no such unit. */
HIDDEN bool cell_access_locked(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			       uint32_t length, enum access access, uint32_t *memo);
/* ---- control.c: one thread at a time, see control.h ---- */
HIDDEN void control_access(struct thread *self, uint64_t word, uint64_t address, size_t size,
			   enum access access);

/* ---- context.c: the last communication events of each thread ---- */
HIDDEN void context_push(struct thread *self, uint32_t event); /* this thread's own */
HIDDEN void context_send(uint32_t slot, uint32_t event);       /* one that another thread will notice */
HIDDEN void context_notice(struct thread *self);               /* takes in what others caused */

/* ---- readers.c: several threads that read since the last write ---- */
#define READERS_PER_BLOCK 6u
struct readers {
	uint64_t
		latest; /* of all blocks, in the first one: the last read, its order replaced by the site before it */
	uint32_t next; /* further block of the same cell, or of the spare list; 0 = none */
	uint32_t n;
	uint64_t words[READERS_PER_BLOCK];
};
HIDDEN struct readers *readers_at(uint32_t number);
HIDDEN uint32_t readers_new(struct thread *self);
HIDDEN void readers_free(struct thread *self, uint32_t number);
HIDDEN uint32_t readers_copy(struct thread *self, uint32_t number);
/* This thread's entry, NULL when it has none. */
HIDDEN uint64_t *readers_find(struct readers *readers, uint32_t slot);
HIDDEN void readers_add(struct thread *self, struct readers *readers, uint64_t word);
HIDDEN void readers_start(void);
HIDDEN void readers_recycle(void (*each)(uint64_t *word));

/* ---- granule.c: from an address range to its units ---- */
HIDDEN void granule_access(struct thread *self, uint64_t word, uint64_t address, size_t size,
			   enum access access, uint32_t *memo);
/* Cells of the units at offsets 1, 2, 3, 5, 6, 7 of a granule. */
struct split {
	struct cell cells[6];
};
#define SPLIT_BLOCKS_START 0x4b0000000000ull
#define SPLIT_BLOCKS_LIMIT (1u << 28)
INLINE struct split *split_at(uint32_t number)
{
	return (struct split *)SPLIT_BLOCKS_START + number;
}
INLINE uint32_t *split_number(uint64_t granule)
{
	return (uint32_t *)(SPLITS_START + ((granule & ADDRESS_MASK) >> 1));
}
/* The cell of the unit of `length` at `address`, NULL when there is no such unit. */
INLINE struct cell *granule_find(uint64_t address, uint32_t length)
{
	if (address & (length - 1))
		return NULL;
	if (length >= 4 || address % 4 == 0)
		return layout_cell(address);
	uint32_t number = *split_number(address), offset = address % 8;
	return number ? &split_at(number)->cells[offset < 4 ? offset - 1 : offset - 2] : NULL;
}
HIDDEN void granule_forget(struct thread *self, uint64_t address, size_t size);
HIDDEN void granule_start(void);
HIDDEN void granule_lock(struct thread *self, uint64_t granule);
HIDDEN void granule_unlock(struct thread *self);
HIDDEN void granule_unlock_held(struct thread *self);
HIDDEN void granule_after_fork(void);
HIDDEN void splits_recycle(void);

/* ---- lines.c: last writers of 64-byte lines (edges with line granularity) ---- */
HIDDEN void lines_start(void);
HIDDEN void lines_access(struct thread *self, uint64_t word, uint64_t address, size_t size,
			 enum access access);

/* ---- loops.c ---- */
HIDDEN struct area_loop loops_at(uint32_t slot, uint64_t order);

/* ---- jitter.c ---- */
HIDDEN void jitter_at_access(struct thread *self);
HIDDEN void jitter_at_call(void);

/* ---- trace.c: every access in one global order, for comparison with the reference ---- */
HIDDEN void trace_begin(struct thread *self, uint64_t word, uint64_t address, size_t size,
			enum access access);
HIDDEN void trace_forget(struct thread *self, uint64_t address, size_t size);
HIDDEN void trace_end(void);

#endif
