/* What was to come. A thread read a place in the failing run that another thread had
 * written by then in passing runs, but not here: the read came too early. The write may
 * never have been done here, since the run ended; it is known from the passing run.
 */
#include "diagnose/locations.h"
#include "diagnose/proposals.h"

/* By site, the last write of another thread that the thread's first read there came behind: event + 1. */
static void read_passing(const struct observations *run, struct map *awaited)
{
	struct map writers = { 0 }; /* granule to the last write + 1 */

	for (size_t i = 0; i < run->nevents; i++) {
		const struct event *event = &run->events[i];

		if (event->write) {
			*map_put(&writers, event->address >> 3, NULL) = i + 1;
			continue;
		}
		const uint64_t *write = map_get(&writers, event->address >> 3);
		bool fresh;
		uint64_t *place = map_put(awaited, (uint64_t)event->site << 32 | event->thread, &fresh);

		if (fresh && write && run->events[*write - 1].thread != event->thread &&
		    locations_conflict(&run->events[*write - 1], event))
			*place = *write;
	}
	map_free(&writers);
}

/* The thread did here what in the passing run only came after its write: it took another way round the write, and
 * what was not to come at all did not come too late. */
static bool is_past(const struct observations *run, const struct observations *passed, size_t write)
{
	uint32_t thread = passed->events[write].thread;
	struct map before = { 0 }, after = { 0 };
	bool past = false;

	for (size_t i = 0; i < passed->nevents; i++)
		if (passed->events[i].thread == thread &&
		    (i <= write || !map_get(&before, passed->events[i].site)))
			map_put(i <= write ? &before : &after, passed->events[i].site, NULL);
	for (size_t i = 0; i < run->nevents && !past; i++)
		past = run->events[i].thread == thread && map_get(&after, run->events[i].site);
	map_free(&before);
	map_free(&after);
	return past;
}

static void propose(const struct evidence *evidence, size_t read, const struct observations *passed,
		    size_t write, struct proposals *list)
{
	const struct event *event = &passed->events[write];
	struct claim_parts parts = { .items = { claim_part_of(evidence->run, evidence->atlas, read),
						{ .site = atlas_number(evidence->atlas, event->site),
						  .thread = event->thread,
						  .write = true,
						  .missing = true,
						  .at = CLAIM_NOT_TRACED } },
				     .n = 2 };

	/* One place in memory in both runs, though perhaps at another address. */
	parts.items[1].address = parts.items[0].address;
	parts.items[1].size = parts.items[0].size;
	for (size_t i = read + 1; i < evidence->run->nevents && parts.items[1].missing; i++)
		if (evidence->run->events[i].site == event->site &&
		    evidence->run->events[i].thread == event->thread) {
			parts.items[1].at = i;
			parts.items[1].missing = false;
		}
	if (parts.items[1].missing && is_past(evidence->run, passed, write))
		return;
	proposals_add(list, evidence, CLAIM_ORDER, &parts);
	proposals_add(list, evidence, CLAIM_ORDER_EACH, &parts);
}

static void compare(const struct evidence *evidence, const struct observations *passed,
		    struct proposals *list)
{
	const struct observations *run = evidence->run;
	struct map awaited = { 0 }, seen = { 0 }, done = { 0 }; /* done: sites and threads of writes so far */

	read_passing(passed, &awaited);
	for (size_t i = 0; i < run->nevents; i++) {
		const struct event *event = &run->events[i];
		uint64_t key = (uint64_t)event->site << 32 | event->thread;
		const uint64_t *write = event->write ? NULL : map_get(&awaited, key);
		bool fresh;

		if (event->write)
			map_put(&done, key, NULL);
		if (!write || !*write)
			continue;
		const struct event *late = &passed->events[*write - 1];

		map_put(&seen, key, &fresh);
		if (fresh && !map_get(&done, (uint64_t)late->site << 32 | late->thread))
			propose(evidence, i, passed, *write - 1, list);
	}
	map_free(&awaited);
	map_free(&seen);
	map_free(&done);
}

void propose_awaited(const struct evidence *evidence, struct proposals *list)
{
	for (size_t i = 0; i < evidence->npassed; i++)
		if (evidence->passed[i].story.traced)
			compare(evidence, evidence->passed[i].story.traced, list);
}
