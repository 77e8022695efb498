/* Marks of the heap (loom/runtime/control/heap_blocks.c) against a naive twin that knows of every
 * byte whether it may be touched: random blocks side by side in one arena, with libc's word
 * before each, allocated, resized, freed, kept and given back; after every step random
 * ranges are looked at by both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loom/runtime/control/control.h"
#include "tests/runtime_alone.h"

struct control control;
static struct area_schedule *schedule;
__thread struct thread *unsnarl_self;
static jmp_buf ends;

void control_finish(uint32_t end)
{
	assert_int_equal(end, END_MEMORY);
	longjmp(ends, 1);
}

uint64_t units_site_id(uint32_t site)
{
	return site;
}

#include "loom/runtime/control/heap_blocks.c"

#define ARENA (1u << 20)
#define BLOCKS 200u

enum byte { FREE_TO_TOUCH, NOT_ASKED_FOR, FREED };

static char *arena;
static uint8_t bytes[ARENA]; /* enum byte */
static struct chunk {
	size_t at, size, usable; /* at 0: no block; `at` is where the program's bytes begin */
	bool freed;
} chunks[BLOCKS];

static uint64_t state = 7;

static size_t below(size_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(state >> 33) % n;
}

static void touchable(const struct chunk *chunk, uint8_t inside, uint8_t outside)
{
	memset(bytes + chunk->at, inside, chunk->size);
	memset(bytes + chunk->at + chunk->size, outside, chunk->usable - chunk->size);
}

/* A place where nothing is from `at` - 16 up to the next block's word on its size, as libc lays them. */
static bool is_room(size_t at, size_t usable)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (chunks[i].at && at < chunks[i].at + chunks[i].usable + 8 &&
		    chunks[i].at < at + usable + 8)
			return false;
	return at + usable + 32 < ARENA;
}

static void allocate(struct chunk *chunk)
{
	size_t size = below(4) ? below(90) : below(3000), usable = ((size + HEAP_TAIL + 7) & ~15ul) + 8;
	usable = usable < size + HEAP_TAIL ? usable + 16 : usable;
	size_t at = 32 + below(ARENA / 16 - 4) * 16;
	/* Mostly right behind another one. */
	const struct chunk *other = &chunks[below(BLOCKS)];
	if (other->at && below(3))
		at = other->at + other->usable + 8;
	if (!is_room(at, usable))
		return;
	*chunk = (struct chunk){ at, size, usable, false };
	unsnarl_self->allocating = (uint32_t)at;
	heap_born(arena + at, size, usable);
	touchable(chunk, FREE_TO_TOUCH, NOT_ASKED_FOR);
}

static struct chunk *chunk_at(const void *block)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (chunks[i].at && arena + chunks[i].at == block)
			return &chunks[i];
	fail_msg("a block that was never given out comes back");
	return NULL;
}

static void go_back(struct chunk *chunk)
{
	heap_gone(arena + chunk->at, chunk->usable);
	touchable(chunk, FREE_TO_TOUCH, FREE_TO_TOUCH);
	*chunk = (struct chunk){ 0 };
}

static void let_go(struct chunk *chunk)
{
	heap_freeing((uint64_t)arena + chunk->at, 12);
	if (!heap_keep(arena + chunk->at, chunk->usable)) {
		go_back(chunk);
		return;
	}
	chunk->freed = true;
	touchable(chunk, FREED, FREED);
	for (void *old; (old = heap_surplus(below(40) == 0));) {
		chunk = chunk_at(old);
		heap_returned(chunk->usable);
		go_back(chunk);
	}
}

static void resize(struct chunk *chunk)
{
	size_t size = below(chunk->usable);
	unsnarl_self->allocating = (uint32_t)chunk->at;
	if (!heap_resize(arena + chunk->at, size, chunk->usable))
		return;
	assert_true(size + HEAP_TAIL <= chunk->usable);
	chunk->size = size;
	touchable(chunk, FREE_TO_TOUCH, NOT_ASKED_FOR);
}

/* Is there a fault, in the eyes of each? Only bytes of blocks are looked at: what libc itself keeps
 * between them may be touched or not. */
static void look(size_t at, size_t size)
{
	uint32_t expected = FAULT_NONE;
	for (size_t i = at; i < at + size && !expected; i++)
		expected = bytes[i] == FREED           ? FAULT_USE_AFTER_FREE
			   : bytes[i] == NOT_ASKED_FOR ? FAULT_BEYOND
						       : FAULT_NONE;
	schedule->fault.kind = FAULT_NONE;
	if (!setjmp(ends))
		heap_check(unsnarl_self, (uint64_t)5 << WORD_SITE_SHIFT, (uint64_t)arena + at, size,
			   ACCESS_READ);
	assert_int_equal(schedule->fault.kind, expected);
}

static void look_around(const struct chunk *chunk)
{
	for (size_t i = 0; chunk->at && i < 4; i++) {
		size_t from = below(chunk->usable), most = chunk->usable - from;
		look(chunk->at + from, 1 + below(most < 40 ? most : 40));
		if (!schedule->fault.kind)
			continue;
		assert_int_equal(schedule->fault.born_site, chunk->at);
		assert_int_equal(schedule->fault.block, chunk->size);
		assert_int_equal(schedule->fault.freed_thread, chunk->freed ? 3 : AREA_THREAD_GONE);
	}
}

static void test_against_twin(void **unused)
{
	(void)unused;
	for (size_t step = 0; step < 60000; step++) {
		struct chunk *chunk = &chunks[below(BLOCKS)];
		if (!chunk->at)
			allocate(chunk);
		else if (!chunk->freed && below(3) == 0)
			resize(chunk);
		else if (!chunk->freed)
			let_go(chunk);
		look_around(&chunks[below(BLOCKS)]);
		assert_true(!chunk->at || heap_size(arena + chunk->at, chunk->usable) == chunk->size);
	}
}

/* The word on a block's size, just before it, is nobody's. */
static void test_before(void **unused)
{
	(void)unused;
	char *block = arena + ARENA / 2 + 160;
	memset(chunks, 0, sizeof chunks);
	mark_range((uint64_t)arena, (uint64_t)arena + ARENA, 0);
	heap_born(block, 10, 72);
	schedule->fault.kind = FAULT_NONE;
	if (!setjmp(ends))
		heap_check(unsnarl_self, 0, (uint64_t)block - 4, 4, ACCESS_READ);
	assert_int_equal(schedule->fault.kind, FAULT_BEYOND);
	assert_int_equal(schedule->fault.offset, -4);
	schedule->fault.kind = FAULT_NONE;
	if (!setjmp(ends)) /* the last bytes of whatever is before it */
		heap_check(unsnarl_self, 0, (uint64_t)block - 16, 8, ACCESS_READ);
	assert_int_equal(schedule->fault.kind, FAULT_NONE);
	/* The write of an atomic update after somebody else freed the block has happened before that. */
	heap_check(unsnarl_self, 0, (uint64_t)block, 4, ACCESS_READ);
	assert_true(heap_keep(block, 72));
	if (!setjmp(ends))
		heap_check(unsnarl_self, 0, (uint64_t)block, 4, ACCESS_WRITE);
	assert_int_equal(schedule->fault.kind, FAULT_NONE);
	if (!setjmp(ends))
		heap_keep(block, 72);
	assert_int_equal(schedule->fault.kind, FAULT_DOUBLE_FREE);
}

int main(void)
{
	static struct thread thread;
	static struct agent agent = { .thread = &thread, .number = 3 };
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_twin),
					    cmocka_unit_test(test_before) };

	arena = runtime_map(0, ARENA);
	schedule = runtime_map(0, sizeof *schedule);
	unsnarl_self = &thread;
	runtime.controlled = true;
	control.current = &agent;
	control.schedule = schedule;
	heap_prepare();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
