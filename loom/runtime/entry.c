/* The cold ends of the hooks: what compiled code calls. Each enters the runtime
 * for the calling thread, or stays out when that thread holds a lock (a signal
 * handler that interrupted it) or nothing is observed. */
#include "loom/runtime/runtime.h"

#include <errno.h>
#include <string.h>

#define COLD EXPORT __attribute__((preserve_most)) void

/* The thread, entered, with `word` made its own; NULL to stay out. A thread that
 * was unknown until now had no place for its order: it gets one here. */
static struct thread *enter(uint64_t *word)
{
	struct thread *self = unsnarl_self;
	if (UNLIKELY(self == &unsnarl_nobody)) {
		self = thread_self();
		if (!self)
			return NULL;
	}
	if (UNLIKELY(WORD_SLOT(*word) != self->slot))
		*word = self->word | (*word & (uint64_t)WORD_SITE_MASK << WORD_SITE_SHIFT) |
			(uint32_t)++self->order;
	if (UNLIKELY(self->held)) {
		observe_dropped();
		return NULL;
	}
	return self;
}

static void leave(struct thread *self)
{
	RELAXED_SET(runtime.process->slot_order[self->slot], self->order);
}

static void access_slowly(struct thread *self, uint64_t word, uint64_t address, size_t size,
			  enum access access, uint32_t *memo)
{
	if (UNLIKELY(runtime.controlled))
		control_access(self, word, address, size, access);
	struct cell *cell = size <= 8 && !(size & (size - 1)) ? granule_find(address, (uint32_t)size) : NULL;
	/* What is this thread's own is here only because every access must be seen. */
	bool own = runtime.always_slow && cell &&
		   RELAXED_GET(cell->owner) == OWNER(self->slot, (uint32_t)size, 0u);
	if (UNLIKELY(runtime.options.jitter_us && !own))
		jitter_at_access(self);
	if (UNLIKELY(runtime.always_slow))
		trace_begin(self, word, address, size, access);
	if (!cell || !cell_access_locked(self, cell, word, address, (uint32_t)size, access, memo))
		granule_access(self, word, address, size, access, memo);
	if (UNLIKELY(runtime.options.line))
		lines_access(self, word, address, size, access);
	if (UNLIKELY(runtime.always_slow))
		trace_end();
}

static void access_range(uint64_t word, uint64_t address, size_t size, enum access access, uint32_t *memo)
{
	int saved = errno;
	struct thread *self = enter(&word);
	if (self) {
		access_slowly(self, word, address, size, access, memo);
		leave(self);
	}
	errno = saved;
}

/* Does an access to a whole unit; false when the long way must be taken. Without lock
 * the thread need not enter: a signal handler that comes in between does what another
 * thread might do. */
INLINE bool access_directly(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			    uint32_t length, enum access access, uint32_t *memo)
{
	if (UNLIKELY(!cell || WORD_SLOT(word) != self->slot || self->owner == OWNER_NEVER ||
		     runtime.options.jitter_us))
		return false;
	if (cell_access(self, cell, word, address, length, access, memo))
		return true;
	return !self->held && cell_access_locked(self, cell, word, address, length, access, memo);
}

INLINE void access_unit(uint64_t word, uint64_t address, uint32_t length, enum access access, uint32_t *memo)
{
	struct thread *self = unsnarl_self;
	struct cell *cell = granule_find(address, length);
	if (access == ACCESS_READ && cell && reads_again(self, cell, word, length))
		return;
	if (!access_directly(self, cell, word, address, length, access, memo))
		access_range(word, address, length, access, memo);
}

/* The fast path of small units and of accesses outside of small loops. */
INLINE bool access_quickly(uint64_t word, uint64_t address, uint32_t length, enum access access,
			   const uint32_t *memo)
{
	struct thread *self = unsnarl_self;
	struct cell *cell = granule_find(address, length);
	if (UNLIKELY(!cell || cell->owner != (uint16_t)(self->owner | length << 2) ||
		     MEMO(memo, cell->before) != cell->before || WORD_SLOT(word) != self->slot))
		return false;
	if (access == ACCESS_READ) {
		cell->read = word;
	} else {
		cell->write = word;
		cell->context = (uint16_t)self->context;
	}
	return true;
}

/* The quick part saves few registers; the rest is a function of its own, jumped to. */
#define UNIT_ACCESS(name, length, access)                                                                   \
	static __attribute__((preserve_most, noinline)) void name##_slowly(uint64_t word, uint64_t address, \
									   uint32_t *memo)                  \
	{                                                                                                   \
		access_unit(word, address, length, access, memo);                                           \
	}                                                                                                   \
	COLD name(uint64_t word, uint64_t address, uint32_t *memo)                                          \
	{                                                                                                   \
		if (!access_quickly(word, address, length, access, memo)) __attribute__                     \
			((musttail)) return name##_slowly(word, address, memo);                             \
	}

UNIT_ACCESS(unsnarl_read8, 8, ACCESS_READ)
UNIT_ACCESS(unsnarl_read4, 4, ACCESS_READ)
UNIT_ACCESS(unsnarl_read2, 2, ACCESS_READ)
UNIT_ACCESS(unsnarl_read1, 1, ACCESS_READ)
UNIT_ACCESS(unsnarl_write8, 8, ACCESS_WRITE)
UNIT_ACCESS(unsnarl_write4, 4, ACCESS_WRITE)
UNIT_ACCESS(unsnarl_write2, 2, ACCESS_WRITE)
UNIT_ACCESS(unsnarl_write1, 1, ACCESS_WRITE)

/* Accesses that are wide, unaligned or of a size known only now. */
COLD unsnarl_read(uint64_t word, uint64_t address, uint32_t *memo, uint64_t size)
{
	if (size)
		access_range(word, address, size, ACCESS_READ, memo);
}

COLD unsnarl_write(uint64_t word, uint64_t address, uint32_t *memo, uint64_t size)
{
	if (size)
		access_range(word, address, size, ACCESS_WRITE, memo);
}

/* A string of at most `most` bytes, with its end. */
COLD unsnarl_read_string(uint64_t word, uint64_t address, uint32_t *memo, uint64_t most)
{
	size_t length = strnlen((const char *)address, most);
	unsnarl_read(word, address, memo, length < most ? length + 1 : length);
}

/* As many bytes as the string at `like` has, its end included. */
COLD unsnarl_write_string(uint64_t word, uint64_t address, uint32_t *memo, uint64_t like)
{
	unsnarl_write(word, address, memo, strlen((const char *)like) + 1);
}

/* A variable on the stack begins its life. */
COLD unsnarl_fresh(uint64_t address, uint64_t size)
{
	struct thread *self = unsnarl_self;
	if (self != &unsnarl_nobody && !self->held)
		runtime_forget(self, address, size);
}
