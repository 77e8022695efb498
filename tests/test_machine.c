/* The simulated machine (loom/runtime/observe/cache.c) against a naive twin on random accesses,
 * and by hand on what the paper says of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "loom/runtime/observe/cache.h"

static uint64_t seed = 7;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- the twin: one list of copies, events as text ---- */

struct copy {
	uint32_t core, site;
	uint64_t line, used;
	char state; /* M E S */
	char context[16];
};

struct twin {
	uint32_t cores, events;
	uint64_t now;
	VEC(struct copy) copies;
	char context[CACHE_CORES][16]; /* letters r w R W, oldest first */
};

static void twin_push(struct twin *twin, uint32_t core, char event)
{
	char *context = twin->context[core];
	size_t n = strlen(context);

	if (!twin->events)
		return;
	if (n == twin->events)
		memmove(context, context + 1, n--);
	context[n] = event;
	context[n + 1] = '\0';
}

static struct copy *twin_find(struct twin *twin, uint32_t core, uint64_t line)
{
	for (size_t i = 0; i < twin->copies.n; i++)
		if (twin->copies.items[i].core == core && twin->copies.items[i].line == line)
			return &twin->copies.items[i];
	return NULL;
}

static void twin_drop(struct twin *twin, struct copy *copy)
{
	*copy = twin->copies.items[--twin->copies.n];
}

static void twin_put(struct twin *twin, struct copy fresh)
{
	size_t same = 0;
	struct copy *oldest = NULL;

	for (size_t i = 0; i < twin->copies.n; i++) {
		struct copy *copy = &twin->copies.items[i];

		if (copy->core != fresh.core || copy->line % 64 != fresh.line % 64)
			continue;
		same++;
		if (!oldest || copy->used < oldest->used)
			oldest = copy;
	}
	if (same == 8)
		twin_drop(twin, oldest);
	*VEC_PUSH(&twin->copies) = fresh;
}

static bool twin_access(struct twin *twin, uint32_t core, uint64_t line, bool write, uint32_t site,
			struct copy *source, char sink[16])
{
	struct copy *mine = twin_find(twin, core, line);
	struct copy fresh = { .core = core, .line = line, .used = ++twin->now, .state = write ? 'M' : 'E' };
	bool others = false;

	*source = (struct copy){ 0 };
	strcpy(sink, twin->context[core]);
	if (mine)
		mine->used = twin->now;
	if (mine && (!write || mine->state != 'S')) {
		if (write)
			mine->state = 'M';
		return false;
	}
	if (write) {
		fresh.site = site;
		strcpy(fresh.context, twin->context[core]);
	}
	for (uint32_t other = 0; other < twin->cores; other++) {
		struct copy *copy = other == core ? NULL : twin_find(twin, other, line);

		if (!copy)
			continue;
		if (!others)
			*source = *copy;
		if (!write && !others) { /* all copies are equal but for the owner, which is alone */
			fresh.site = copy->site;
			strcpy(fresh.context, copy->context);
			fresh.state = copy->state = 'S';
			twin_push(twin, other, 'R');
		}
		others = true;
		if (write) {
			twin_push(twin, other, 'W');
			twin_drop(twin, copy);
		}
	}
	mine = twin_find(twin, core, line);
	if (mine)
		twin_drop(twin, mine);
	twin_put(twin, fresh);
	if (others)
		twin_push(twin, core, write ? 'w' : 'r');
	return write ? others && source->site : true;
}

static uint16_t encoded(const char *context, uint32_t events)
{
	uint32_t value = events == 8 ? 0 : 1;

	for (; *context; context++)
		value = value * 4 + (uint32_t)(strchr("rwRW", *context) - "rwRW");
	return (uint16_t)value;
}

/* ---- tests ---- */

static void as_the_twin(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		struct machine *machine = memory_alloc(sizeof *machine);
		struct twin twin = { .cores = 1 + below(5), .events = below(9) };
		uint32_t lines = 1 + below(40);

		machine_init(machine, twin.cores, twin.events);
		for (int i = 0; i < 3000; i++) {
			/* Mostly one or two sets, so that lines are evicted. */
			uint64_t line = 1000 + (uint64_t)below(lines) * (below(4) ? 64 : 1);
			uint32_t core = below(twin.cores), site = 1 + below(9);
			bool write = below(3) == 0;
			struct machine_edge edge;
			struct copy source;
			char sink[16];
			bool expected = twin_access(&twin, core, line, write, site, &source, sink);

			assert_int_equal(machine_access(machine, core, line, write, site, &edge), expected);
			if (!expected)
				continue;
			assert_int_equal(edge.source, source.site);
			assert_int_equal(edge.sink_context, encoded(sink, twin.events));
			if (source.site)
				assert_int_equal(edge.source_context, encoded(source.context, twin.events));
		}
		VEC_FREE(&twin.copies);
		free(machine);
	}
}

static void evictions_lose_the_writer(void **state)
{
	(void)state;
	struct machine *machine = memory_alloc(sizeof *machine);
	struct machine_edge edge;

	machine_init(machine, 2, 5);
	machine_access(machine, 0, 0, true, 7, &edge);
	assert_true(machine_access(machine, 1, 0, false, 8, &edge));
	assert_int_equal(edge.source, 7);
	/* Eight more lines of the same set push it out of both caches. */
	for (uint64_t line = 64; line <= 8 * 64; line += 64) {
		machine_access(machine, 0, line, true, 1, &edge);
		machine_access(machine, 1, line + 6400, true, 1, &edge);
	}
	assert_true(machine_access(machine, 1, 0, false, 9, &edge));
	assert_int_equal(edge.source, 0); /* from memory: null */
	free(machine);
}

static void neighbours_share_a_line_but_threads_of_a_core_do_not_talk(void **state)
{
	(void)state;
	struct machine *machine = memory_alloc(sizeof *machine);
	struct machine_edge edge;

	machine_init(machine, 1, 5);
	machine_access(machine, 0, 5, true, 7, &edge);
	assert_false(machine_access(machine, 0, 5, false, 8, &edge));
	free(machine);
}

static void full_table_traps(void **state)
{
	(void)state;
	struct machine *machine = memory_alloc(sizeof *machine);
	struct machine_edge edge;
	uint64_t lost = 0;

	machine_init(machine, 2, 5);
	for (int i = 0; i < 40000; i++) /* every access is a transfer */
		lost += !machine_access(machine, (uint32_t)i % 2, 3, true, 1 + (uint32_t)i % 2, &edge);
	assert_int_equal(machine->counts[MACHINE_TRAPS], 1);
	/* The first write found nobody; then 16384 entries, as many lost, and the rest. */
	assert_int_equal(lost, 1 + machine->counts[MACHINE_DISCARDED]);
	assert_true(machine->counts[MACHINE_DISCARDED] > 16000 && machine->counts[MACHINE_DISCARDED] < 16385);
	assert_int_equal(machine->counts[MACHINE_TABLE_WRITES], 40000 - lost);
	free(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_twin),
		cmocka_unit_test(evictions_lose_the_writer),
		cmocka_unit_test(neighbours_share_a_line_but_threads_of_a_core_do_not_talk),
		cmocka_unit_test(full_table_traps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
