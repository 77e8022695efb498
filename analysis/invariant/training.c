/* Belonging sets from the store: which accesses came before which in passing runs. */
#include "analysis/invariant/training.h"

#include <stdlib.h>
#include <string.h>

void training_start(struct training *training)
{
	*training = (struct training){ .places.limit_ms = GUARD_LIMIT_MS };
	*VEC_PUSH(&training->shared) = false; /* number 0 is nobody */
	*VEC_PUSH(&training->parents) = 0;
	*VEC_PUSH(&training->marked) = false;
}

void training_free(struct training *training)
{
	guard_set_free(&training->places);
	map_free(&training->by_id);
	numbers_free(&training->keys);
	VEC_FREE(&training->members);
	VEC_FREE(&training->shared);
	VEC_FREE(&training->marked);
	VEC_FREE(&training->campaigns);
	VEC_FREE(&training->runs);
	VEC_FREE(&training->of);
	VEC_FREE(&training->parents);
}

/* ---- places ---- */

uint32_t training_place(struct training *training, const struct site *site, struct place_rank rank)
{
	bool fresh;
	uint64_t *number = map_put(&training->by_id, place_id(site, rank), &fresh);

	if (fresh) {
		*number = guard_set_add(&training->places, site, rank);
		*VEC_PUSH(&training->shared) = false;
		*VEC_PUSH(&training->marked) = false;
		*VEC_PUSH(&training->parents) = (uint32_t)*number;
		return (uint32_t)*number;
	}
	/* Builds differ in lines: the last one is what people have before them. */
	struct guard_site *known = guard_set_site(&training->places, (uint32_t)*number);

	known->line = site->line;
	known->column = site->column;
	known->rank = rank;
	if (!site->size || (known->size && site->size < known->size)) {
		known->size = site->size;
		known->grain = guard_set_grain(site->size);
	}
	return (uint32_t)*number;
}

uint32_t training_group(struct training *training, uint32_t place)
{
	uint32_t *parents = training->parents.items;

	while (parents[place] != place)
		place = parents[place] = parents[parents[place]];
	return place;
}

void training_join(struct training *training, uint32_t a, uint32_t b)
{
	uint32_t root_a = training_group(training, a), root_b = training_group(training, b);

	/* The smaller number leads: few places, so ranks would not pay. */
	training->parents.items[root_a > root_b ? root_a : root_b] = root_a > root_b ? root_b : root_a;
}

/* Sites of a store to places, unit by unit. */
struct site_places {
	struct map known; /* site to place */
};

static struct error *place_of(struct training *training, struct store *store, struct site_places *places,
			      uint32_t site, uint32_t *out)
{
	const uint64_t *known = map_get(&places->known, site);

	if (!known) {
		const struct site *sites;
		uint32_t first, n;

		TRY(store_unit_sites(store, site, &first, &sites, &n));
		_cleanup_free_ struct place_rank *ranks = memory_alloc((n + 1) * sizeof *ranks);

		place_ranks(sites, n, ranks);
		for (uint32_t i = 0; i < n; i++)
			*map_put(&places->known, first + i, NULL) =
				ranks[i].of ? training_place(training, &sites[i], ranks[i]) : 0;
		known = map_get(&places->known, site);
	}
	*out = (uint32_t)*known;
	return NULL;
}

/* ---- runs ---- */

#define NO_MEMBER UINT32_MAX

static uint32_t member_of(struct training *training, uint32_t place, uint32_t before)
{
	uint32_t index = numbers_put(&training->keys, (uint64_t)place << 32 | before);

	if (index == training->members.n)
		*VEC_PUSH(&training->members) =
			(struct training_member){ .place = place, .before = before, .first = UINT32_MAX };
	return index;
}

/* The member that each of a campaign's interned predecessors stands for. */
static struct error *members_of(struct training *training, struct store *store,
				const struct interned *interned, uint32_t *out)
{
	struct site_places places = { 0 };
	struct error *error = NULL;

	for (size_t i = 0; i < interned->npredecessors && !error; i++) {
		const struct predecessor *predecessor = &interned->predecessors[i];
		uint32_t place = 0, before = GUARD_NIL;

		error = place_of(training, store, &places, predecessor->site, &place);
		if (!error && predecessor->before != SITE_NIL)
			error = place_of(training, store, &places, predecessor->before, &before);
		bool known = place && (before || predecessor->before == SITE_NIL);

		out[i] = known ? member_of(training, place, before) : NO_MEMBER;
	}
	map_free(&places.known);
	return error;
}

static void add_run(struct training *training, const roaring_bitmap_t *had, const uint32_t *members,
		    bool clocked)
{
	roaring_uint32_iterator_t *at = roaring_create_iterator(had);
	uint32_t run = (uint32_t)training->runs.n;

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		if (members[at->current_value] == NO_MEMBER)
			continue;
		struct training_member *member = &training->members.items[members[at->current_value]];

		if (member->first == UINT32_MAX)
			member->first = run;
		else if (member->last == run)
			continue; /* another site of the same place */
		member->last = run;
		member->runs++;
		member->taught++;
		member->clocked += clocked;
	}
	roaring_free_uint32_iterator(at);
}

static void add_failure(struct training *training, const roaring_bitmap_t *had, const uint32_t *members)
{
	roaring_uint32_iterator_t *at = roaring_create_iterator(had);
	uint32_t number = ++training->failures;

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		struct training_member *member =
			members[at->current_value] == NO_MEMBER
				? NULL
				: &training->members.items[members[at->current_value]];

		if (!member || member->last_failed == number)
			continue;
		member->last_failed = number;
		member->failed++;
	}
	roaring_free_uint32_iterator(at);
}

static void add_witness(struct training *training, const roaring_bitmap_t *had, const uint32_t *members,
			uint64_t run)
{
	roaring_uint32_iterator_t *at = roaring_create_iterator(had);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		struct training_member *member =
			members[at->current_value] == NO_MEMBER
				? NULL
				: &training->members.items[members[at->current_value]];

		if (!member || member->witness == run)
			continue; /* another site of the same place */
		member->witness = run;
		member->witnesses++;
	}
	roaring_free_uint32_iterator(at);
}

/* Is it sure enough that at least one free run in TRAINING_USUAL has it? The binomial distribution is taken to be
 * normal: `over` is by how much more had it, and may come of chance in one of twenty such samples (1.645 standard
 * deviations). */
static bool is_usual(uint64_t witnesses, uint64_t runs)
{
	double n = (double)runs, share = 1.0 / TRAINING_USUAL, over = (double)witnesses - n * share;

	return over >= 0 && over * over >= 1.645 * 1.645 * n * share * (1 - share);
}

/* Control brings luck about. What free runs have as often as controlled ones is not of its making, however rare. Those
 * by clocks bring nothing about. */
static bool is_natural(const struct training_member *member, const struct training_campaign *campaign)
{
	uint64_t taught = member->taught - member->clocked, used = campaign->used - campaign->clocked;

	return member->witnesses && member->witnesses * used >= taught * campaign->free;
}

/* At the end of a campaign: which of the members that it taught stand? */
static void judge(struct training *training)
{
	struct training_campaign *campaign = &training->campaigns.items[training->campaigns.n - 1];
	_cleanup_free_ bool *reached = memory_alloc(training->places.sites.n + 1);

	campaign->judged &= campaign->free >= TRAINING_QUIET;
	for (size_t i = 0; i < training->members.n; i++)
		reached[training->members.items[i].place] |= training->members.items[i].witnesses > 0;
	for (size_t i = 0; i < training->members.n; i++) {
		struct training_member *member = &training->members.items[i];

		member->stands |= member->taught && (!campaign->judged || !reached[member->place] ||
						     is_natural(member, campaign) ||
						     is_usual(member->witnesses, campaign->free));
		member->taught = member->clocked = member->witnesses = 0;
	}
}

static bool is_controlled(const struct run *run)
{
	return run->schedule.policy != SCHEDULE_FREE;
}

static struct error *take_run(struct training *training, struct store *store, const struct run *run,
			      const uint32_t *members, size_t npredecessors, bool controlled_only)
{
	uint32_t campaign = (uint32_t)training->campaigns.n - 1;
	struct training_campaign *counts = &training->campaigns.items[campaign];
	roaring_bitmap_t *had = NULL;

	counts->failed += run->label != LABEL_PASS;
	counts->judged |= controlled_only && is_controlled(run) && run->label == LABEL_FAIL;
	if (run->label != LABEL_PASS && !(run->label == LABEL_FAIL && training->use_failed))
		return NULL;
	bool witness = controlled_only && !is_controlled(run);

	if (witness && (run->label != LABEL_PASS || run->jitter_us))
		return NULL;
	TRY(store_predecessor_set(store, run->number, &had));
	if (roaring_bitmap_is_empty(had) || roaring_bitmap_maximum(had) >= npredecessors) {
		counts->skipped += run->label == LABEL_PASS;
	} else if (witness) {
		counts->free++;
		add_witness(training, had, members, run->number);
	} else if (run->label == LABEL_FAIL) {
		add_failure(training, had, members);
	} else {
		bool clocked = run->schedule.policy == SCHEDULE_CLOCK;

		counts->used++;
		counts->clocked += clocked;
		add_run(training, had, members, clocked);
		*VEC_PUSH(&training->runs) = run->number;
		*VEC_PUSH(&training->of) = campaign;
	}
	roaring_bitmap_free(had);
	return NULL;
}

struct error *training_add(struct training *training, struct store *store, uint64_t campaign, bool free_too)
{
	bool controlled_only = false;
	struct interned interned = { 0 };
	struct run *runs = NULL;
	size_t n = 0;

	TRY(store_interned(store, campaign, &interned));
	_cleanup_free_ uint32_t *members = memory_alloc((interned.npredecessors + 1) * sizeof *members);
	struct error *error = members_of(training, store, &interned, members);

	*VEC_PUSH(&training->campaigns) = (struct training_campaign){ .number = campaign };
	if (!error)
		error = store_runs(store, campaign, &runs, &n);
	for (size_t i = 0; i < n; i++)
		controlled_only |= !free_too && runs[i].label == LABEL_PASS && is_controlled(&runs[i]);
	for (size_t i = 0; i < n; i++) {
		if (!error)
			error = take_run(training, store, &runs[i], members, interned.npredecessors,
					 controlled_only);
		run_free(&runs[i]);
	}
	if (!error)
		judge(training);
	free(runs);
	interned_free(&interned);
	return error;
}

/* ---- what came of it ---- */

static bool was_seen(const struct training_member *member)
{
	return member->runs > 0; /* else only failed runs had it */
}

#define DOUBT_TIMES 5.0      /* as often in failed runs as in passing ones */
#define DOUBT_DEVIATIONS 4.0 /* by chance one member in thirty thousand would be */

bool training_doubts(const struct training *training, const struct training_member *member)
{
	double n = (double)training->runs.n, m = (double)training->failures;

	if (!training->runs.n || !training->failures)
		return false;
	double passed = (double)member->runs / n, failed = (double)member->failed / m;
	double all = ((double)member->runs + (double)member->failed) / (n + m);

	/* The difference of two shares, in standard deviations; squares spare the root. */
	return failed >= DOUBT_TIMES * passed &&
	       (failed - passed) * (failed - passed) >=
		       DOUBT_DEVIATIONS * DOUBT_DEVIATIONS * all * (1 - all) * (1 / n + 1 / m);
}

void training_settle(struct training *training)
{
	for (size_t i = 0; i < training->members.n; i++) {
		const struct training_member *member = &training->members.items[i];

		if (!was_seen(member) || member->before == GUARD_NIL)
			continue;
		training->shared.items[member->place] = training->shared.items[member->before] = true;
		training_join(training, member->place, member->before);
	}
}

void training_curve(const struct training *training, uint64_t *out)
{
	memset(out, 0, training->runs.n * sizeof *out);
	for (size_t i = 0; i < training->members.n; i++) {
		const struct training_member *member = &training->members.items[i];

		if (was_seen(member) && training->shared.items[member->place])
			out[member->first]++;
	}
	for (size_t i = 1; i < training->runs.n; i++)
		out[i] += out[i - 1];
}

bool training_converged(struct training *training)
{
	_cleanup_free_ uint64_t *curve = memory_alloc((training->runs.n + 1) * sizeof *curve);
	bool enough = training->campaigns.n > 0;

	training_curve(training, curve);
	for (size_t i = 0; i < training->campaigns.n; i++)
		training->campaigns.items[i].quiet = 0;
	for (size_t i = 0; i < training->runs.n; i++) {
		uint64_t *quiet = &training->campaigns.items[training->of.items[i]].quiet;

		*quiet = curve[i] > (i ? curve[i - 1] : 0) ? 0 : *quiet + 1;
	}
	for (size_t i = 0; i < training->campaigns.n; i++)
		enough &= training->campaigns.items[i].quiet >= TRAINING_QUIET;
	return enough;
}

/* Accesses that meet are told apart by bytes as small as the smallest of them. Copies and calls that free a block
 * have no size of their own: what they touch is told apart as the group's other accesses do it, and byte by byte
 * where there are none. */
static void settle_grains(struct training *training, struct guard_set *set)
{
	_cleanup_free_ uint32_t *grains = memory_alloc((training->places.sites.n + 1) * sizeof *grains);

	for (uint32_t number = 1; number <= set->sites.n; number++) {
		const struct guard_site *site = guard_set_site(set, number);

		if (site->size && (!grains[site->group] || site->grain < grains[site->group]))
			grains[site->group] = site->grain;
	}
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		struct guard_site *site = guard_set_site(set, number);

		site->grain = grains[site->group] ? grains[site->group] : 1;
	}
}

/* Accesses of a group meet at the same bytes. What no trace has seen is taken to touch what the others of its group
 * do; of a group that no trace has seen nothing is known. */
static void settle_memory(const struct training *training, struct guard_set *set)
{
	_cleanup_free_ uint8_t *memories = memory_alloc(training->places.sites.n + 1);

	for (uint32_t number = 1; number <= set->sites.n; number++)
		memories[guard_set_site(set, number)->group] |= guard_set_site(set, number)->memory;
	for (uint32_t number = 1; number <= set->sites.n; number++)
		if (!guard_set_site(set, number)->memory)
			guard_set_site(set, number)->memory = memories[guard_set_site(set, number)->group];
}

/* Groups with copies, of which only the beginning is on record. */
static void find_whole(const struct guard_set *set, bool *whole)
{
	for (uint32_t number = 1; number <= set->sites.n; number++)
		whole[guard_set_site(set, number)->group] |= guard_set_site(set, number)->size == 0;
}

/* Does anybody come before it at all? */
static bool has_others(const struct guard_site *site)
{
	return site->before.n && site->before.items[site->before.n - 1] != GUARD_NIL;
}

/* Groups with accesses that no set has: that a thread has been there may not be on record. */
static void find_unguarded(struct training *training, bool *unguarded)
{
	for (uint32_t number = 1; number <= training->places.sites.n; number++)
		unguarded[training_group(training, number)] |= !training->shared.items[number];
}

/* Reads that in no trace were the first at their location, of enough to say so, with others that are told apart as
 * exactly: where no other thread has been they expect their own thread to have been. */
static void settle_own(struct training *training, struct guard_set *set)
{
	_cleanup_free_ bool *whole = memory_alloc(training->places.sites.n + 1),
			    *unguarded = memory_alloc(training->places.sites.n + 1);

	find_whole(set, whole);
	find_unguarded(training, unguarded);
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		struct guard_site *site = guard_set_site(set, number);

		site->own = training->quiet >= TRAINING_QUIET && site->kind == SITE_READ && site->count &&
			    !site->begins && !whole[site->group] && !unguarded[site->group] &&
			    guard_set_allows(set, number, GUARD_NIL);
	}
}

bool training_asks_for_turns(const struct training *training)
{
	for (size_t i = 0; i < training->places.sites.n; i++) {
		const struct guard_site *site = &training->places.sites.items[i];

		if (!site->again && site->returns < TRAINING_QUIET &&
		    2ull * site->returns >= training->traces)
			return true;
	}
	return false;
}

/* Accesses that no thread ever came back to before another had been there, in enough traces in which one came back: as
 * whoever takes what others make for it. By the last access of another thread alone the second time would look like the
 * first. */
static void settle_turns(const struct training *training, struct guard_set *set)
{
	_cleanup_free_ bool *whole = memory_alloc(training->places.sites.n + 1);

	find_whole(set, whole);
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		struct guard_site *site = guard_set_site(set, number);

		site->turn = site->returns >= TRAINING_QUIET && !site->again && !whole[site->group] &&
			     has_others(site);
	}
}

void training_set(struct training *training, struct guard_set *out)
{
	struct guard_set *places = &training->places;

	places->runs = training->runs.n;
	places->converged = training_converged(training);
	for (uint32_t number = 1; number <= places->sites.n; number++)
		guard_set_site(places, number)->group = training_group(training, number);
	_cleanup_free_ bool *marks = training_mark_reads(places);

	for (size_t i = 0; i < training->members.n; i++) {
		const struct training_member *member = &training->members.items[i];

		bool rare = (double)member->runs < training->rare * (double)training->runs.n;
		bool doubtful = training_doubts(training, member);

		training->left_out += was_seen(member) && rare;
		training->doubtful += was_seen(member) && !rare && doubtful;
		training->lucky += was_seen(member) && !rare && !doubtful && !member->stands;
		if (!was_seen(member) || rare || doubtful)
			continue;
		uint32_t before = marks[member->before] ? GUARD_NIL : member->before;

		if (member->stands)
			guard_set_allow(places, member->place, before);
		else
			guard_set_doubt(places, member->place, before);
	}
	for (uint32_t number = 1; number <= places->sites.n; number++)
		training->shared.items[number] &=
			!marks[number] &&
			strncmp(guard_set_site(places, number)->variable, "unsnarl_mark_", 13) != 0;
	guard_set_choose(places, training->shared.items, out);
	settle_grains(training, out);
	settle_memory(training, out);
	settle_own(training, out);
	settle_turns(training, out);
}
