/* The cold ends of the hooks: what compiled code calls. Each enters the runtime
 * for the calling thread, or stays out when that thread holds a lock (a signal
 * handler that interrupted it) or nothing is observed. */
#include "loom/runtime/observe/entry.h"
#include "loom/runtime/observe/quick.h"

#include <errno.h>
#include <string.h>

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

/* How many accesses the thread made, to a part in 256: threads next to each other share a line there. */
static void leave(struct thread *self)
{
	if (self->order - self->told < self->order >> 8 && self->owner != OWNER_NEVER)
		return;
	self->told = self->order;
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
	if (UNLIKELY(runtime.armed))
		armed_access(WORD_SITE(word), address, size);
	if (UNLIKELY(runtime.always_slow))
		trace_begin(self, word, address, size, access);
	if (self->taken.cell)
		cell_settle(self);
	if (self->posted | RELAXED_GET(self->inbox))
		context_send(self, false);
	granule_access(self, word, address, size, access, unit, element);
	if (UNLIKELY(runtime.options.line))
		lines_access(self, word, address, size, access);
	if (UNLIKELY(runtime.always_slow))
		trace_end();
	if (UNLIKELY(runtime.controlled))
		heap_check(self, word, address, size, access);
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

/* ---- any range ---- */

/* Bytes of one granule. An atomic update reads at the same site as it writes here, so memos are left alone. */
static __attribute__((noinline)) bool quick_bytes(struct thread *self, uint64_t word, uint64_t address,
						  uint32_t length, enum access access)
{
	uint64_t site = WORD_SITE(word), order = WORD_ORDER(word);
	struct cell *cell = layout_whole(address);
	uint32_t from = address % 8, to = from + length;
	uint16_t owner = LOW_OWNER(cell_low(cell));
	if (OWNER_FORM(owner) != FORM_ARRAY)
		return (length == 8 &&
			(quick_privately(self, cell, FORM_WHOLE, site, order, access) ||
			 quick_in_halves(self, address, site, order, access) ||
			 quick_fresh(self, cell, word, address, 8, access) ||
			 quick_step(self, cell, word, access, FORM_WHOLE | FORM_NO_MEMOS, false) ||
			 quick_change(self, cell, word, address, 8, access))) ||
		       (length < 8 &&
			(quick_open_row(self, address, word, length, access, true) ||
			 (access == ACCESS_READ && quick_open(self, cell, word, address, length)))) ||
		       quick_in_shared(self, word, address, length, access);
	if (quick_in_row(self, address, site, order, length, access, true, true))
		return true;
	if (OWNER_MODE(owner) != MODE_ALL)
		return (access == ACCESS_READ && cached_step_at_bytes(self, word, address, length)) ||
		       quick_in_shared(self, word, address, length, access);
	return quick_in_array(self, address, site, order, length, access) ||
	       (access == ACCESS_READ && quick_join(self, cell, word, from, to));
}

/* Granule by granule where every access need not be seen: an access to several is one to each. */
static void access_granules(uint64_t word, uint64_t address, uint64_t size, enum access access)
{
	struct thread *self = unsnarl_self;
	bool by_granule =
		WORD_SLOT(word) == self->slot && self->owner != OWNER_NEVER && !must_be_seen(WORD_SITE(word));
	if (!by_granule && size)
		access_range(word, address, size, access, FORM_NONE, true);
	for (uint64_t end = address + size; by_granule && address < end;) {
		uint64_t next = (address & ~7ull) + 8, length = (next < end ? next : end) - address;
		if (!quick_bytes(self, word, address, (uint32_t)length, access))
			access_range(word, address, length, access, FORM_WHOLE | FORM_NO_MEMOS, true);
		address = next;
	}
}

/* ---- whole granules and halves ---- */

/* Without entering where that will do: a signal handler that comes in between does what another
 * thread might do. */
INLINE void access_unit(uint64_t word, uint64_t address, uint32_t length, enum access access)
{
	struct thread *self = unsnarl_self;
	struct cell *cell = layout_cell(address);
	uint32_t form = FORM(length);
	bool short_way = !(address % length) && WORD_SLOT(word) == self->slot && self->owner != OWNER_NEVER &&
			 !runtime.options.jitter_us && !runtime.controlled;
	if (self->taken.cell && !self->held)
		cell_settle(self);
	if (self->posted | RELAXED_GET(self->inbox))
		context_send(self, false);
	if (LIKELY(short_way)) {
		if (self->held ? cell_access_lightly(self, cell, word, address, form, access, form)
			       : cell_access(self, cell, word, address, form, access, form))
			return;
	}
	if (address % length && self->owner != OWNER_NEVER) /* unaligned as a buffer's bytes are */
		access_granules(word, address, length, access);
	else
		access_range(word, address, length, access, form, false);
}

/* Are there memos, or known reads, of such cells? Of this thread's own, and reads of what two threads know. */
INLINE bool has_memos_of(const struct thread *self, uint64_t low, enum access access)
{
	uint16_t owner = LOW_OWNER(low);
	bool own = !((owner ^ self->owner) & ~(15u << 2));
	return own || (access == ACCESS_READ && OWNER_MODE(owner) == MODE_ONE);
}

/* The quick parts save few registers; the rest is a function of its own, jumped to. */
#define COLD_CALL(name) COLD unsnarl_##name(uint64_t address, uint64_t site)
/* Registers that carry arguments are preserved too: what is jumped to gets the same ones. */
#define SLOWLY(name) \
	static __attribute__((preserve_most, noinline)) void name##_slowly(uint64_t address, uint64_t site)

/* What compiled code leaves to the called function: the event's word, and its memo. */
INLINE uint64_t event_word(const struct thread *self, uint64_t site)
{
	return self->word + (site << WORD_SITE_SHIFT) + (uint32_t)self->order;
}

#define UNIT_ACCESS(name, length, access)                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_access(uint64_t word, uint64_t address)  \
	{                                                                                                    \
		access_unit(word, address, length, access);                                                  \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_seen(uint64_t word, uint64_t address,    \
									 uint64_t memo)                      \
	{                                                                                                    \
		(void)memo;                                                                                  \
		access_unit(word, address, length, access);                                                  \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_further(uint64_t word, uint64_t address, \
									    uint64_t memo)                   \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		(void)memo;                                                                                  \
		if (self->owner == OWNER_NEVER ||                                                            \
		    !quick_unit(self, address, WORD_SITE(word), WORD_ORDER(word), length, access))           \
			name##_access(word, address);                                                        \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_many(uint64_t word, uint64_t address,    \
									 uint64_t memo)                      \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		if (self->owner == OWNER_NEVER || access == ACCESS_WRITE ||                                  \
		    !quick_listed(self, layout_cell(address), word, address, length)) __attribute__          \
			((musttail)) return name##_further(word, address, memo);                             \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_fresh(uint64_t word, uint64_t address,   \
									  uint64_t memo)                     \
	{                                                                                                    \
		if (!quick_fresh(unsnarl_self, layout_cell(address), word, address, length, access))         \
			__attribute__                                                                        \
			((musttail)) return name##_further(word, address, memo);                             \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_handover(                                \
		uint64_t word, uint64_t address, uint64_t memo)                                              \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		struct cell *cell = layout_cell(address);                                                    \
		if (self->owner == OWNER_NEVER) __attribute__                                                \
			((musttail)) return name##_further(word, address, memo);                             \
		if (!(cell_low(cell) & ~LOW_HALF_FRESH)) __attribute__                                       \
			((musttail)) return name##_fresh(word, address, memo);                               \
		if (!quick_change(self, cell, word, address, length, access)) __attribute__                  \
			((musttail)) return name##_many(word, address, memo);                                \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_among_bytes(                             \
		uint64_t word, uint64_t address, uint64_t memo)                                              \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		uint64_t site = WORD_SITE(word), order = WORD_ORDER(word);                                   \
		if (!(length == 4 && cached_step_at_own_half(self, address, site, order, access)) &&         \
		    !quick_in_row(self, address, site, order, length, access, false, false)) __attribute__   \
			((musttail)) return name##_handover(word, address, memo);                            \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_step(uint64_t word, uint64_t address,    \
									 uint64_t memo)                      \
	{                                                                                                    \
		if (!quick_without_memo(word, address, access, length, false)) __attribute__                 \
			((musttail)) return name##_handover(word, address, memo);                            \
	}                                                                                                    \
	MISS(name)                                                                                           \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		const struct cell *cell = layout_cell##length(address);                                      \
		uint64_t low = cell_low(cell);                                                               \
		if (must_be_seen(WORD_SITE(word))) __attribute__                                             \
			((musttail)) return name##_seen(word, address, memo);                                \
		if (access == ACCESS_READ && LOW_OWNER(low) == OWNER(0u, FORM(length), MODE_MANY)) {         \
			if (self->owner == OWNER_NEVER || !passes_over(self, cell, word)) __attribute__      \
				((musttail)) return name##_many(word, address, memo);                        \
			return;                                                                              \
		}                                                                                            \
		if (OWNER_FORM(LOW_OWNER(low)) != FORM(length)) __attribute__                                \
			((musttail)) return name##_among_bytes(word, address, memo);                         \
		if (has_memos_of(self, low, access)) __attribute__                                           \
			((musttail)) return name##_step(word, address, memo);                                \
		__attribute__((musttail)) return name##_handover(word, address, memo);                       \
	}                                                                                                    \
	SLOWLY(name)                                                                                         \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		struct cell *cell = layout_cell##length(address);                                            \
		struct memo *memo = memo_of(self, site);                                                     \
		uint64_t low = cell_low(cell), word = event_word(self, site);                                \
		if (self->owner == OWNER_NEVER ||                                                            \
		    must_be_seen(site)) /* need not touch the pages of memos */                              \
			name##_access(word, address);                                                        \
		else if (!(length == 8 && quick_in_halves(self, address, site, self->order, access)) &&      \
			 !(LOW_IS_MANY(low) ? access == ACCESS_READ && passes_over(self, cell, word)         \
					    : low && quick_by_memo(self, cell, self->order, access, memo)))  \
			name##_handover(word, address, (uint64_t)memo);                                      \
	}                                                                                                    \
	static __attribute__((preserve_most, noinline)) void name##_in_row(uint64_t address, uint64_t site)  \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		if (!quick_in_row(self, address, site, self->order, length, access, false, false))           \
			__attribute__                                                                        \
			((musttail)) return name##_slowly(address, site);                                    \
	}                                                                                                    \
	COLD_CALL(name)                                                                                      \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		if (!quick_privately(self, in_register(layout_cell##length(address)), FORM(length), site,    \
				     ++self->order, access)) __attribute__                                   \
			((musttail)) return name##_in_row(address, site);                                    \
	}

UNIT_ACCESS(read8, 8, ACCESS_READ)
UNIT_ACCESS(read4, 4, ACCESS_READ)
UNIT_ACCESS(write8, 8, ACCESS_WRITE)
UNIT_ACCESS(write4, 4, ACCESS_WRITE)

/* ---- two whole granules ---- */

/* Both in one state. */
INLINE bool quick_both_without_memo(struct thread *self, uint64_t word, struct cell *cells, struct memo *memo,
				    enum access access)
{
	uint64_t low = cell_low(cells);
	return !low_without_context(low ^ cell_low(cells + 1)) &&
	       quick_step(self, cells, word, access, FORM_WHOLE, steps_quietly()) &&
	       quick_by_memo(self, cells + 1, WORD_ORDER(word), access, memo);
}

#define MISS_BOTH(name, access)                                                                            \
	static __attribute__((preserve_most, noinline)) void name##16_further(                             \
		uint64_t word, uint64_t address, uint64_t memo)                                            \
	{                                                                                                  \
		struct thread *self = unsnarl_self;                                                        \
		struct cell *cells = layout_whole(address);                                                \
		if (self->owner != OWNER_NEVER && address % 8 == 0 && !must_be_seen(WORD_SITE(word)) &&    \
		    quick_both_without_memo(self, word, cells, (struct memo *)memo, access))               \
			return;                                                                            \
		if (!has_memos_of(self, cell_low(cells), access)) {                                        \
			name##8_handover(word, address, memo);                                             \
			name##8_handover(word, address + 8, memo);                                         \
			return;                                                                            \
		}                                                                                          \
		unsnarl_miss_##name##8(word, address, memo);                                               \
		unsnarl_miss_##name##8(word, address + 8, memo);                                           \
	}                                                                                                  \
	MISS(name##16)                                                                                     \
	{                                                                                                  \
		struct thread *self = unsnarl_self;                                                        \
		if (access == ACCESS_WRITE || self->owner == OWNER_NEVER || address % 8 ||                 \
		    must_be_seen(WORD_SITE(word)) || !passes_over_both(self, layout_whole(address), word)) \
			__attribute__                                                                      \
			((musttail)) return name##16_further(word, address, memo);                         \
	}

MISS_BOTH(read, ACCESS_READ)
MISS_BOTH(write, ACCESS_WRITE)

/* ---- one or two bytes ---- */

/* What a granule with an array or a row needs is in functions of their own, each with few registers to save. */
#define SMALL_SLOWLY(name, length, access, element)                                      \
	SLOWLY(name)                                                                     \
	{                                                                                \
		struct thread *self = unsnarl_self;                                      \
		uint64_t word = event_word(self, site);                                  \
		if (!quick_small(self, word, address, length, access, element))          \
			access_range(word, address, length, access, FORM_PART, element); \
	}

/* In this process, ever. */
static inline bool nobody_observes(const struct thread *self)
{
	return !self->tag;
}

#define SMALL_ACCESS(name, length, access, element)                                                   \
	SMALL_SLOWLY(name, length, access, element)                                                   \
	COLD_CALL(name)                                                                               \
	{                                                                                             \
		struct thread *self = unsnarl_self;                                                   \
		if (quick_in_row(self, address, site, ++self->order, length, access, element, false)) \
			return;                                                                       \
		if (!nobody_observes(self)) __attribute__                                             \
			((musttail)) return name##_slowly(address, site);                             \
	}

#define BYTE_WAY(name, way, done)                                                                          \
	static __attribute__((preserve_most, noinline)) void name##_##way(uint64_t address, uint64_t site) \
	{                                                                                                  \
		struct thread *self = unsnarl_self;                                                        \
		if (!(done)) __attribute__                                                                 \
			((musttail)) return name##_slowly(address, site);                                  \
	}

/* By a cached step: what only few of them have to do then is jumped to as well. */
#define CACHED_STEP_WAY(name, way, step)                                                                   \
	static __attribute__((preserve_most, noinline)) void name##_##way(uint64_t address, uint64_t site) \
	{                                                                                                  \
		enum step_taken done = step;                                                               \
		if (UNLIKELY(done == STEP_NOT_KNOWN)) __attribute__                                        \
			((musttail)) return name##_slowly(address, site);                                  \
		if (UNLIKELY(done == STEP_TAKEN_MEETS)) __attribute__                                      \
			((musttail)) return name##_meets(address, site);                                   \
		if (UNLIKELY(done == STEP_TAKEN_LAST)) __attribute__                                       \
			((musttail)) return last_byte(address, site);                                      \
	}

static __attribute__((preserve_most, noinline)) void last_byte(uint64_t address, uint64_t site)
{
	(void)site;
	array_settle(unsnarl_self, layout_whole(address));
}

#define BYTE_ACCESS(name, access, element)                                                               \
	SMALL_SLOWLY(name, 1, access, element)                                                           \
	BYTE_WAY(name, meets, cached_step_meet(self, address, access))                                   \
	CACHED_STEP_WAY(name, in_array, cached_step_at_own(unsnarl_self, address, site, access))         \
	CACHED_STEP_WAY(name, shared, cached_step_at_shared(unsnarl_self, address, site, access))        \
	BYTE_WAY(name, part, quick_part(self, address, site, 1, access, element))                        \
	COLD_CALL(name)                                                                                  \
	{                                                                                                \
		struct thread *self = unsnarl_self;                                                      \
		if (quick_in_row(self, address, site, ++self->order, 1, access, element, false) ||       \
		    nobody_observes(self))                                                               \
			return;                                                                          \
		if (must_be_seen(site)) __attribute__                                                    \
			((musttail)) return name##_slowly(address, site);                                \
		uint32_t owner = RELAXED_GET(layout_whole(address)->owner) ^ self->owner;                \
		bool two = (owner & (access == ACCESS_READ ? ~0u : 63)) == (FORM_ARRAY << 2 | MODE_ONE); \
		if (two) __attribute__                                                                   \
			((musttail)) return name##_shared(address, site);                                \
		if (owner == (FORM_ARRAY << 2 | MODE_ALL)) __attribute__                                 \
			((musttail)) return name##_in_array(address, site);                              \
		if (owner == (FORM_ARRAY | FORM_PRIVATE) << 2) __attribute__                             \
			((musttail)) return name##_slowly(address, site);                                \
		__attribute__((musttail)) return name##_part(address, site);                             \
	}

SMALL_ACCESS(read2, 2, ACCESS_READ, false)
SMALL_ACCESS(write2, 2, ACCESS_WRITE, false)
SMALL_ACCESS(element_read2, 2, ACCESS_READ, true)
SMALL_ACCESS(element_write2, 2, ACCESS_WRITE, true)
BYTE_ACCESS(read1, ACCESS_READ, false)
BYTE_ACCESS(write1, ACCESS_WRITE, false)
BYTE_ACCESS(element_read1, ACCESS_READ, true)
BYTE_ACCESS(element_write1, ACCESS_WRITE, true)

/* ---- the rest ---- */

static __attribute__((preserve_most, noinline)) void read_further(uint64_t word, uint64_t address,
								  uint64_t size)
{
	access_granules(word, address, size, ACCESS_READ);
}

/* Accesses that are wide, unaligned or of a size known only now. Reads of what two threads use, by the second
 * one, come first: there are many of them where one thread hands text to another. Only the same arguments may be
 * jumped on with, as above. */
COLD unsnarl_read(uint64_t word, uint64_t address, uint64_t size)
{
	struct thread *self = unsnarl_self;
	uint64_t at = address, end = address + size;
	while (at < end && WORD_SLOT(word) == self->slot) {
		uint64_t next = (at & ~7ull) + 8 < end ? (at & ~7ull) + 8 : end;
		if (!cached_step_at_bytes(self, word, at, (uint32_t)(next - at)))
			break;
		at = next;
	}
	if (at == address) __attribute__
		((musttail)) return read_further(word, address, size);
	if (at < end)
		read_further(word, at, end - at);
}

COLD unsnarl_write(uint64_t word, uint64_t address, uint64_t size)
{
	access_granules(word, address, size, ACCESS_WRITE);
}

/* A string of at most `most` bytes, with its end. The C library prints a null pointer as "(null)". */
COLD unsnarl_read_string(uint64_t word, uint64_t address, uint64_t most)
{
	if (!address)
		return;
	size_t length = strnlen((const char *)address, most);
	unsnarl_read(word, address, length < most ? length + 1 : length);
}

/* A string that the call may stop reading before its end. */
COLD unsnarl_read_start(uint64_t word, uint64_t address, uint64_t most)
{
	if (UNLIKELY(runtime.controlled))
		heap_only_first_byte(address);
	unsnarl_read_string(word, address, most);
	if (UNLIKELY(runtime.controlled))
		heap_only_first_byte(0);
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
		runtime_forget(self, address, size, true);
}
