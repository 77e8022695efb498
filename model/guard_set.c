/* Guard sets in memory: building, choosing a part, finding the sites in another build. */
#include "model/guard_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void site_free(struct guard_site *site)
{
	free(site->file);
	free(site->function);
	free(site->variable);
	free(site->through);
	VEC_FREE(&site->before);
	VEC_FREE(&site->doubted);
}

void guard_set_free(struct guard_set *set)
{
	for (size_t i = 0; i < set->sites.n; i++)
		site_free(&set->sites.items[i]);
	for (size_t i = 0; i < set->rules.n; i++)
		VEC_FREE(&set->rules.items[i].others);
	VEC_FREE(&set->sites);
	VEC_FREE(&set->rules);
}

uint32_t guard_set_grain(uint32_t size)
{
	uint32_t grain = size ? 8 : 1; /* copies begin and end anywhere */

	while (grain > 1 && size % grain)
		grain /= 2;
	return grain;
}

bool guard_rule_updates(const struct guard_set *set, const struct guard_rule *rule, uint32_t site)
{
	const struct guard_site *read = guard_set_site(set, site);

	for (size_t i = 0; read->kind == SITE_READ && i < rule->others.n; i++) {
		const struct guard_site *write = guard_set_site(set, rule->others.items[i]);

		if (write->kind == SITE_WRITE && write->line == read->line && write->column == read->column &&
		    strcmp(write->variable, read->variable) == 0 &&
		    strcmp(write->function, read->function) == 0 && strcmp(write->file, read->file) == 0)
			return true;
	}
	return false;
}

uint32_t guard_set_add(struct guard_set *set, const struct site *site, struct place_rank rank)
{
	*VEC_PUSH(&set->sites) =
		(struct guard_site){ .id = place_id(site, rank),
				     .kind = site->kind,
				     .line = site->line,
				     .column = site->column,
				     .size = site->size,
				     .rank = rank,
				     .grain = guard_set_grain(site->size),
				     .file = memory_string(site->file),
				     .function = memory_string(site->function),
				     .variable = memory_string(site->variable),
				     .through = memory_string(site->through ? site->through : "") };
	return (uint32_t)set->sites.n;
}

/* Where `before` stands in a rising list, or would. */
static size_t place_in(const uint32_t *items, size_t n, uint32_t before)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle] < before)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool guard_set_allows(const struct guard_set *set, uint32_t number, uint32_t before)
{
	const struct guard_site *site = guard_set_site(set, number);
	size_t at = place_in(site->before.items, site->before.n, before);

	return site->any || (at < site->before.n && site->before.items[at] == before);
}

bool guard_set_allow(struct guard_set *set, uint32_t number, uint32_t before)
{
	struct guard_site *site = guard_set_site(set, number);
	size_t at = place_in(site->before.items, site->before.n, before),
	       doubt = place_in(site->doubted.items, site->doubted.n, before);

	if (at < site->before.n && site->before.items[at] == before)
		return false;
	if (doubt < site->doubted.n && site->doubted.items[doubt] == before) {
		site->doubted.n--;
		memmove(&site->doubted.items[doubt], &site->doubted.items[doubt + 1],
			(site->doubted.n - doubt) * sizeof *site->doubted.items);
	}
	VEC_PUSH(&site->before);
	memmove(&site->before.items[at + 1], &site->before.items[at],
		(site->before.n - 1 - at) * sizeof *site->before.items);
	site->before.items[at] = before;
	return true;
}

void guard_set_doubt(struct guard_set *set, uint32_t number, uint32_t before)
{
	struct guard_site *site = guard_set_site(set, number);
	size_t at = place_in(site->doubted.items, site->doubted.n, before);

	if (guard_set_allows(set, number, before) ||
	    (at < site->doubted.n && site->doubted.items[at] == before))
		return;
	VEC_PUSH(&site->doubted);
	memmove(&site->doubted.items[at + 1], &site->doubted.items[at],
		(site->doubted.n - 1 - at) * sizeof *site->doubted.items);
	site->doubted.items[at] = before;
}

uint32_t guard_set_find(const struct guard_set *set, uint64_t id)
{
	for (uint32_t number = 1; number <= set->sites.n; number++)
		if (guard_set_site(set, number)->id == id)
			return number;
	return 0;
}

/* ---- a part of a set ---- */

static void copy_site(const struct guard_site *from, const uint32_t *renumbered, struct guard_set *out)
{
	struct guard_site *site = VEC_PUSH(&out->sites);

	*site = *from;
	site->file = memory_string(from->file);
	site->function = memory_string(from->function);
	site->variable = memory_string(from->variable);
	site->through = memory_string(from->through);
	memset(&site->before, 0, sizeof site->before);
	for (size_t i = 0; i < from->before.n; i++) {
		uint32_t before = from->before.items[i];

		if (before == GUARD_NIL || renumbered[before])
			*VEC_PUSH(&site->before) = before == GUARD_NIL ? GUARD_NIL : renumbered[before];
	}
	memset(&site->doubted, 0, sizeof site->doubted);
	for (size_t i = 0; i < from->doubted.n; i++) {
		uint32_t before = from->doubted.items[i];

		if (before == GUARD_NIL || renumbered[before])
			*VEC_PUSH(&site->doubted) = before == GUARD_NIL ? GUARD_NIL : renumbered[before];
	}
}

static void copy_rule(const struct guard_rule *from, const uint32_t *renumbered, struct guard_set *out)
{
	if (!renumbered[from->first] || !renumbered[from->second])
		return;
	struct guard_rule *rule = VEC_PUSH(&out->rules);

	*rule = (struct guard_rule){ .kind = from->kind,
				     .first = renumbered[from->first],
				     .second = renumbered[from->second],
				     .apart = from->apart };
	for (size_t i = 0; i < from->others.n; i++)
		if (renumbered[from->others.items[i]])
			*VEC_PUSH(&rule->others) = renumbered[from->others.items[i]];
}

void guard_set_choose(const struct guard_set *set, const bool *keep, struct guard_set *out)
{
	_cleanup_free_ uint32_t *renumbered = memory_alloc((set->sites.n + 1) * sizeof *renumbered);
	uint32_t next = 0;

	*out = (struct guard_set){ .runs = set->runs,
				   .converged = set->converged,
				   .limit_ms = set->limit_ms };
	for (uint32_t number = 1; number <= set->sites.n; number++)
		renumbered[number] = keep[number] ? ++next : 0;
	for (uint32_t number = 1; number <= set->sites.n; number++)
		if (keep[number])
			copy_site(guard_set_site(set, number), renumbered, out);
	for (size_t i = 0; i < set->rules.n; i++)
		copy_rule(&set->rules.items[i], renumbered, out);
}

void guard_set_add_rules(struct guard_set *set, const struct guard_set *from)
{
	_cleanup_free_ uint32_t *renumbered = memory_alloc((from->sites.n + 1) * sizeof *renumbered);
	_cleanup_free_ uint32_t *none = memory_alloc((from->sites.n + 1) * sizeof *none);

	for (uint32_t number = 1; number <= from->sites.n; number++) {
		const struct guard_site *site = guard_set_site(from, number);

		renumbered[number] = guard_set_find(set, site->id);
		if (renumbered[number])
			continue;
		copy_site(site, none, set);
		renumbered[number] = (uint32_t)set->sites.n;
		guard_set_site(set, renumbered[number])->any = true;
	}
	for (size_t i = 0; i < from->rules.n; i++)
		copy_rule(&from->rules.items[i], renumbered, set);
	set->limit_ms = from->limit_ms > set->limit_ms ? from->limit_ms : set->limit_ms;
}

uint32_t *guard_set_alike(const struct guard_set *set)
{
	_cleanup_free_ uint64_t *marks = memory_alloc((set->sites.n + 1) * sizeof *marks);
	uint32_t *alike = memory_alloc((set->sites.n + 1) * sizeof *alike);
	struct map first = { 0 };

	for (uint32_t number = 1; number <= set->sites.n; number++)
		for (size_t i = 0; i < guard_set_site(set, number)->before.n; i++) {
			uint64_t *mark = &marks[guard_set_site(set, number)->before.items[i]];

			*mark = hash_bytes(*mark ^ HASH_START, &number, sizeof number);
		}
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		bool fresh;
		uint64_t *known = map_put(&first, marks[number], &fresh);

		*known = fresh ? number : *known;
		alike[number] = (uint32_t)*known;
	}
	map_free(&first);
	return alike;
}

/* Doubted members are none. */
static bool may_violate(const struct guard_set *set, uint32_t number, size_t group_size)
{
	const struct guard_site *site = guard_set_site(set, number);

	return !site->any && (site->own || site->turn || !guard_set_allows(set, number, GUARD_NIL) ||
			      site->before.n < group_size + 1);
}

void guard_set_find_idle(struct guard_set *set)
{
	struct map sizes = { 0 }, busy = { 0 };

	for (uint32_t number = 1; number <= set->sites.n; number++)
		++*map_put(&sizes, guard_set_site(set, number)->group, NULL);
	/* Whose members are all in its group, and as many as the group has, has the whole group in its set. */
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		const struct guard_site *site = guard_set_site(set, number);
		bool apart = !site->group || may_violate(set, number, *map_get(&sizes, site->group));

		for (size_t i = 0; i < site->before.n; i++)
			apart |= site->before.items[i] != GUARD_NIL &&
				 guard_set_site(set, site->before.items[i])->group != site->group;
		if (apart)
			map_put(&busy, site->group, NULL);
	}
	for (uint32_t number = 1; number <= set->sites.n; number++)
		guard_set_site(set, number)->idle = !map_get(&busy, guard_set_site(set, number)->group);
	map_free(&sizes);
	map_free(&busy);
}

bool guard_set_touches(const struct guard_set *set, enum guard_memory memory)
{
	bool known = false;

	for (size_t i = 0; i < set->sites.n; i++) {
		const struct guard_site *site = &set->sites.items[i];

		known |= site->memory != 0;
		if (!site->any && !site->idle && site->memory & memory)
			return true;
	}
	return set->rules.n > 0 || !known;
}

uint64_t guard_set_hash(const struct guard_set *set)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	uint64_t hash = 0;

	if (out) {
		guard_set_write(out, set);
		fclose(out);
		hash = hash_bytes(HASH_START, text, size);
	}
	free(text);
	return hash;
}

/* ---- the sites of another build ---- */

static uint64_t name_key(const char *file, const char *function, enum site_kind kind, const char *variable,
			 const char *through)
{
	uint32_t number = (uint32_t)kind;
	uint64_t key = hash_string(HASH_START, place_file_name(file));

	key = hash_string(key, function);
	key = hash_string(key, place_leaf(variable));
	key = hash_string(key, through);
	return hash_bytes(key, &number, sizeof number);
}

static bool names_agree(const struct guard_site *known, const struct site *site)
{
	return known->kind == site->kind && strcmp(known->function, site->function) == 0 &&
	       strcmp(place_leaf(known->variable), place_leaf(site->variable)) == 0 &&
	       strcmp(known->through, site->through ? site->through : "") == 0 &&
	       strcmp(place_file_name(known->file), place_file_name(site->file)) == 0;
}

/* The best of the set's sites that have the names of `site`: in the file with the most folders in common, by
 * rank where the function has as many places that are alike, else by position. */
static uint32_t best_match(const struct guard_set *set, const uint32_t *next, uint32_t first,
			   const struct site *site, struct place_rank rank)
{
	unsigned most = 0;
	uint32_t best = 0;

	for (uint32_t number = first; number; number = next[number]) {
		const struct guard_site *known = guard_set_site(set, number);
		bool ranked = known->rank.of == rank.of;
		bool fits = ranked ? known->rank.which == rank.which
				   : known->line == site->line && known->column == site->column;

		if (!names_agree(known, site) || !fits)
			continue;
		unsigned common = place_common_folders(known->file, site->file);

		if (!best || common > most) {
			best = number;
			most = common;
		}
	}
	return best;
}

void guard_set_match(const struct guard_set *set, const struct site *sites, size_t n, uint32_t *which)
{
	_cleanup_free_ struct place_rank *ranks = memory_alloc((n + 1) * sizeof *ranks);
	_cleanup_free_ uint32_t *next = memory_alloc((set->sites.n + 1) * sizeof *next);
	struct map heads = { 0 };

	for (uint32_t number = (uint32_t)set->sites.n; number > 0; number--) {
		const struct guard_site *known = guard_set_site(set, number);
		uint64_t *head = map_put(
			&heads,
			name_key(known->file, known->function, known->kind, known->variable, known->through),
			NULL);

		next[number] = (uint32_t)*head;
		*head = number;
	}
	place_ranks(sites, n, ranks);
	for (size_t i = 0; i < n; i++) {
		const struct site *site = &sites[i];
		const uint64_t *head =
			!ranks[i].of ? NULL
				     : map_get(&heads,
					       name_key(site->file, site->function, site->kind,
							site->variable, site->through ? site->through : ""));

		which[i] = head ? best_match(set, next, (uint32_t)*head, site, ranks[i]) : 0;
	}
	map_free(&heads);
}
