/* From a finding to rules. */
#include "analysis/invariant/emergency.h"

#include <stdlib.h>
#include <string.h>

/* Longer than that of learned sets: somebody waits only while the known fault is about to happen, never because of
 * something that training did not show, and threads of a busy machine may lose their processor inside a group. */
#define LIMIT_MS 100u

struct patch {
	const struct finding *finding;
	struct guard_set *set;
	uint32_t *numbers; /* of the finding's accesses */
	const struct unit *units;
	size_t nunits;
};

/* Reads, writes and updates at one position are told apart; an update can be met as a read or a write. */
static bool is_it(const struct finding_access *access, const struct site *site)
{
	bool same_kind =
		site->kind == access->kind ||
		(site->kind == SITE_UPDATE && (access->kind == SITE_READ || access->kind == SITE_WRITE));

	return place_is_access(site) && same_kind && site->line == access->line &&
	       (!access->column || site->column == access->column) &&
	       strcmp(place_file_name(site->file), place_file_name(access->file)) == 0 &&
	       (!*access->function || strcmp(site->function, access->function) == 0);
}

static uint32_t known_number(const struct guard_set *set, uint64_t id)
{
	return guard_set_find(set, id);
}

/* The number of a unit's site in the set, which has it from now on. */
static uint32_t number_site(struct guard_set *set, const struct unit *unit, uint32_t index)
{
	_cleanup_free_ struct place_rank *ranks = memory_alloc((unit->nsites + 1) * sizeof *ranks);

	place_ranks(unit->sites, unit->nsites, ranks);
	uint32_t number = known_number(set, place_id(&unit->sites[index], ranks[index]));

	if (!number) {
		number = guard_set_add(set, &unit->sites[index], ranks[index]);
		guard_set_site(set, number)->any = true;
	}
	return number;
}

/* The place of an access in the program; 0 when the program does not have it. */
static uint32_t place_access(struct guard_set *set, const struct finding_access *access,
			     const struct unit *units, size_t nunits)
{
	for (size_t u = 0; u < nunits; u++)
		for (uint32_t i = 0; i < units[u].nsites; i++)
			if (is_it(access, &units[u].sites[i]))
				return number_site(set, &units[u], i);
	return 0;
}

/* First and last access of the thread that does the first one of all and comes back: what the others do
 * meanwhile is in between. */
static bool find_group(const struct finding *finding, size_t *first, size_t *last)
{
	const struct finding_access *items = finding->accesses.items;

	for (*first = 0; *first < finding->accesses.n; ++*first)
		for (*last = finding->accesses.n - 1; *last > *first + 1; --*last) {
			bool between = false;

			for (size_t i = *first + 1; i < *last; i++)
				between |= items[i].thread != items[*first].thread;
			if (items[*last].thread == items[*first].thread && between)
				return true;
		}
	return false;
}

static void add_other(struct guard_rule *rule, uint32_t site)
{
	for (size_t i = 0; i < rule->others.n; i++)
		if (rule->others.items[i] == site)
			return;
	*VEC_PUSH(&rule->others) = site;
}

/* A write that belongs to an update in the source comes with its read: what was read before the group would undo what
 * the group wrote. */
static void add_other_of(struct patch *patch, struct guard_rule *rule, uint32_t other)
{
	const struct guard_site *write = guard_set_site(patch->set, other);
	struct finding_access read = { .kind = SITE_READ,
				       .line = write->line,
				       .column = write->column,
				       .file = write->file,
				       .function = write->function };

	add_other(rule, other);
	if (write->kind != SITE_WRITE)
		return;
	uint32_t number = place_access(patch->set, &read, patch->units, patch->nunits);

	if (!number)
		return;
	add_other(rule, number);
	if (!guard_rule_updates(patch->set, rule, number)) /* of another variable in the same place */
		rule->others.n--;
}

/* The finding names one way to come in between; the program may do the same to the same variable at other places, and
 * fail the same way. Where addresses do not tell who meets, that would be all objects of the kind. */
static void add_alike(struct patch *patch, struct guard_rule *rule, uint32_t other)
{
	const char *leaf = place_leaf(guard_set_site(patch->set, other)->variable);
	enum site_kind kind = guard_set_site(patch->set, other)->kind;

	for (size_t u = 0; *leaf && !rule->apart && u < patch->nunits; u++)
		for (uint32_t i = 0; i < patch->units[u].nsites; i++) {
			const struct site *site = &patch->units[u].sites[i];

			if (place_is_access(site) && site->kind == kind &&
			    strcmp(place_leaf(site->variable), leaf) == 0)
				add_other_of(patch, rule, number_site(patch->set, &patch->units[u], i));
		}
}

/* Others wait at their accesses to any of the locations, and at the group's own: they may run it, too. */
static struct error *make_atomic(struct patch *patch)
{
	const struct finding *finding = patch->finding;
	size_t first, last;

	if (!find_group(finding, &first, &last))
		return error_new("the finding names no two accesses of one thread with another thread's in "
				 "between: there is nothing to make one step of");
	struct guard_rule *rule = VEC_PUSH(&patch->set->rules);

	*rule = (struct guard_rule){ .kind = GUARD_ATOMIC,
				     .first = patch->numbers[first],
				     .second = patch->numbers[last] };
	const struct guard_site *one = guard_set_site(patch->set, rule->first),
				*two = guard_set_site(patch->set, rule->second);

	rule->apart = finding->class == FINDING_MULTI_ATOMICITY || strcmp(one->variable, two->variable) != 0;
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].thread != finding->accesses.items[first].thread) {
			add_other_of(patch, rule, patch->numbers[i]);
			add_alike(patch, rule, patch->numbers[i]);
		}
	add_other(rule, rule->first);
	return NULL;
}

/* The first two accesses of different threads: the one came too early, the other too late. */
static struct error *make_order(struct patch *patch)
{
	const struct finding_accesses *accesses = &patch->finding->accesses;
	size_t early = 0, late = 1;

	while (late < accesses->n && accesses->items[late].thread == accesses->items[early].thread)
		early = late++;
	if (late >= accesses->n)
		return error_new(
			"the finding names no accesses of two threads: nothing can wait for anything");
	if (patch->numbers[early] == patch->numbers[late])
		return error_new(
			"both accesses of the finding are the same place in the source: no order can be "
			"meant between them");
	*VEC_PUSH(&patch->set->rules) = (struct guard_rule){ .kind = GUARD_ORDER,
							     .first = patch->numbers[late],
							     .second = patch->numbers[early] };
	return NULL;
}

/* All accesses of the patch are told apart in the same way. */
static void settle_grain(struct guard_set *set)
{
	uint32_t grain = 8;

	for (uint32_t number = 1; number <= set->sites.n; number++)
		if (guard_set_site(set, number)->grain < grain)
			grain = guard_set_site(set, number)->grain;
	for (uint32_t number = 1; number <= set->sites.n; number++)
		guard_set_site(set, number)->grain = grain;
}

static struct error *make(struct patch *patch, const struct unit *units, size_t nunits)
{
	const struct finding_accesses *accesses = &patch->finding->accesses;

	for (size_t i = 0; i < accesses->n; i++) {
		const struct finding_access *access = &accesses->items[i];

		patch->numbers[i] = place_access(patch->set, access, units, nunits);
		if (!patch->numbers[i])
			return error_new(
				"the program has no access at %s:%u in %s any more: diagnose it again",
				place_file_name(access->file), access->line,
				*access->function ? access->function : "any function");
	}
	switch (patch->finding->class) {
	case FINDING_ATOMICITY:
	case FINDING_MULTI_ATOMICITY:
		TRY(make_atomic(patch));
		break;
	case FINDING_ORDER:
	case FINDING_RACE:
		TRY(make_order(patch));
		break;
	default:
		return error_new("a %s cannot be held down by letting accesses wait",
				 finding_class_words(patch->finding->class));
	}
	settle_grain(patch->set);
	return NULL;
}

struct error *emergency_set(const struct finding *finding, const struct unit *units, size_t nunits,
			    struct guard_set *out)
{
	_cleanup_free_ uint32_t *numbers = memory_alloc((finding->accesses.n + 1) * sizeof *numbers);
	struct patch patch = {
		.finding = finding, .set = out, .numbers = numbers, .units = units, .nunits = nunits
	};

	*out = (struct guard_set){ .limit_ms = LIMIT_MS };
	if (finding_has_calls(finding))
		return error_new(
			"the finding is about calls that synchronise, not about accesses: letting accesses "
			"wait does not help");
	struct error *error = make(&patch, units, nunits);

	if (error)
		guard_set_free(out);
	return error;
}
