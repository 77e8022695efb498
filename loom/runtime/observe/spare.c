/* Numbered blocks that come and go: readers, arrays, rows, cuts. Each thread keeps those
 * it has freed, and hands none out again before it has freed a good many more: another
 * thread that found the block without lock may still look at it, and even write into it.
 * So the numbers of spare blocks stand apart from the blocks, in chunks; full chunks that
 * a thread does not need go to a common store. Cuts, rows and arrays share their memory:
 * one is as large as two of the next, and where a kind has no spare block, one of a larger
 * kind is divided. */
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

#define KEPT 64u /* not handed out again yet */
#define CHUNKS (1u << 23)
_Static_assert(CHUNKS * sizeof(struct spare_chunk) == SPARES_SIZE, "chunks have room where they are mapped");

/* The common store. Who does not get the lock at once does without. */
static HOT struct {
	uint32_t lock;
	uint32_t next;  /* chunk that was never used */
	uint32_t empty; /* first of those that were */
	struct {
		uint32_t first, last; /* full ones, the oldest first */
	} full[SPARE_KINDS];
} store = { .next = 1 };

void spare_start(void)
{
	runtime_map(FIRST_SPARES_START, FIRST_SPARES * sizeof(struct spare_chunk));
	runtime_map(SPARES_START, SPARES_SIZE);
}

static bool try_lock(void)
{
	/* Acquire pairs with the release in unlock: chunks as the last holder left them. */
	return !__atomic_exchange_n(&store.lock, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
	__atomic_store_n(&store.lock, 0, __ATOMIC_RELEASE); /* pairs with try_lock */
}

/* What another thread was about to change is left alone: it stayed in the parent. */
void spare_after_fork(void)
{
	if (store.lock) {
		store.empty = 0;
		for (int kind = 0; kind < SPARE_KINDS; kind++)
			store.full[kind].first = store.full[kind].last = 0;
	}
	store.lock = 0;
}

/* ---- chunks ---- */

static void push_full(uint32_t *first, uint32_t *last, uint32_t chunk)
{
	spare_chunk_at(chunk)->next = 0;
	if (*first)
		spare_chunk_at(*last)->next = chunk;
	else
		*first = chunk;
	*last = chunk;
}

/* 0 when there is none. */
static uint32_t pop(uint32_t *first)
{
	uint32_t chunk = *first;
	if (chunk)
		*first = spare_chunk_at(chunk)->next;
	return chunk;
}

static uint32_t chunk_new(void)
{
	uint32_t chunk = __atomic_fetch_add(&store.next, 1, __ATOMIC_RELAXED);
	if (chunk >= CHUNKS)
		runtime_die("no more room for spare parts of shadow memory");
	return chunk;
}

static void push_empty(uint32_t chunk)
{
	spare_chunk_at(chunk)->n = 0;
	spare_chunk_at(chunk)->next = store.empty;
	store.empty = chunk;
}

/* Keeps an empty chunk for later, or gives it away; else it is lost, half a kilobyte. */
static void drop_chunk(struct spare *spare, uint32_t chunk)
{
	if (!chunk)
		return;
	spare_chunk_at(chunk)->n = 0;
	if (!spare->empty) {
		spare->empty = chunk;
	} else if (try_lock()) {
		push_empty(chunk);
		unlock();
	}
}

/* ---- taking ---- */

/* How many of the kind are in a cut, as a power of two. */
static const uint8_t parts_of_cut[SPARE_KINDS] = { [SPARE_ROWS] = 1, [SPARE_ARRAYS] = 2 };

/* With the lock: a full chunk of blocks of this kind, or of one to divide. For arrays only as long as all
 * blocks are such as arrays can name. */
static uint32_t fetch(enum spare_kind kind, uint32_t *shift)
{
	static const enum spare_kind larger[] = { SPARE_ROWS, SPARE_CUTS };
	uint32_t found = pop(&store.full[kind].first), parts = parts_of_cut[kind];
	bool divides = parts && (kind != SPARE_ARRAYS || !RELAXED_GET(runtime.next_far_blocks));
	*shift = 0;
	for (uint32_t i = 0; i < 2 && divides && !found; i++)
		if (parts > parts_of_cut[larger[i]]) {
			*shift = parts - parts_of_cut[larger[i]];
			found = pop(&store.full[larger[i]].first);
		}
	return found;
}

/* A look without lock: most blocks are never used before. */
static bool may_fetch(enum spare_kind kind)
{
	return RELAXED_GET(store.full[kind].first) ||
	       (parts_of_cut[kind] &&
		(RELAXED_GET(store.full[SPARE_CUTS].first) || RELAXED_GET(store.full[SPARE_ROWS].first)));
}

/* Another chunk to take from; false when there is none. */
static bool refill(struct spare *spare, enum spare_kind kind)
{
	uint32_t found = pop(&spare->first), shift = 0;
	if (!found) {
		if (!may_fetch(kind) || !try_lock())
			return false;
		found = fetch(kind, &shift);
		unlock();
	}
	uint32_t *place = shift ? &spare->larger : &spare->loaded;
	if (found)
		drop_chunk(spare, *place);
	if (found)
		*place = found;
	spare->shift = shift ? shift : spare->shift;
	return found;
}

static uint32_t count(uint32_t chunk)
{
	return chunk ? spare_chunk_at(chunk)->n : 0;
}

static uint32_t last_of(uint32_t chunk)
{
	struct spare_chunk *at = spare_chunk_at(chunk);
	return at->numbers[--at->n];
}

uint32_t spare_peek(const struct spare *spare)
{
	if (spare->left)
		return spare->next;
	return count(spare->loaded) ? spare_chunk_at(spare->loaded)->numbers[count(spare->loaded) - 1] : 0;
}

/* 0 when there are none. The last one first, which may still be in the cache. */
uint32_t spare_take(struct spare *spare, enum spare_kind kind)
{
	if (spare->left) {
		spare->left--;
		return spare->next++;
	}
	if (!count(spare->loaded) && !count(spare->larger) && !refill(spare, kind))
		return 0;
	if (count(spare->loaded))
		return last_of(spare->loaded);
	uint32_t number = last_of(spare->larger) << spare->shift;
	spare->next = number + 1;
	spare->left = (1u << spare->shift) - 1;
	return number;
}

uint32_t spare_new(struct spare *spare, enum spare_kind kind, uint32_t *next, uint32_t limit,
		   const char *what)
{
	uint32_t number = spare_take(spare, kind);
	if (number)
		return number;
	number = __atomic_add_fetch(next, 1, __ATOMIC_RELAXED);
	if (number >= limit)
		runtime_die(what);
	return number;
}

/* ---- blocks that share their memory ---- */

/* Of the first ones a part is left to arrays, which cannot name others. */
#define NEAR_BLOCKS (1u << (HISTORY_BITS - 2))
#define NEAR_FOR_ALL (NEAR_BLOCKS / 4)
#define BLOCKS (1u << 28)
_Static_assert(BLOCKS * sizeof(struct cut) == BLOCKS_SIZE, "blocks have room where they are mapped");
_Static_assert(sizeof(struct cut) == 2 * sizeof(struct row) && sizeof(struct row) == 2 * sizeof(struct array),
	       "a block is divided in two");

/* A cut that was never used, 0 when there are no more. */
static uint32_t fresh_block(bool near)
{
	if (RELAXED_GET(runtime.next_blocks) < (near ? NEAR_BLOCKS : NEAR_FOR_ALL) - AREA_SLOTS)
		return __atomic_add_fetch(&runtime.next_blocks, 1, __ATOMIC_RELAXED);
	if (near || RELAXED_GET(runtime.next_far_blocks) >= BLOCKS - NEAR_BLOCKS - AREA_SLOTS)
		return 0;
	return NEAR_BLOCKS + __atomic_fetch_add(&runtime.next_far_blocks, 1, __ATOMIC_RELAXED);
}

uint32_t spare_block(struct spare *spare, enum spare_kind kind)
{
	uint32_t number = spare_take(spare, kind), shift = parts_of_cut[kind];
	if (number)
		return number;
	number = fresh_block(kind == SPARE_ARRAYS) << shift;
	spare->next = number + 1;
	spare->left = number ? (1u << shift) - 1 : 0;
	return number;
}

/* ---- giving ---- */

/* Begins another chunk. Of full ones a thread keeps one, or else threads that only free would have
 * what threads that only take are short of. */
static uint32_t begin_chunk(struct spare *spare, enum spare_kind kind)
{
	uint32_t fresh = spare->empty;
	spare->empty = 0;
	bool more = spare->first && spare->first != spare->last;
	if ((more || !fresh) && try_lock()) {
		while (spare->first && spare->first != spare->last)
			push_full(&store.full[kind].first, &store.full[kind].last, pop(&spare->first));
		if (!fresh)
			fresh = pop(&store.empty);
		unlock();
	}
	fresh = fresh ? fresh : chunk_new();
	spare_chunk_at(fresh)->n = 0;
	return fresh;
}

void spare_give(struct spare *spare, enum spare_kind kind, uint32_t number)
{
	if (!spare->kept)
		spare->kept = begin_chunk(spare, kind);
	struct spare_chunk *kept = spare_chunk_at(spare->kept);
	if (kept->n < KEPT) {
		kept->numbers[kept->n++] = number;
		return;
	}
	uint32_t oldest = kept->numbers[spare->at];
	kept->numbers[spare->at] = number;
	spare->at = (spare->at + 1) % KEPT;
	if (count(spare->loaded) == SPARE_CHUNK_MOST) {
		push_full(&spare->first, &spare->last, spare->loaded);
		spare->loaded = 0;
	}
	if (!spare->loaded)
		spare->loaded = begin_chunk(spare, kind);
	struct spare_chunk *loaded = spare_chunk_at(spare->loaded);
	loaded->numbers[loaded->n++] = oldest;
}

static void leave_chunk(enum spare_kind kind, uint32_t chunk)
{
	if (count(chunk))
		push_full(&store.full[kind].first, &store.full[kind].last, chunk);
	else if (chunk)
		push_empty(chunk);
}

/* Those of a thread that ends are for the others. */
void spare_leave(struct thread *self)
{
	for (uint32_t i = 0; i < ROWS_IN_HAND; i++) {
		if (self->rows_in_hand[i])
			spare_give(&self->spares[SPARE_ROWS], SPARE_ROWS, self->rows_in_hand[i]);
		self->rows_in_hand[i] = 0;
	}
	if (!try_lock())
		return;
	for (enum spare_kind kind = 0; kind < SPARE_KINDS; kind++) {
		struct spare *spare = &self->spares[kind];
		for (uint32_t chunk; (chunk = pop(&spare->first));)
			leave_chunk(kind, chunk);
		leave_chunk(spare->shift == parts_of_cut[kind] ? SPARE_CUTS : SPARE_ROWS, spare->larger);
		leave_chunk(kind, spare->loaded);
		leave_chunk(kind, spare->kept);
		leave_chunk(kind, spare->empty);
		*spare = (struct spare){ 0 };
	}
	unlock();
}
