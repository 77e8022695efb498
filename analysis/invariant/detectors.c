/* One walk over a trace; the state of each location is what all detectors need. */
#include "analysis/invariant/detectors.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 64u  /* that are told apart at a location; more are left out */
#define LONGEST 256u /* bytes of one access */
#define NOBODY UINT32_MAX

const char *detector_name(enum detector detector)
{
	static const char *const names[DETECTORS] = {
		[DETECTOR_AI] = "AI",
		[DETECTOR_AVIO] = "AVIO",
		[DETECTOR_DUI_LOCAL] = "DUI local/remote",
		[DETECTOR_DUI_FOLLOWER] = "DUI follower",
		[DETECTOR_DUI_SET] = "DUI definition set",
		[DETECTOR_CCI_PREVIOUS] = "CCI previous",
		[DETECTOR_CCI_CHANGED] = "CCI changed",
		[DETECTOR_PSET] = "PSet",
	};
	return names[detector];
}

/* What one thread did last at a location, and what others have done since. */
struct visitor {
	uint32_t thread, place;
	bool write;                 /* what it did */
	bool was_read, was_written; /* by others, since */
};

struct location {
	uint32_t last, last_thread; /* the last access; NOBODY */
	bool last_write;
	uint32_t other; /* place of the last access by another thread than last_thread; 0 none */
	uint32_t writer, writer_thread; /* of the last write; NOBODY */
	struct visitor *visitors;
	size_t nvisitors;
};

struct walk {
	struct detectors *detectors;
	struct detector_violations *out; /* NULL: training */
	struct map at;                   /* byte to location */
	VEC(struct location) locations;
	struct map told; /* violations that were told: detector and place */
	size_t event;
};

/* ---- statements ---- */

static uint64_t key_of(enum detector detector, uint32_t place, uint32_t other, uint32_t value)
{
	uint32_t words[] = { (uint32_t)detector, place, other, value };

	return hash_bytes(HASH_START, words, sizeof words);
}

/* "At this place": `known` says that passing runs have been in the situation at all. */
static void say(struct walk *walk, enum detector detector, uint32_t place, uint32_t other, uint32_t value)
{
	uint64_t statement = key_of(detector, place, other, value);
	/* AVIO's invariants are of two accesses; the others' of one. */
	uint64_t situation = key_of(detector, place, detector == DETECTOR_AVIO ? other : 0, NOBODY);
	bool fresh;

	if (!walk->out) {
		map_put(&walk->detectors->said, statement, NULL);
		map_put(&walk->detectors->said, situation, NULL);
		return;
	}
	if (map_get(&walk->detectors->said, statement) || !map_get(&walk->detectors->said, situation))
		return;
	map_put(&walk->told, key_of(detector, place, 0, 0), &fresh);
	if (fresh)
		*VEC_PUSH(&walk->out->list) = (struct detector_violation){
			.detector = detector, .event = walk->event, .place = place, .before = other
		};
}

/* Can `between` of another thread not be moved before or behind both? (AVIO, its four cases.) */
static bool is_unserialisable(bool first_write, bool was_read, bool was_written, bool second_write)
{
	if (was_written && !(first_write && second_write))
		return true;                            /* R-W-R, W-W-R, R-W-W */
	return was_read && first_write && second_write; /* W-R-W */
}

static void say_visitor(struct walk *walk, const struct location *location, const struct visitor *visitor,
			uint32_t place, bool write)
{
	bool broken = is_unserialisable(visitor->write, visitor->was_read, visitor->was_written, write);

	say(walk, DETECTOR_AVIO, place, visitor->place, broken);
	say(walk, DETECTOR_CCI_CHANGED, place, 0, visitor->was_written);
	if (!write && !visitor->write)
		say(walk, DETECTOR_DUI_FOLLOWER, place, 0, visitor->was_written);
	(void)location;
}

static void say_all(struct walk *walk, const struct location *location, const struct visitor *visitor,
		    uint32_t place, uint32_t thread, bool write)
{
	bool local = location->last_thread == thread;
	uint32_t remote = location->last == NOBODY ? 0 : local ? location->other : location->last;

	say(walk, DETECTOR_AI, place, remote, 1);
	if (visitor)
		say_visitor(walk, location, visitor, place, write);
	if (location->last != NOBODY)
		say(walk, DETECTOR_CCI_PREVIOUS, place, 0, local);
	if (!write && location->writer != NOBODY)
		say(walk, DETECTOR_DUI_LOCAL, place, 0, location->writer_thread == thread);
	if (!write)
		say(walk, DETECTOR_DUI_SET, place, location->writer == NOBODY ? 0 : location->writer, 1);
	bool depends = location->last != NOBODY && !local && (write || location->last_write);

	say(walk, DETECTOR_PSET, place, depends ? location->last : 0, depends);
}

/* ---- locations ---- */

static struct location *location_of(struct walk *walk, uint64_t byte)
{
	bool fresh;
	uint64_t *at = map_put(&walk->at, byte, &fresh);

	if (fresh) {
		*at = walk->locations.n;
		*VEC_PUSH(&walk->locations) = (struct location){
			.last = NOBODY, .last_thread = NOBODY, .writer = NOBODY, .writer_thread = NOBODY
		};
	}
	return &walk->locations.items[*at];
}

static struct visitor *visitor_of(struct location *location, uint32_t thread)
{
	for (size_t i = 0; i < location->nvisitors; i++)
		if (location->visitors[i].thread == thread)
			return &location->visitors[i];
	return NULL;
}

static void note(struct location *location, uint32_t place, uint32_t thread, bool write)
{
	struct visitor *visitor = visitor_of(location, thread);

	if (location->last != NOBODY && location->last_thread != thread)
		location->other = location->last;
	location->last = place;
	location->last_thread = thread;
	location->last_write = write;
	if (write) {
		location->writer = place;
		location->writer_thread = thread;
	}
	for (size_t i = 0; i < location->nvisitors; i++) {
		location->visitors[i].was_read |= location->visitors[i].thread != thread && !write;
		location->visitors[i].was_written |= location->visitors[i].thread != thread && write;
	}
	if (!visitor && location->nvisitors < THREADS) {
		location->visitors = memory_resize(location->visitors,
						   (location->nvisitors + 1) * sizeof *location->visitors);
		visitor = &location->visitors[location->nvisitors++];
	}
	if (visitor)
		*visitor = (struct visitor){ .thread = thread, .place = place, .write = write };
}

static void touch(struct walk *walk, const struct event *event, uint32_t place)
{
	uint64_t size = event->size < LONGEST ? event->size : LONGEST;

	for (uint64_t i = 0; i < size; i++) {
		struct location *location = location_of(walk, event->address + i);

		say_all(walk, location, visitor_of(location, event->thread), place, event->thread,
			event->write);
		note(location, place, event->thread, event->write);
	}
}

static void forget_at(struct walk *walk, size_t place)
{
	struct location *location = &walk->locations.items[place];

	free(location->visitors);
	*location = (struct location){
		.last = NOBODY, .last_thread = NOBODY, .writer = NOBODY, .writer_thread = NOBODY
	};
}

/* The bytes one by one, or all that is on record when that is less. */
static void forget(struct walk *walk, uint64_t address, uint64_t size)
{
	for (size_t i = 0; size > walk->at.room && i < walk->at.room; i++)
		if (walk->at.slots[i].used && walk->at.slots[i].key - address < size)
			forget_at(walk, walk->at.slots[i].value);
	for (uint64_t byte = address; size <= walk->at.room && byte < address + size; byte++) {
		const uint64_t *known = map_get(&walk->at, byte);

		if (known)
			forget_at(walk, *known);
	}
}

static void walk_over(struct walk *walk, const struct observations *traced, const uint32_t *places)
{
	size_t block = 0;

	for (size_t i = 0; i < traced->nevents; i++) {
		const struct event *event = &traced->events[i];

		for (; block < traced->nblocks && traced->blocks[block].before <= i; block++)
			forget(walk, traced->blocks[block].address, traced->blocks[block].size);
		walk->event = i;
		if (event->site != SITE_NIL && places[event->site])
			touch(walk, event, places[event->site]);
	}
	for (size_t i = 0; i < walk->locations.n; i++)
		free(walk->locations.items[i].visitors);
	VEC_FREE(&walk->locations);
	map_free(&walk->at);
	map_free(&walk->told);
}

void detectors_train(struct detectors *detectors, const struct observations *traced, const uint32_t *places)
{
	struct walk walk = { .detectors = detectors };

	walk_over(&walk, traced, places);
	detectors->runs++;
}

void detectors_check(struct detectors *detectors, const struct observations *traced, const uint32_t *places,
		     struct detector_violations *out)
{
	struct walk walk = { .detectors = detectors, .out = out };

	walk_over(&walk, traced, places);
}

void detectors_free(struct detectors *detectors)
{
	map_free(&detectors->said);
}
