/* Sites of two runs under one numbering: after atlas_number_alike a number means the same
 * place in both, whatever order the places came in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/memory.h"
#include "model/atlas.h"

#define PLACES 50u
#define ROUNDS 100u

static uint64_t address_of(uint32_t place)
{
	return 0x1000 + 16 * place;
}

/* A run that met `n` of the places, in an order of its own; event i is at the i-th of them. */
static void make_run(uint32_t n, struct observations *run)
{
	uint32_t order[PLACES];

	for (uint32_t i = 0; i < PLACES; i++) {
		uint32_t at = (uint32_t)rand() % (i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	*run = (struct observations){ .units = memory_alloc(n * sizeof *run->units),
				      .nunits = n,
				      .events = memory_alloc(n * sizeof *run->events),
				      .nevents = n };
	for (uint32_t i = 0; i < n; i++) {
		run->units[i] =
			(struct run_unit){ .hash = address_of(order[i]),
					   .first = i + 1,
					   .nsites = 1,
					   .path = memory_string("/nowhere/program"),
					   .is_place = true,
					   .place = { .address = address_of(order[i]), .kind = SITE_WRITE } };
		run->events[i] = (struct event){ .address = address_of(order[i]), .site = i + 1 };
	}
}

/* The events of this test touch what is called like their place. */
static void assert_places(const struct observations *run, const struct atlas *atlas)
{
	for (size_t i = 0; i < run->nevents; i++) {
		const struct site *site = atlas_number(atlas, run->events[i].site);
		struct code_place place = { .address = run->events[i].address, .kind = SITE_WRITE };

		assert_non_null(site);
		assert_true(site->id == code_place_id("program", &place, ""));
	}
}

static void numbers_alike(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct observations one, other;
		struct atlas atlas = { 0 }, second = { 0 };

		srand(round);
		make_run(1 + (uint32_t)rand() % PLACES, &one);
		make_run(1 + (uint32_t)rand() % PLACES, &other);
		atlas_read(&atlas, &one);
		atlas_read(&second, &other);
		assert_places(&other, &second);
		atlas_number_alike(&atlas, &other, &second);
		assert_places(&one, &atlas);
		assert_places(&other, &atlas);
		assert_places(&other, &second);
		atlas_free(&atlas);
		atlas_free(&second);
		observations_free(&one);
		observations_free(&other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_alike) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
