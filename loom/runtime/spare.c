/* Numbered blocks that come and go: readers, arrays, cuts. Each thread keeps those
 * it has freed and takes the oldest first, so that a thread that still looks at a block
 * it found without lock sees it unchanged for a good while. Some threads only free
 * what others only take: what is too many goes to a common store, by the batch.
 * The links between spare blocks lie apart from the blocks, for the same reason. */
#include "loom/runtime/runtime.h"

#define KEPT 64u   /* not handed out again yet */
#define BATCH 128u /* moved at a time */
#define BATCHES 4096u

/* The common store of one kind of block. Who does not get the lock at once does without. */
static struct store {
	uint32_t lock, n;
	uint32_t batches[BATCHES]; /* first of BATCH linked blocks */
} stores[SPARE_KINDS];

static uint32_t *link_of(enum spare_kind kind, uint32_t number)
{
	return (uint32_t *)(SPARE_LINKS_START + ((uint64_t)kind << 30)) + number;
}

void spare_start(enum spare_kind kind, uint32_t limit)
{
	runtime_map((uint64_t)link_of(kind, 0), (size_t)limit * sizeof(uint32_t));
}

void spare_after_fork(void)
{
	for (int kind = 0; kind < SPARE_KINDS; kind++)
		stores[kind].lock = 0;
}

static bool try_lock(struct store *store)
{
	/* Acquire pairs with the release in unlock: the links as the last holder left them. */
	return !__atomic_exchange_n(&store->lock, 1, __ATOMIC_ACQUIRE);
}

static void unlock(struct store *store)
{
	__atomic_store_n(&store->lock, 0, __ATOMIC_RELEASE); /* pairs with try_lock */
}

/* Appends the blocks from `first` to `last`, linked already. */
static void append_spare(struct spare *spare, enum spare_kind kind, uint32_t first, uint32_t last, uint32_t n)
{
	if (spare->count)
		*link_of(kind, spare->last) = first;
	else
		spare->first = first;
	spare->last = last;
	spare->count += n;
}

static void fetch(struct spare *spare, enum spare_kind kind)
{
	struct store *store = &stores[kind];
	if (!RELAXED_GET(store->n) || !try_lock(store))
		return;
	if (store->n) {
		uint32_t first = store->batches[--store->n], last = first;
		for (uint32_t i = 1; i < BATCH; i++)
			last = *link_of(kind, last);
		append_spare(spare, kind, first, last, BATCH);
	}
	unlock(store);
}

/* 0 when there are none. */
uint32_t spare_take(struct spare *spare, enum spare_kind kind)
{
	if (spare->count <= KEPT)
		fetch(spare, kind);
	if (spare->count <= KEPT)
		return 0;
	uint32_t number = spare->first;
	spare->first = *link_of(kind, number);
	spare->count--;
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

void spare_give(struct spare *spare, enum spare_kind kind, uint32_t number)
{
	struct store *store = &stores[kind];
	append_spare(spare, kind, number, number, 1);
	if (spare->count < KEPT + 2 * BATCH || RELAXED_GET(store->n) == BATCHES || !try_lock(store))
		return;
	if (store->n < BATCHES) {
		store->batches[store->n++] = spare->first;
		for (uint32_t i = 0; i < BATCH; i++)
			spare->first = *link_of(kind, spare->first);
		spare->count -= BATCH;
	}
	unlock(store);
}
