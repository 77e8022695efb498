/* Guard sets: their text, hostile text, parts of a set, ranks of places and the search for
 * a set's sites in another build, each against a naive twin on random data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/guard_set.h"

static uint64_t state = 88172645463325252u;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

static const char *const files[] = { "a.c", "src/a.c", "b b.c" }, *const functions[] = { "f", "g\\h" },
			 *const variables[] = { "", "x", "-" };

static struct site random_site(void)
{
	return (struct site){ .kind = (enum site_kind)(SITE_READ + below(4)),
			      .size = 1u << below(5),
			      .line = 1 + below(9),
			      .column = 1 + below(3),
			      .file = files[below(3)],
			      .function = functions[below(2)],
			      .variable = variables[below(3)],
			      .through = below(4) ? NULL : "std::map::find at stl_map.h:1:2" };
}

static void random_set(struct guard_set *set, unsigned sites)
{
	*set = (struct guard_set){ .runs = below(100), .converged = below(2), .limit_ms = below(1000) };
	for (unsigned i = 0; i < sites; i++) {
		struct site site = random_site();
		const struct place_rank rank = { 1 + below(3), 3 };

		if (!place_is_access(&site))
			site.kind = SITE_UPDATE;
		uint32_t number = guard_set_add(set, &site, rank);

		guard_set_site(set, number)->any = !below(5);
		guard_set_site(set, number)->turn = !below(3);
		guard_set_site(set, number)->count = below(1000);
		guard_set_site(set, number)->memory = (uint8_t)below(8);
	}
	for (unsigned i = 0; sites && i < 3 * sites; i++)
		guard_set_allow(set, 1 + below(sites), below(sites + 1));
	for (unsigned i = 0; sites && i < sites; i++)
		guard_set_doubt(set, 1 + below(sites), below(sites + 1));
	for (unsigned i = 0; sites && i < below(4); i++) {
		struct guard_rule *rule = VEC_PUSH(&set->rules);

		*rule = (struct guard_rule){ .kind = below(2) ? GUARD_ORDER : GUARD_ATOMIC,
					     .first = 1 + below(sites),
					     .second = 1 + below(sites) };
		for (unsigned k = rule->kind == GUARD_ATOMIC ? below(3) : 0; k; k--)
			*VEC_PUSH(&rule->others) = 1 + below(sites);
	}
}

static char *text_of(const struct guard_set *set, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	guard_set_write(out, set);
	fclose(out);
	return text;
}

static void test_text(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 200; i++) {
		struct guard_set set, again;
		size_t size, other;

		random_set(&set, below(12));
		char *text = text_of(&set, &size);

		assert_null(guard_set_parse(text, size, "test", &again));
		char *second = text_of(&again, &other);

		assert_string_equal(text, second);
		assert_true(guard_set_hash(&set) == guard_set_hash(&again));
		free(text);
		free(second);
		guard_set_free(&set);
		guard_set_free(&again);
	}
}

/* Cut off anywhere or changed anywhere: an error or a set, never anything else. */
static void test_hostile(void **unused)
{
	(void)unused;
	unsigned refused = 0;

	for (unsigned i = 0; i < 3000; i++) {
		struct guard_set set, again = { 0 };
		size_t size;

		random_set(&set, 1 + below(5));
		char *text = text_of(&set, &size);
		bool cut = below(2);

		if (cut)
			size = below((unsigned)size - 4);
		else
			for (unsigned k = 0; k < 1 + below(4); k++)
				text[below((unsigned)size)] = (char)below(256);
		struct error *error = guard_set_parse(text, size, "test", &again);

		if (cut)
			assert_non_null(error);
		refused += error != NULL;
		error_free(error);
		guard_set_free(&again);
		guard_set_free(&set);
		free(text);
	}
	assert_true(refused > 1000);
}

static void test_limits(void **unused)
{
	(void)unused;
	static const char *const bad[] = {
		"unsnarl guard set 2\n",
		"unsnarl guard set 1\nruns 1 converged\nlimit 10\nsites 99999999\nend\n",
		"unsnarl guard set 1\nruns 1 converged\nlimit 99999999\nsites 0\nend\n",
		"unsnarl guard set 1\nruns 1 converged\nlimit 1\nsites 0\n",
		"unsnarl schedule 1\n",
		"",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct guard_set set;
		struct error *error = guard_set_parse(bad[i], strlen(bad[i]), "test", &set);

		assert_non_null(error);
		error_free(error);
	}
}

static bool doubts(const struct guard_set *set, uint32_t number, uint32_t before)
{
	const struct guard_site *site = guard_set_site(set, number);

	for (size_t i = 0; i < site->doubted.n; i++)
		if (site->doubted.items[i] == before)
			return true;
	return false;
}

/* What may come is not in doubt, whatever was said first; doubts stand in rising order, each once. */
static void test_doubts(void **unused)
{
	(void)unused;
	struct guard_set set;

	random_set(&set, 9);
	for (unsigned i = 0; i < 2000; i++) {
		uint32_t number = 1 + below(9), before = below(10);

		if (below(2))
			guard_set_allow(&set, number, before);
		else
			guard_set_doubt(&set, number, before);
		const struct guard_site *site = guard_set_site(&set, number);

		assert_true(guard_set_allows(&set, number, before) != doubts(&set, number, before));
		for (size_t k = 1; k < site->doubted.n; k++)
			assert_true(site->doubted.items[k - 1] < site->doubted.items[k]);
	}
	guard_set_free(&set);
}

/* Sites that are kept allow and doubt each other as before; nothing else is left. */
/* Groups in which nothing can violate, by trying every pair. */
static void test_idle(void **unused)
{
	(void)unused;
	unsigned idle = 0;

	for (unsigned i = 0; i < 3000; i++) {
		struct guard_set set;
		unsigned n = 1 + below(4);

		random_set(&set, n);
		for (uint32_t number = 1; number <= n; number++) {
			struct guard_site *site = guard_set_site(&set, number);

			site->group = below(3);
			site->own = below(4) == 0 && guard_set_allows(&set, number, GUARD_NIL);
			for (uint32_t before = 0; before <= n && below(3); before++)
				guard_set_allow(&set, number, before);
		}
		guard_set_find_idle(&set);
		for (uint32_t number = 1; number <= n; number++) {
			uint32_t group = guard_set_site(&set, number)->group;
			bool whole = group != 0;

			for (uint32_t a = 1; a <= n; a++) {
				const struct guard_site *site = guard_set_site(&set, a);

				if (site->group != group)
					continue;
				whole &= site->any ||
					 (!site->own && !site->turn && guard_set_allows(&set, a, GUARD_NIL));
				for (uint32_t b = 1; b <= n; b++) {
					bool meets = guard_set_site(&set, b)->group == group;
					bool named = false;

					for (size_t k = 0; k < site->before.n; k++)
						named |= site->before.items[k] == b;
					whole &= meets ? guard_set_allows(&set, a, b) : !named;
				}
			}
			assert_int_equal(guard_set_site(&set, number)->idle, whole);
			idle += whole;
		}
		guard_set_free(&set);
	}
	assert_true(idle > 20);
}

static void test_memory(void **unused)
{
	(void)unused;
	static const char head[] = "unsnarl guard set 2\nruns 1 converged\nlimit 10\nsites 1\n"
				   "site 1 0x1 read a.c 1:1 f x - 1/1 size 4 grain 4 group 1 count 1";
	static const struct {
		const char *rest;
		bool good, heap, stack;
	} cases[] = { { "", true, true, true }, /* no trace has told */
		      { " in lasting", true, false, false },
		      { " in heap", true, true, false },
		      { " in heap+stack", true, true, true },
		      { " in", false, false, false },
		      { " in air", false, false, false },
		      { " in heap+", false, false, false },
		      { " on heap", false, false, false },
		      { " in heap stack", false, false, false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];
		struct guard_set set;
		int size = snprintf(text, sizeof text, "%s%s\n  after 1\nend\n", head, cases[i].rest);
		struct error *error = guard_set_parse(text, (size_t)size, "set", &set);

		assert_int_equal(!error, cases[i].good);
		error_free(error);
		if (!cases[i].good)
			continue;
		assert_int_equal(guard_set_touches(&set, GUARD_MEMORY_HEAP), cases[i].heap);
		assert_int_equal(guard_set_touches(&set, GUARD_MEMORY_STACK), cases[i].stack);
		guard_set_free(&set);
	}
}

static void test_choose(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 300; i++) {
		struct guard_set set, part;
		bool keep[16] = { 0 };
		uint32_t fresh[16] = { 0 }, next = 0;

		random_set(&set, 1 + below(12));
		for (uint32_t n = 1; n <= set.sites.n; n++) {
			keep[n] = below(2);
			fresh[n] = keep[n] ? ++next : 0;
		}
		guard_set_choose(&set, keep, &part);
		assert_int_equal(part.sites.n, next);
		for (uint32_t n = 1; n <= set.sites.n; n++)
			for (uint32_t b = 0; keep[n] && b <= set.sites.n; b++)
				if (b == 0 || keep[b]) {
					assert_int_equal(guard_set_allows(&set, n, b),
							 guard_set_allows(&part, fresh[n], fresh[b]));
					assert_int_equal(doubts(&set, n, b),
							 doubts(&part, fresh[n], fresh[b]));
				}
		guard_set_free(&set);
		guard_set_free(&part);
	}
}

/* The rank of a place counted out: distinct positions of those alike that are not behind it. */
static void test_ranks(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 300; i++) {
		struct site sites[40];
		struct place_rank ranks[40];
		unsigned n = below(40);

		for (unsigned k = 0; k < n; k++)
			sites[k] = random_site();
		place_ranks(sites, n, ranks);
		for (unsigned k = 0; k < n; k++) {
			bool seen[10][4] = { 0 };
			unsigned of = 0, which = 0;

			for (unsigned m = 0; m < n; m++)
				if (place_alike(&sites[k], &sites[m]) &&
				    !seen[sites[m].line][sites[m].column]) {
					seen[sites[m].line][sites[m].column] = true;
					of++;
					which += sites[m].line < sites[k].line ||
						 (sites[m].line == sites[k].line &&
						  sites[m].column <= sites[k].column);
				}
			bool access = place_is_access(&sites[k]);

			assert_int_equal(ranks[k].of, access ? of : 0);
			assert_int_equal(ranks[k].which, access ? which : 0);
		}
	}
}

/* What an edit elsewhere does: lines move, other accesses come and go; the sites are found again. */
static void test_match_after_edit(void **unused)
{
	(void)unused;
	const struct site before[] = {
		{ .kind = SITE_READ,
		  .line = 10,
		  .column = 3,
		  .file = "/old/a.c",
		  .function = "f",
		  .variable = "x" },
		{ .kind = SITE_WRITE,
		  .line = 11,
		  .column = 3,
		  .file = "/old/a.c",
		  .function = "f",
		  .variable = "x" },
		{ .kind = SITE_READ,
		  .line = 12,
		  .column = 3,
		  .file = "/old/a.c",
		  .function = "f",
		  .variable = "x" },
	};
	const struct site after[] = {
		{ .kind = SITE_READ,
		  .line = 17,
		  .column = 9,
		  .file = "a.c",
		  .function = "f",
		  .variable = "y" },
		{ .kind = SITE_READ,
		  .line = 20,
		  .column = 5,
		  .file = "a.c",
		  .function = "f",
		  .variable = "x" },
		{ .kind = SITE_READ,
		  .line = 20,
		  .column = 5,
		  .file = "a.c",
		  .function = "f",
		  .variable = "x" },
		{ .kind = SITE_WRITE,
		  .line = 21,
		  .column = 5,
		  .file = "a.c",
		  .function = "f",
		  .variable = "x" },
		{ .kind = SITE_READ,
		  .line = 22,
		  .column = 5,
		  .file = "a.c",
		  .function = "f",
		  .variable = "x" },
		{ .kind = SITE_WRITE,
		  .line = 21,
		  .column = 5,
		  .file = "a.c",
		  .function = "g",
		  .variable = "x" },
	};
	const uint32_t expected[] = { 0, 1, 1, 2, 3, 0 };
	struct place_rank ranks[3];
	struct guard_set set = { 0 };
	uint32_t which[6];

	place_ranks(before, 3, ranks);
	for (unsigned i = 0; i < 3; i++)
		guard_set_add(&set, &before[i], ranks[i]);
	guard_set_match(&set, after, 6, which);
	assert_memory_equal(which, expected, sizeof expected);
	/* One read of x is gone: which one is not known, unless it stands where it stood. */
	guard_set_match(&set, after + 4, 1, which);
	assert_int_equal(which[0], 0);
	guard_set_match(&set, before + 2, 1, which);
	assert_int_equal(which[0], 3);
	guard_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_match_after_edit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
