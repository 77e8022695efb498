/* What is known of heap blocks in a controlled run, and whether an access keeps to them.
 * Every block gets a tail behind what the program asked for, which says where it came
 * from; sixteen bytes of heap have a mark that tells how many of them may be touched. A
 * freed block is kept for a while instead of going back to libc, so that whoever still
 * uses it is found. Marks stand only where a block lies that is ours to mark: memory that
 * libc gives out in another way, or gets back, has none and nothing is said about it.
 * Only the holder of the token takes blocks and keeps them; anybody may give one back. */
#include "loom/runtime/control/control.h"

#include <string.h>

#define GRAIN 16u /* what malloc aligns to */
/* Marks of 32 MiB of addresses lie together and have one page table. */
#define SPAN_SHIFT 25u
#define SPAN_MARKS ((1u << SPAN_SHIFT) / GRAIN)
#define SPANS 128u /* a power of two; blocks beyond these are not followed */
#define KEPT_BLOCKS 1024u
#define KEPT_BYTES (1u << 20)
#define KEPT_LARGEST (KEPT_BYTES / 4)

/* 0: all of it may be touched; up to 15: so many bytes from its start; or nothing of it: */
enum mark { MARK_HEADER = 8, MARK_TAIL = 0x80, MARK_FREED = 0x81 };

struct tail {
	uint64_t seal; /* of `block`: an overflow past our marks may have written over all this */
	uint64_t block, size;
	uint32_t born_site, born_thread;
	uint32_t freed_site, freed_thread; /* AREA_THREAD_GONE = it lives */
};
_Static_assert(sizeof(struct tail) + GRAIN <= HEAP_TAIL, "a tail begins at a grain");
#define SEAL(block) ((block) ^ 0x6b1fe2a8c93d7405u)

struct span {
	uint64_t number; /* of its addresses; 0 = none here */
	uint8_t *marks;
};

static HOT struct {
	struct span spans[SPANS];
	uint32_t nspans;
	uint32_t first_kept, nkept;
	uint64_t bytes_kept;
	uint64_t freeing; /* the block that the program is about to free, */
	uint32_t freeing_site;
} heap;

static uint64_t kept_blocks[KEPT_BLOCKS]; /* a ring; apart from what every run writes */
static char *all_marks;                   /* SPANS of them */

void heap_prepare(void)
{
	all_marks = runtime_map(0, (size_t)SPANS * SPAN_MARKS);
}

/* ---- marks ---- */

static struct span *span_at(uint64_t address)
{
	uint64_t number = address >> SPAN_SHIFT;
	uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 57);
	/* Acquire: pairs with the release in span_make; whoever lacks the token may look, too. */
	for (uint64_t found;; at = (at + 1) % SPANS)
		if (!(found = __atomic_load_n(&heap.spans[at].number, __ATOMIC_ACQUIRE)) || found == number)
			return &heap.spans[at];
}

static bool span_make(uint64_t address)
{
	struct span *span = span_at(address);
	if (span->number)
		return true;
	if (heap.nspans >= SPANS / 2 || !(address >> SPAN_SHIFT))
		return false;
	span->marks = (uint8_t *)all_marks + (size_t)heap.nspans++ * SPAN_MARKS;
	__atomic_store_n(&span->number, address >> SPAN_SHIFT, __ATOMIC_RELEASE);
	return true;
}

static uint32_t place_in_span(uint64_t address)
{
	return (uint32_t)(address % (1u << SPAN_SHIFT) / GRAIN);
}

static uint8_t mark_at(uint64_t address)
{
	const struct span *span = span_at(address);
	return span->number ? span->marks[place_in_span(address)] : 0;
}

static void mark_grain(uint64_t address, uint8_t mark)
{
	const struct span *span = span_at(address);
	if (span->number)
		span->marks[place_in_span(address)] = mark;
}

/* All grains from `from`, which begins one, up to `to`. */
static void mark_range(uint64_t from, uint64_t to, uint8_t mark)
{
	while (from < to) {
		uint64_t end = ((from >> SPAN_SHIFT) + 1) << SPAN_SHIFT;
		end = end < to ? end : to;
		const struct span *span = span_at(from);
		if (span->number)
			memset(span->marks + place_in_span(from), mark, (end - from + GRAIN - 1) / GRAIN);
		from = end;
	}
}

static uint64_t round_up(uint64_t address)
{
	return (address + GRAIN - 1) & ~(uint64_t)(GRAIN - 1);
}

/* ---- blocks ---- */

static struct tail *tail_in(uint64_t block, size_t usable)
{
	return (struct tail *)((block + usable - sizeof(struct tail)) & ~(uint64_t)(GRAIN - 1));
}

/* The tail of a block of which libc says how large it is; NULL when it is none of ours. */
static struct tail *tail_of(uint64_t block, size_t usable)
{
	if (usable < sizeof(struct tail) || block % GRAIN)
		return NULL;
	struct tail *tail = tail_in(block, usable);
	bool ours = mark_at((uint64_t)tail) == MARK_TAIL && tail->block == block && tail->seal == SEAL(block);
	return ours ? tail : NULL;
}

/* The thread that runs, if that is the one that asks. */
static struct agent *holder(void)
{
	struct agent *me = control.current;
	return runtime.controlled && me && me->thread == unsnarl_self ? me : NULL;
}

bool heap_follows(void)
{
	return holder() != NULL;
}

void heap_born(void *address, size_t size, size_t usable)
{
	uint64_t block = (uint64_t)address, end = round_up(block + usable);
	struct agent *me = holder();
	if (!me || block % GRAIN || usable < size + HEAP_TAIL || !span_make(block - GRAIN) ||
	    !span_make(block) || !span_make(end - 1) || end - block > (uint64_t)SPANS << (SPAN_SHIFT - 2))
		return;
	*tail_in(block, usable) = (struct tail){ .seal = SEAL(block),
						 .block = block,
						 .size = size,
						 .born_site = me->thread->allocating,
						 .born_thread = me->number,
						 .freed_thread = AREA_THREAD_GONE };
	if (size % GRAIN)
		mark_grain(block + size, (uint8_t)(size % GRAIN));
	mark_range(round_up(block + size), end, MARK_TAIL);
	if (!mark_at(block - GRAIN)) /* libc's word on the size of the block stands before it */
		mark_grain(block - GRAIN, MARK_HEADER);
}

size_t heap_size(const void *block, size_t usable)
{
	const struct tail *tail = runtime.controlled ? tail_of((uint64_t)block, usable) : NULL;
	return tail ? tail->size : usable;
}

void heap_gone(void *block, size_t usable)
{
	struct tail *tail = tail_of((uint64_t)block, usable);
	if (!tail)
		return;
	tail->seal = 0;
	mark_range((uint64_t)block, round_up((uint64_t)block + usable), 0);
	if (mark_at((uint64_t)block - GRAIN) == MARK_HEADER)
		mark_grain((uint64_t)block - GRAIN, 0);
}

void heap_about_to_free(bool begins)
{
	struct agent *me = holder();
	if (me)
		me->extent = begins ? EXTENT_FREED_BLOCK : EXTENT_WHOLE;
}

void heap_freeing(uint64_t block, uint32_t site)
{
	if (!holder())
		return;
	heap.freeing = block;
	heap.freeing_site = site;
}

/* ---- faults ---- */

static void tell_fault(const struct agent *me, uint32_t kind, uint32_t site, uint64_t address, size_t size,
		       bool write, const struct tail *tail)
{
	struct area_fault *fault = &control.schedule->fault;
	fault->kind = kind;
	fault->thread = me->number;
	fault->site = units_site_id(site);
	fault->offset = (int64_t)(address - (tail ? tail->block : address));
	fault->size = size;
	fault->write = write;
	fault->born_thread = fault->freed_thread = AREA_THREAD_GONE;
	if (!tail)
		return;
	fault->block = tail->size;
	fault->born_site = units_site_id(tail->born_site);
	fault->born_thread = tail->born_thread;
	fault->freed_thread = tail->freed_thread;
	if (tail->freed_thread != AREA_THREAD_GONE)
		fault->freed_site = units_site_id(tail->freed_site);
}

/* Of the block at, behind or before `address`; NULL when its tail was written over. */
static const struct tail *tail_near(uint64_t address)
{
	const uint64_t grain = address & ~(uint64_t)(GRAIN - 1);
	const struct tail *next = NULL;
	for (uint64_t at = grain; span_at(at)->number && !next; at += GRAIN) {
		const struct tail *tail = (const struct tail *)at;
		if (mark_at(at) == MARK_TAIL && tail->seal == SEAL(tail->block) && tail->block < at)
			next = tail;
	}
	if (next && next->block <= address)
		return next;
	for (uint64_t at = grain; at + HEAP_TAIL > grain; at -= GRAIN) {
		const struct tail *tail = (const struct tail *)at;
		if (mark_at(at) == MARK_TAIL && tail->seal == SEAL(tail->block))
			return tail;
	}
	return next;
}

/* The first byte of a range that must not be touched; `end` when there is none. */
static uint64_t first_forbidden(uint64_t address, uint64_t end)
{
	while (address < end) {
		const struct span *span = span_at(address);
		uint64_t span_end = ((address >> SPAN_SHIFT) + 1) << SPAN_SHIFT;
		if (!span->number) {
			address = span_end;
			continue;
		}
		for (uint64_t stop = span_end < end ? span_end : end; address < stop;) {
			uint8_t mark = span->marks[place_in_span(address)];
			uint64_t grain = address & ~(uint64_t)(GRAIN - 1);
			if (mark && mark < GRAIN && grain + mark < end && grain + mark >= address)
				return grain + mark;
			if (mark >= GRAIN || (mark && address >= grain + mark))
				return address;
			address = grain + GRAIN;
		}
	}
	return end;
}

/* The write of an atomic update has happened when it is seen, so its read is looked at instead. */
static bool note_checked(struct agent *me, uint64_t site, uint64_t address, enum access access)
{
	bool known = access == ACCESS_WRITE && me->checked_read == address && me->checked_site == site;
	me->checked_read = access == ACCESS_READ ? address : 0;
	me->checked_site = (uint32_t)site;
	return known;
}

bool heap_allows(struct agent *me, uint64_t site, uint64_t address, size_t size, enum access access)
{
	if (!heap.nspans)
		return true;
	if (me->extent != EXTENT_WHOLE || first_forbidden(address, address + size) < address + size)
		return false;
	note_checked(me, site, address, access);
	return true;
}

void heap_check(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	struct agent *me = holder();
	if (!me || me->inside || self->held || !heap.nspans)
		return;
	uint32_t site = WORD_SITE(word);
	bool known = note_checked(me, site, address, access);
	uint64_t end = address + (me->extent == EXTENT_FIRST_BYTE ? 1 : size);
	/* A long string comes in parts. */
	bool uncertain = me->extent == EXTENT_FIRST_BYTE && address != me->certain;
	uint64_t wrong = known || uncertain || end < address ? end : first_forbidden(address, end);
	if (LIKELY(wrong == end))
		return;
	const struct tail *tail = tail_near(wrong);
	bool freed = tail ? tail->freed_thread != AREA_THREAD_GONE : mark_at(wrong) == MARK_FREED;
	uint32_t kind = !freed                             ? FAULT_BEYOND
			: me->extent == EXTENT_FREED_BLOCK ? FAULT_DOUBLE_FREE
							   : FAULT_USE_AFTER_FREE;
	tell_fault(me, kind, site, address, size, access == ACCESS_WRITE, tail);
	control_finish(END_MEMORY);
}

void heap_only_first_byte(uint64_t address)
{
	struct agent *me = holder();
	if (!me)
		return;
	me->extent = address ? EXTENT_FIRST_BYTE : EXTENT_WHOLE;
	me->certain = address;
}

/* ---- freed blocks ---- */

static void *take_oldest(void)
{
	uint64_t block = kept_blocks[heap.first_kept];
	heap.first_kept = (heap.first_kept + 1) % KEPT_BLOCKS;
	heap.nkept--;
	return (void *)block;
}

/* The tail of a block that the running thread may free or change; NULL when it is not followed. */
static struct tail *tail_alive(const struct agent *me, uint64_t block, size_t usable, uint32_t site)
{
	struct tail *tail = me ? tail_of(block, usable) : NULL;
	if (tail && tail->freed_thread != AREA_THREAD_GONE) {
		tell_fault(me, FAULT_DOUBLE_FREE, site, block, tail->size, true, tail);
		control_finish(END_MEMORY);
	}
	return tail;
}

bool heap_keeps(const void *block, size_t usable)
{
	struct agent *me = holder();
	return usable <= KEPT_LARGEST && me &&
	       tail_alive(me, (uint64_t)block, usable, me->thread->allocating);
}

bool heap_resize(void *block, size_t size, size_t usable)
{
	struct agent *me = holder();
	if (!me || size + HEAP_TAIL > usable || (usable > KEPT_LARGEST && size < usable / 2) ||
	    !tail_alive(me, (uint64_t)block, usable, me->thread->allocating))
		return false;
	heap_gone(block, usable);
	heap_born(block, size, usable);
	return true;
}

bool heap_keep(void *address, size_t usable)
{
	uint64_t block = (uint64_t)address;
	struct agent *me = holder();
	uint32_t site = block == heap.freeing ? heap.freeing_site : 0;
	struct tail *tail = tail_alive(me, block, usable, site);
	if (!tail || usable > KEPT_LARGEST)
		return false;
	heap.freeing = 0;
	tail->freed_site = site;
	tail->freed_thread = me->number;
	mark_range(block, round_up(block + tail->size), MARK_FREED);
	kept_blocks[(heap.first_kept + heap.nkept++) % KEPT_BLOCKS] = block;
	heap.bytes_kept += usable;
	return true;
}

void *heap_surplus(bool all)
{
	if (!heap.nkept || !holder() || (!all && heap.nkept < KEPT_BLOCKS && heap.bytes_kept <= KEPT_BYTES))
		return NULL;
	return take_oldest();
}

void heap_returned(size_t usable)
{
	heap.bytes_kept -= usable;
}
