/* Which sites of a line are meant. Machine code has several of one kind in one line and column:
 * a pointer that is read back from the stack, and what it points to. Only sites that some other
 * thread meets are what a claim is about; whoever is held at the others waits for nothing.
 */
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/memory.h"
#include "diagnose/claim_build.h"

enum seen { NOT_SEEN, ALONE, MET };

#define GRANULE(address) ((address) >> 3)
#define SEVERAL UINT64_MAX

static bool is_of_claim(const struct atlas *atlas, const unsigned char *bits, const struct event *event)
{
	return event->site < atlas->nnumbered && bits[event->site] && event->size;
}

/* Which thread the claim's sites were executed by, at each granule: its number and 1, or SEVERAL. */
static void note_threads(const struct observations *run, const struct atlas *atlas, const unsigned char *bits,
			 struct map *threads)
{
	for (size_t i = 0; i < run->nevents; i++) {
		const struct event *event = &run->events[i];

		if (!is_of_claim(atlas, bits, event))
			continue;
		for (uint64_t at = GRANULE(event->address); at <= GRANULE(event->address + event->size - 1);
		     at++) {
			uint64_t *who = map_put(threads, at, NULL);

			*who = !*who || *who == event->thread + 1 ? event->thread + UINT64_C(1) : SEVERAL;
		}
	}
}

static bool meets(const struct map *threads, const struct event *event)
{
	for (uint64_t at = GRANULE(event->address); at <= GRANULE(event->address + event->size - 1); at++) {
		const uint64_t *who = map_get(threads, at);

		if (who && *who == SEVERAL)
			return true;
	}
	return false;
}

static enum seen seen_of(const struct atlas *atlas, const unsigned char *seen, uint64_t id)
{
	enum seen most = NOT_SEEN;

	for (size_t i = 0; i < atlas->nnumbered; i++)
		if (atlas->numbered[i] && atlas->numbered[i]->id == id && seen[i] > most)
			most = seen[i];
	return most;
}

static void keep_met(const struct atlas *atlas, const unsigned char *seen, struct claim_step *step)
{
	uint64_t kept[CLAIM_SITES];
	uint32_t n = 0;
	bool met = false;

	for (uint32_t i = 0; i < step->nsites; i++) {
		enum seen how = seen_of(atlas, seen, step->sites[i]);

		met |= how == MET;
		if (how != ALONE)
			kept[n++] = step->sites[i];
	}
	if (!met)
		return;
	step->nsites = n;
	for (uint32_t i = 0; i < n; i++)
		step->sites[i] = kept[i];
}

void claim_keep_meeting(const struct observations *run, const struct atlas *atlas, struct claim *claim)
{
	_cleanup_free_ unsigned char *bits = NULL, *seen = NULL;
	struct map threads = { 0 };
	bool several = false;

	for (uint32_t i = 0; i < claim->nsteps; i++)
		several |= claim->steps[i].nsites > 1;
	/* With hooks, sites of one place are copies of one access, and all of them are meant. */
	if (!several || !run->nevents || !run->nunits || !run->units[0].is_place)
		return;
	bits = claim_site_bits(atlas, claim);
	seen = memory_alloc(atlas->nnumbered + 1);
	note_threads(run, atlas, bits, &threads);
	for (size_t i = 0; i < run->nevents; i++) {
		const struct event *event = &run->events[i];

		if (is_of_claim(atlas, bits, event) && seen[event->site] != MET)
			seen[event->site] = meets(&threads, event) ? MET : ALONE;
	}
	for (uint32_t i = 0; i < claim->nsteps; i++)
		if (claim->steps[i].nsites > 1)
			keep_met(atlas, seen, &claim->steps[i]);
	map_free(&threads);
}
