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
			  enum access access, uint32_t unit, bool element)
{
	if (UNLIKELY(runtime.controlled))
		control_access(self, word, address, size, access);
	/* What is this thread's own is here only because every access must be seen. */
	if (UNLIKELY(runtime.options.jitter_us &&
		     !(runtime.always_slow && granule_is_own(self, address, size))))
		jitter_at_access(self, WORD_SITE(word));
	if (UNLIKELY(runtime.always_slow))
		trace_begin(self, word, address, size, access);
	if (self->taken.cell)
		cell_settle(self);
	granule_access(self, word, address, size, access, unit, element);
	if (UNLIKELY(runtime.options.line))
		lines_access(self, word, address, size, access);
	if (UNLIKELY(runtime.always_slow))
		trace_end();
}

static void access_range(uint64_t word, uint64_t address, size_t size, enum access access, uint32_t unit,
			 bool element)
{
	int saved = errno;
	struct thread *self = enter(&word);
	if (self) {
		access_slowly(self, word, address, size, access, unit, element);
		leave(self);
	}
	errno = saved;
}

/* ---- whole granules and halves ---- */

#define FORM(length) ((length) == 8 ? FORM_WHOLE : FORM_HALF)

/* Without entering where that will do: a signal handler that comes in between does what another
 * thread might do. */
INLINE void access_unit(uint64_t word, uint64_t address, uint32_t length, enum access access)
{
	struct thread *self = unsnarl_self;
	struct cell *cell = layout_cell(address);
	uint32_t form = FORM(length);
	bool short_way = !(address % length) && WORD_SLOT(word) == self->slot && self->owner != OWNER_NEVER &&
			 !runtime.options.jitter_us;
	if (self->taken.cell && !self->held)
		cell_settle(self);
	if (LIKELY(short_way)) {
		if (self->held ? cell_access_lightly(self, cell, word, address, form, access, form)
			       : cell_access(self, cell, word, address, form, access, form))
			return;
	}
	access_range(word, address, length, access, form, false);
}

INLINE void step_privately(const struct thread *self, struct cell *cell, uint64_t mark, uint64_t order,
			   enum access access)
{
	if (access == ACCESS_READ)
		cell_private_read(cell, mark, order);
	else
		cell_private_write(cell, mark, self->context, order);
}

/* What is private to this thread and known of the site; false for everything else. */
INLINE bool privately(const struct thread *self, struct cell *cell, uint64_t site, uint64_t order,
		      enum access access)
{
	uint64_t mark = self->marks[site];
	if (!cell_is_private(cell, mark))
		return false;
	step_privately(self, cell, mark, order, access);
	return true;
}

/* The mark for cells of another form. */
INLINE uint64_t mark_for(uint64_t mark, uint32_t form, uint32_t other)
{
	return mark ? mark ^ (uint64_t)(form ^ other) << 50 : 0;
}

/* In a granule in parts, all of those that the access covers. */
INLINE bool parts_privately(const struct thread *self, uint64_t low, uint64_t address, uint32_t length,
			    uint64_t mark, uint64_t order, enum access access)
{
	uint32_t starts = LOW_CONTEXT(low), from = address % 8, to = from + length;
	struct cell *cells = cut_at((uint32_t)low)->cells;
	if (!parts_fit(starts, from, to))
		return false;
	uint32_t parts = starts & ((1u << to) - 1) & ~((1u << from) - 1);
	for (uint32_t left = parts; left; left &= left - 1)
		if (!cell_is_private(&cells[__builtin_ctz(left)], mark))
			return false;
	for (uint32_t left = parts; left; left &= left - 1)
		step_privately(self, &cells[__builtin_ctz(left)], mark, order, access);
	return true;
}

#define LOW_IS_CUT(low) (LOW_OWNER(low) == OWNER(0u, FORM_WHOLE, MODE_CUT))

/* An access of 4 or 8 bytes to a granule in parts, or of 8 to one in halves. */
INLINE bool unit_privately(const struct thread *self, uint64_t address, uint64_t site, uint64_t order,
			   uint32_t length, enum access access)
{
	uint64_t low = cell_low(layout_whole(address)), mark = self->marks[site];
	if (LOW_IS_CUT(low))
		return address % length == 0 &&
		       parts_privately(self, low, address, length, mark_for(mark, FORM(length), FORM_PART),
				       order, access);
	struct cell *lower = layout_cell(address), *upper = layout_cell(address | 4);
	mark = mark_for(mark, FORM_WHOLE, FORM_HALF);
	if (length != 8 || address % 8 || !cell_is_private(lower, mark) || !cell_is_private(upper, mark))
		return false;
	step_privately(self, lower, mark, order, access);
	step_privately(self, upper, mark, order, access);
	return true;
}

INLINE bool quick(struct thread *self, struct cell *cell, uint32_t order, enum access access,
		  const struct memo *memo)
{
	return access == ACCESS_READ ? cell_quick_read(cell, self->tag, order, memo)
				     : cell_quick_write(cell, self->tag, self->context, order, memo);
}

/* What the first memo did not know: what is behind it comes to the front. */
INLINE bool second_chance(uint64_t word, uint64_t address, struct memo *memo, enum access access,
			  uint32_t length)
{
	struct thread *self = unsnarl_self;
	if (self->tag == TAG_NEVER)
		return false;
	struct cell *cell = layout_cell(address);
	const struct memo behind = *memo_behind(memo, cell_low(cell));
	if (quick(self, cell, WORD_ORDER(word), access, &behind)) {
		memo_set(memo, behind.from, behind.to);
		return true;
	}
	if (access == ACCESS_READ && reads_again(self, cell, word))
		return true;
	return unit_privately(self, address, WORD_SITE(word), WORD_ORDER(word), length, access);
}

/* The quick parts save few registers; the rest is a function of its own, jumped to. */
#define MISS(name)                                                                \
	EXPORT __attribute__((preserve_most, noinline)) void unsnarl_miss_##name( \
		uint64_t word, uint64_t address, uint64_t memo)
#define COLD_CALL(name) COLD unsnarl_##name(uint64_t address, uint64_t site)
/* Registers that carry arguments are preserved too: what is jumped to gets the same ones. */
#define SLOWLY(name) \
	static __attribute__((preserve_most, noinline)) void name##_slowly(uint64_t address, uint64_t site)

/* What compiled code leaves to the called function: the event's word, and its memo. */
INLINE uint64_t event_word(const struct thread *self, uint64_t site)
{
	return self->word + (site << WORD_SITE_SHIFT) + (uint32_t)self->order;
}

#define UNIT_ACCESS(name, length, access)                                                                   \
	static __attribute__((preserve_most, noinline)) void name##_access(uint64_t word, uint64_t address) \
	{                                                                                                   \
		access_unit(word, address, length, access);                                                 \
	}                                                                                                   \
	MISS(name)                                                                                          \
	{                                                                                                   \
		if (!second_chance(word, address, (struct memo *)memo, access, length))                     \
			name##_access(word, address);                                                       \
	}                                                                                                   \
	SLOWLY(name)                                                                                        \
	{                                                                                                   \
		struct thread *self = unsnarl_self;                                                         \
		struct cell *cell = layout_cell##length(address);                                           \
		const struct memo *memo = memo_behind(memo_of(self, site), cell_low(cell));                 \
		if (!quick(self, cell, (uint32_t)self->order, access, memo) &&                              \
		    !unit_privately(self, address, site, self->order, length, access) &&                    \
		    !(access == ACCESS_READ && reads_again(self, cell, event_word(self, site))))            \
			name##_access(event_word(self, site), address);                                     \
	}                                                                                                   \
	COLD_CALL(name)                                                                                     \
	{                                                                                                   \
		struct thread *self = unsnarl_self;                                                         \
		if (!privately(self, layout_cell##length(address), site, ++self->order, access))            \
			__attribute__                                                                       \
			((musttail)) return name##_slowly(address, site);                                   \
	}

UNIT_ACCESS(read8, 8, ACCESS_READ)
UNIT_ACCESS(read4, 4, ACCESS_READ)
UNIT_ACCESS(write8, 8, ACCESS_WRITE)
UNIT_ACCESS(write4, 4, ACCESS_WRITE)

/* ---- one or two bytes ---- */

/* In one part of a granule, just as large. */
INLINE bool small_in_part(struct thread *self, uint64_t low, uint64_t word, uint64_t address, uint32_t length,
			  enum access access, struct memo *memo)
{
	uint32_t starts = LOW_CONTEXT(low), from = address % 8;
	struct cell *cell = &cut_at((uint32_t)low)->cells[from];
	return parts_fit(starts, from, from + length) && (length == 1 || !(starts >> (from + 1) & 1)) &&
	       quick(self, cell, WORD_ORDER(word), access, memo_behind(memo, cell_low(cell)));
}

/* In a granule of this thread's own with an array of histories. */
INLINE bool small_in_array(struct thread *self, struct cell *cell, uint32_t number, uint64_t word,
			   uint64_t address, uint32_t length, enum access access, struct memo *all)
{
	uint32_t *history = &array_at(number)->histories[address % 8];
	const struct memo *memo = memo_behind(all, *history);
	if (access == ACCESS_WRITE && cell->context != (uint16_t)self->context)
		return false;
	if (memo->from != *history || !memo->from || (length == 2 && history[1] != memo->from))
		return false;
	history[0] = (uint32_t)memo->to;
	if (length == 2)
		history[1] = (uint32_t)memo->to;
	if (access == ACCESS_READ)
		cell->read = WORD_ORDER(word);
	else
		cell->write = WORD_ORDER(word);
	return true;
}

/* In a granule that another thread wrote and only this one has read since, a byte that it has read. */
static __attribute__((noinline)) bool small_in_shared(struct thread *self, struct cell *cell, uint64_t word,
						      uint64_t address, uint32_t length)
{
	struct cell now = cell_get(cell);
	uint32_t *history = NULL, old = HISTORY(now.history);
	if (OWNER_FORM(now.owner) == FORM_ARRAY) {
		history = &array_at(old)->histories[address % 8];
		old = *history;
		if (length == 2 && history[1] != old)
			return false;
	}
	uint64_t a, b;
	const struct known *known = known_place(self, &now, old, word, ACCESS_READ, &a, &b);
	if (self->couples_left || known->a != a || known->b >> HISTORY_BITS != b || !history_at(old)->read)
		return false;
	uint32_t next = HISTORY(known->b);
	if (next != old && !history)
		return false;
	if (next != old) {
		history[0] = next;
		if (length == 2)
			history[1] = next;
	}
	cell->read = WORD_ORDER(word);
	return true;
}

INLINE bool small_quickly(struct thread *self, uint64_t word, uint64_t address, uint32_t length,
			  enum access access, struct memo *memo, bool element)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	if (UNLIKELY(address % length || self->owner == OWNER_NEVER))
		return false;
	if (LOW_IS_CUT(low))
		return !(element && address % 8 + length == 8) &&
		       (small_in_part(self, low, word, address, length, access, memo) ||
			parts_privately(self, low, address, length, self->marks[WORD_SITE(word)],
					WORD_ORDER(word), access));
	if (!element)
		return false;
	if (LOW_OWNER(low) == (self->owner | FORM_ARRAY << 2)) {
		if (!small_in_array(self, cell, (uint32_t)low, word, address, length, access, memo))
			return false;
		return address % 8 + length != 8 || (array_settle(self, cell), true);
	}
	if (access == ACCESS_READ && (LOW_OWNER(low) & ~(15u << 2)) == (self->owner | MODE_ONE))
		return small_in_shared(self, cell, word, address, length);
	return false;
}

/* In one part of a granule, just as large, that is private to this thread. */
INLINE bool small_privately(const struct thread *self, uint64_t address, uint64_t site, uint32_t length,
			    enum access access, bool element)
{
	uint64_t low = cell_low(layout_whole(address));
	uint32_t from = address % 8, edges = (1u | 1u << length) << from, span = ((2u << length) - 1) << from;
	if (!LOW_IS_CUT(low) || ((LOW_CONTEXT(low) | 1u << 8) & span) != edges)
		return false;
	if (element && from + length == 8)
		return false; /* where a walk ends the granule may become whole again */
	return privately(self, &cut_at((uint32_t)low)->cells[from], site, self->order, access);
}

#define SMALL_ACCESS(name, length, access, element)                                                    \
	SLOWLY(name)                                                                                   \
	{                                                                                              \
		struct thread *self = unsnarl_self;                                                    \
		uint64_t word = event_word(self, site);                                                \
		if (!small_quickly(self, word, address, length, access, memo_of(self, site), element)) \
			access_range(word, address, length, access, FORM_PART, element);               \
	}                                                                                              \
	COLD_CALL(name)                                                                                \
	{                                                                                              \
		struct thread *self = unsnarl_self;                                                    \
		self->order++;                                                                         \
		if (!small_privately(self, address, site, length, access, element)) __attribute__      \
			((musttail)) return name##_slowly(address, site);                              \
	}

SMALL_ACCESS(read2, 2, ACCESS_READ, false)
SMALL_ACCESS(read1, 1, ACCESS_READ, false)
SMALL_ACCESS(write2, 2, ACCESS_WRITE, false)
SMALL_ACCESS(write1, 1, ACCESS_WRITE, false)
SMALL_ACCESS(element_read2, 2, ACCESS_READ, true)
SMALL_ACCESS(element_read1, 1, ACCESS_READ, true)
SMALL_ACCESS(element_write2, 2, ACCESS_WRITE, true)
SMALL_ACCESS(element_write1, 1, ACCESS_WRITE, true)

/* ---- the rest ---- */

/* Accesses that are wide, unaligned or of a size known only now; they have no use for memos. */
COLD unsnarl_read(uint64_t word, uint64_t address, uint64_t size)
{
	if (size)
		access_range(word, address, size, ACCESS_READ, FORM_NONE, true);
}

COLD unsnarl_write(uint64_t word, uint64_t address, uint64_t size)
{
	if (size)
		access_range(word, address, size, ACCESS_WRITE, FORM_NONE, true);
}

/* A string of at most `most` bytes, with its end. */
COLD unsnarl_read_string(uint64_t word, uint64_t address, uint64_t most)
{
	size_t length = strnlen((const char *)address, most);
	unsnarl_read(word, address, length < most ? length + 1 : length);
}

/* As many bytes as the string at `like` has, its end included. */
COLD unsnarl_write_string(uint64_t word, uint64_t address, uint64_t like)
{
	unsnarl_write(word, address, strlen((const char *)like) + 1);
}

/* A variable on the stack begins its life. */
COLD unsnarl_fresh(uint64_t address, uint64_t size)
{
	struct thread *self = unsnarl_self;
	if (self != &unsnarl_nobody && !self->held)
		runtime_forget(self, address, size);
}
