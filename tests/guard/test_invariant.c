/* AI's analyses against naive twins on random traces: who shares memory with whom, sets
 * computed anew for some of the accesses, and the detectors of the same family. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/invariant/annotations.h"
#include "analysis/invariant/detectors.h"

#define PLACES 8u
#define EVENTS 60u
#define BYTES 12u

static uint64_t state = 88172645463325252u;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

/* A world of eight sites; those up to 4 write. */
static char *variables[PLACES] = { "a", "b", "c", "d", "e", "f", "g", "h" };
static struct site sites[PLACES];
static const struct site *numbered[PLACES];
static struct run_unit unit = { .hash = 1, .first = 0, .nsites = PLACES, .path = "" };
static struct event events[EVENTS];
static size_t nevents = EVENTS;
static struct block blocks[2];

static struct observations random_trace(void)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		uint32_t site = below(PLACES);

		events[i] = (struct event){ .address = 1000 + below(BYTES - 3),
					    .size = 1 + below(4),
					    .site = site,
					    .thread = below(3),
					    .write = site < 4 };
	}
	blocks[0] = (struct block){
		.address = 1000, .size = BYTES / 2, .site = SITE_NIL, .before = below(EVENTS)
	};
	return (struct observations){ .units = &unit,
				      .nunits = 1,
				      .events = events,
				      .nevents = nevents,
				      .blocks = blocks,
				      .nblocks = 1 };
}

static struct atlas world(void)
{
	for (unsigned i = 0; i < PLACES; i++) {
		sites[i] = (struct site){ .kind = i < 4 ? SITE_WRITE : SITE_READ,
					  .line = i + 1,
					  .file = "w.c",
					  .function = "f",
					  .variable = variables[i] };
		numbered[i] = &sites[i];
	}
	return (struct atlas){ .numbered = numbered, .nnumbered = PLACES };
}

/* Is byte b of event i in the same life as at event k, i < k? */
static bool same_life(size_t i, size_t k, uint64_t byte)
{
	size_t cut = blocks[0].before;
	bool in_block = byte >= blocks[0].address && byte < blocks[0].address + blocks[0].size;

	return !in_block || !(i < cut && cut <= k);
}

static bool touches(const struct event *event, uint64_t byte)
{
	return byte >= event->address && byte < event->address + event->size;
}

static void test_sharing(void **unused)
{
	(void)unused;
	for (unsigned round = 0; round < 300; round++) {
		struct atlas atlas = world();
		struct observations traced = random_trace();
		struct training training;
		bool shared[PLACES] = { 0 };

		/* Few events, or everything is shared. */
		traced.nevents = 1 + below(20);
		training_start(&training);
		training_trace(&training, &traced, &atlas);
		for (size_t i = 0; i < traced.nevents; i++)
			for (size_t k = 0; k < traced.nevents; k++)
				for (uint64_t byte = 1000; byte < 1000 + BYTES; byte++) {
					size_t low = i < k ? i : k, high = i < k ? k : i;

					if (touches(&events[i], byte) && touches(&events[k], byte) &&
					    same_life(low, high, byte)) {
						shared[events[i].site] |=
							events[i].thread != events[k].thread;
						assert_int_equal(
							training_group(&training, events[i].site + 1),
							training_group(&training, events[k].site + 1));
					}
				}
		for (uint32_t place = 1; place <= PLACES; place++)
			assert_int_equal(training.shared.items[place], shared[place - 1]);
		training_free(&training);
	}
}

/* The remote predecessor by its definition: the last access by another thread among the chosen. */
static void test_recomputed(void **unused)
{
	(void)unused;
	for (unsigned round = 0; round < 200; round++) {
		struct atlas atlas = world();
		struct observations traced = random_trace();
		bool chosen[PLACES + 1] = { 0 }, allowed[PLACES + 1][PLACES + 1] = { 0 };
		struct training training;
		struct recomputed recomputed;

		training_start(&training);
		training_trace(&training, &traced, &atlas);
		for (uint32_t i = 1; i <= PLACES; i++)
			chosen[i] = below(2);
		recomputed_start(&recomputed, &training);
		recomputed_add(&recomputed, &training, chosen, &traced, &atlas);
		for (size_t k = 0; k < nevents; k++)
			for (uint64_t byte = 1000; byte < 1000 + BYTES; byte++) {
				uint32_t before = GUARD_NIL;

				if (!touches(&events[k], byte) || !chosen[events[k].site + 1])
					continue;
				for (size_t i = 0; i < k; i++)
					if (touches(&events[i], byte) && same_life(i, k, byte) &&
					    chosen[events[i].site + 1] &&
					    events[i].thread != events[k].thread)
						before = events[i].site + 1;
				allowed[events[k].site + 1][before] = true;
			}
		for (uint32_t place = 1; place <= PLACES; place++)
			for (uint32_t before = 0; before <= PLACES; before++)
				assert_int_equal(guard_set_allows(&recomputed.set, place, before),
						 allowed[place][before]);
		recomputed_free(&recomputed);
		training_free(&training);
	}
}

/* ---- detectors ---- */

/* What a detector says of event k at a byte, by looking back over the whole trace; false: nothing. */
static bool naive(enum detector detector, size_t k, uint64_t byte, uint32_t *other, uint32_t *value)
{
	const struct event *now = &events[k], *last = NULL, *remote = NULL, *writer = NULL, *own = NULL;
	bool read_since = false, written_since = false;

	for (size_t i = 0; i < k; i++) {
		if (!touches(&events[i], byte) || !same_life(i, k, byte))
			continue;
		last = &events[i];
		if (events[i].thread != now->thread)
			remote = last;
		if (events[i].write)
			writer = last;
		if (events[i].thread == now->thread) {
			own = last;
			read_since = written_since = false;
		} else {
			read_since |= !events[i].write;
			written_since |= events[i].write;
		}
	}
	*other = 0;
	switch (detector) {
	case DETECTOR_AI:
		*other = remote ? remote->site + 1 : 0;
		*value = 1;
		return true;
	case DETECTOR_AVIO: {
		if (!own)
			return false;
		bool rwr = !own->write && written_since && !now->write,
		     wwr = own->write && written_since && !now->write,
		     rww = !own->write && written_since && now->write,
		     wrw = own->write && read_since && now->write;

		*other = own->site + 1;
		*value = rwr || wwr || rww || wrw;
		return true;
	}
	case DETECTOR_DUI_LOCAL:
		*value = writer && writer->thread == now->thread;
		return writer && !now->write;
	case DETECTOR_DUI_FOLLOWER:
		*value = written_since;
		return own && !own->write && !now->write;
	case DETECTOR_DUI_SET:
		*other = writer ? writer->site + 1 : 0;
		*value = 1;
		return !now->write;
	case DETECTOR_CCI_PREVIOUS:
		*value = last && last->thread == now->thread;
		return last != NULL;
	case DETECTOR_CCI_CHANGED:
		*value = written_since;
		return own != NULL;
	default:
		*value = last && last->thread != now->thread && (last->write || now->write);
		*other = *value ? last->site + 1 : 0;
		return true;
	}
}

/* said[detector][place][other + 1][value]; index 0 of `other` is whether the place was in the situation at all. */
static bool said[DETECTORS][PLACES + 1][PLACES + 2][2];
static bool situation[DETECTORS][PLACES + 1][PLACES + 1];

static void naive_train(void)
{
	for (size_t k = 0; k < nevents; k++)
		for (uint64_t byte = events[k].address; byte < events[k].address + events[k].size; byte++)
			for (enum detector d = 0; d < DETECTORS; d++) {
				uint32_t other, value, place = events[k].site + 1;

				if (!naive(d, k, byte, &other, &value))
					continue;
				said[d][place][other][value] = true;
				situation[d][place][d == DETECTOR_AVIO ? other : 0] = true;
			}
}

static void naive_check(bool violated[DETECTORS][PLACES + 1])
{
	for (size_t k = 0; k < nevents; k++)
		for (uint64_t byte = events[k].address; byte < events[k].address + events[k].size; byte++)
			for (enum detector d = 0; d < DETECTORS; d++) {
				uint32_t other, value, place = events[k].site + 1;

				if (naive(d, k, byte, &other, &value) && !said[d][place][other][value] &&
				    situation[d][place][d == DETECTOR_AVIO ? other : 0])
					violated[d][place] = true;
			}
}

static void test_detectors(void **unused)
{
	(void)unused;
	uint32_t places[PLACES];
	unsigned found[DETECTORS] = { 0 };

	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = i + 1;
	for (unsigned round = 0; round < 600; round++) {
		nevents = 5 + below(EVENTS - 5);
		struct detectors detectors = { 0 };
		struct detector_violations violations = { 0 };
		bool naively[DETECTORS][PLACES + 1] = { 0 }, really[DETECTORS][PLACES + 1] = { 0 };

		memset(said, 0, sizeof said);
		memset(situation, 0, sizeof situation);
		for (unsigned i = 0; i < 3; i++) {
			struct observations traced = random_trace();

			detectors_train(&detectors, &traced, places);
			naive_train();
		}
		struct observations traced = random_trace();

		detectors_check(&detectors, &traced, places, &violations);
		naive_check(naively);
		for (size_t i = 0; i < violations.list.n; i++) {
			really[violations.list.items[i].detector][violations.list.items[i].place] = true;
			found[violations.list.items[i].detector]++;
		}
		assert_memory_equal(naively, really, sizeof really);
		VEC_FREE(&violations.list);
		detectors_free(&detectors);
	}
	nevents = EVENTS;
	for (enum detector d = 0; d < DETECTORS; d++)
		assert_true(found[d] > 0);
}

/* ---- whose turn it was ---- */

/* Did this event's thread touch the byte last, or before another thread did? */
static void come_back(size_t k, uint64_t byte, bool *again, bool *returned)
{
	bool own_last = false, first = true;

	for (size_t i = k; i-- > 0 && same_life(i, k, byte);) {
		if (!touches(&events[i], byte))
			continue;
		bool own = events[i].thread == events[k].thread;

		own_last |= first && own;
		*returned |= own && !own_last;
		first = false;
	}
	*again |= own_last;
}

static void test_again(void **unused)
{
	(void)unused;
	for (unsigned round = 0; round < 300; round++) {
		struct atlas atlas = world();
		struct training training;

		nevents = 1 + below(40);
		const struct observations traced = random_trace();
		bool expected[PLACES] = { false }, returned[PLACES] = { false };

		training_start(&training);
		training_trace(&training, &traced, &atlas);
		_cleanup_free_ uint32_t *places = training_places_of(&training, &traced, &atlas);

		for (size_t k = 0; k < nevents; k++)
			for (uint64_t byte = events[k].address; byte < events[k].address + events[k].size;
			     byte++)
				come_back(k, byte, &expected[events[k].site], &returned[events[k].site]);
		for (unsigned i = 0; i < PLACES; i++) {
			assert_int_equal(guard_set_site(&training.places, places[i])->again, expected[i]);
			assert_int_equal(guard_set_site(&training.places, places[i])->returns, returned[i]);
		}
		training_free(&training);
	}
	nevents = EVENTS;
}

/* ---- kinds of memory ---- */

static void test_memory(void **unused)
{
	(void)unused;
	const uint64_t far = 1ull << 24, apart = 2000;
	struct event some[] = { { .address = 1000, .size = 4, .site = 0, .write = true },
				{ .address = 1000, .size = 4, .site = 1, .write = true },
				{ .address = 1008, .size = 4, .site = 2, .write = true },
				{ .address = apart, .size = 4, .site = 3, .write = true },
				{ .address = far + 99, .size = 4, .site = 4 },
				{ .address = far + 99, .size = 4, .site = 5 } };
	struct block begun[] = {
		{ .address = 1000, .size = 8, .site = SITE_NIL, .stack = true, .before = 1 },
		{ .address = apart, .size = 16, .site = 7, .before = 2 },
		{ .address = far, .size = 1 << 20, .site = SITE_NIL, .stack = true, .before = 4 },
		{ .address = far, .size = 1 << 20, .site = 7, .before = 5 }
	};
	const uint8_t expected[] = { GUARD_MEMORY_LASTING, GUARD_MEMORY_STACK, GUARD_MEMORY_LASTING,
				     GUARD_MEMORY_HEAP,    GUARD_MEMORY_STACK, GUARD_MEMORY_HEAP };
	struct atlas atlas = world();
	struct training training;
	struct observations traced = {
		.units = &unit, .nunits = 1, .events = some, .nevents = 6, .blocks = begun, .nblocks = 4
	};

	training_start(&training);
	training_trace(&training, &traced, &atlas);
	_cleanup_free_ uint32_t *places = training_places_of(&training, &traced, &atlas);

	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(guard_set_site(&training.places, places[i])->memory, expected[i]);
	training_free(&training);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sharing),   cmocka_unit_test(test_recomputed),
		cmocka_unit_test(test_detectors), cmocka_unit_test(test_again),
		cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
