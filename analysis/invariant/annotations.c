/* What the source marks, and sets without what it leaves out. */
#include "analysis/invariant/annotations.h"

#include <stdlib.h>
#include <string.h>

static bool is_mark(const struct guard_site *site, const char *name)
{
	return strcmp(site->variable, name) == 0;
}

static bool same_function(const struct guard_site *a, const struct guard_site *b)
{
	return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* The end of a stretch that begins at `begin`: the next one in its function. */
static uint32_t end_line(const struct guard_set *places, const struct guard_site *begin)
{
	uint32_t end = UINT32_MAX;

	for (uint32_t n = 1; n <= places->sites.n; n++) {
		const struct guard_site *site = guard_set_site(places, n);

		if (is_mark(site, "unsnarl_mark_end") && same_function(site, begin) &&
		    site->line >= begin->line && site->line < end)
			end = site->line;
	}
	return end;
}

static bool is_in_stretch(const struct guard_set *places, const struct guard_site *mark,
			  const struct guard_site *site)
{
	if (!same_function(mark, site))
		return false;
	return is_mark(mark, "unsnarl_mark_function") ||
	       (is_mark(mark, "unsnarl_mark_begin") && site->line >= mark->line &&
		site->line <= end_line(places, mark));
}

size_t annotations_choose(const struct training *training, bool *chosen)
{
	const struct guard_set *places = &training->places;
	size_t n = 0;

	for (uint32_t m = 1; m <= places->sites.n; m++) {
		const struct guard_site *mark = guard_set_site(places, m);

		if (strncmp(mark->variable, "unsnarl_mark_", 13) != 0)
			continue;
		for (uint32_t i = 1; i <= places->sites.n; i++)
			chosen[i] |= is_in_stretch(places, mark, guard_set_site(places, i));
	}
	for (uint32_t i = 1; i <= places->sites.n; i++) {
		bool is_a_mark = strncmp(guard_set_site(places, i)->variable, "unsnarl_mark_", 13) == 0;

		chosen[i] =
			(chosen[i] || training->marked.items[i]) && training->shared.items[i] && !is_a_mark;
		n += chosen[i];
	}
	return n;
}

/* ---- sets anew ---- */

void recomputed_start(struct recomputed *recomputed, const struct training *training)
{
	_cleanup_free_ bool *all = memory_alloc(training->places.sites.n + 1);

	memset(all, true, training->places.sites.n + 1);
	*recomputed = (struct recomputed){ 0 };
	guard_set_choose(&training->places, all, &recomputed->set);
	for (uint32_t i = 1; i <= recomputed->set.sites.n; i++)
		guard_set_site(&recomputed->set, i)->before.n = 0;
}

void recomputed_free(struct recomputed *recomputed)
{
	guard_set_free(&recomputed->set);
}

/* The recorder of AI's Algorithm 1, for a byte. */
struct recorder {
	uint32_t last, last_thread, other; /* places plus 1; 0 nobody */
};

static uint32_t step(struct recorder *recorder, uint32_t place, uint32_t thread)
{
	if (recorder->last && recorder->last_thread != thread)
		recorder->other = recorder->last;
	recorder->last = place + 1;
	recorder->last_thread = thread;
	return recorder->other ? recorder->other - 1 : GUARD_NIL;
}

struct bytes {
	struct map at; /* address to its place in `recorders` */
	VEC(struct recorder) recorders;
};

static void forget(struct bytes *bytes, uint64_t address, uint64_t size)
{
	/* Of a block larger than all that is on record, only that is looked for. */
	if (size > bytes->at.room) {
		for (size_t i = 0; i < bytes->at.room; i++)
			if (bytes->at.slots[i].used && bytes->at.slots[i].key - address < size)
				bytes->recorders.items[bytes->at.slots[i].value] = (struct recorder){ 0 };
		return;
	}
	for (uint64_t byte = address; byte < address + size; byte++) {
		const uint64_t *known = map_get(&bytes->at, byte);

		if (known)
			bytes->recorders.items[*known] = (struct recorder){ 0 };
	}
}

#define LONGEST 512u /* bytes of one access; guarded programs look at as many words of a copy at most */

static bool take_event(struct recomputed *recomputed, struct bytes *bytes, uint32_t place,
		       const struct event *event)
{
	bool news = false;

	for (uint64_t i = 0; i < event->size && i < LONGEST; i++) {
		bool fresh;
		uint64_t *at = map_put(&bytes->at, event->address + i, &fresh);

		if (fresh) {
			*at = bytes->recorders.n;
			VEC_PUSH(&bytes->recorders);
		}
		news |= guard_set_allow(&recomputed->set, place,
					step(&bytes->recorders.items[*at], place, event->thread));
	}
	return news;
}

void recomputed_add(struct recomputed *recomputed, struct training *training, const bool *chosen,
		    const struct observations *traced, const struct atlas *atlas)
{
	_cleanup_free_ uint32_t *places = training_places_of(training, traced, atlas);
	struct bytes bytes = { 0 };
	size_t block = 0;
	bool news = false;

	for (size_t i = 0; i < traced->nevents; i++) {
		const struct event *event = &traced->events[i];

		for (; block < traced->nblocks && traced->blocks[block].before <= i; block++)
			forget(&bytes, traced->blocks[block].address, traced->blocks[block].size);
		uint32_t place = event->site == SITE_NIL ? 0 : places[event->site];

		if (place && place <= recomputed->set.sites.n && chosen[place])
			news |= take_event(recomputed, &bytes, place, event);
	}
	recomputed->runs++;
	recomputed->quiet = news ? 0 : recomputed->quiet + 1;
	map_free(&bytes.at);
	VEC_FREE(&bytes.recorders);
}
