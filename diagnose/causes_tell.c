/* A proposal told as a finding: its accesses as the failing run had them, its class by what
 * was forbidden.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/locon/explain.h"
#include "diagnose/causes.h"
#include "report/diagnosis_words.h"

static bool overlap(const struct claim_part *a, const struct claim_part *b)
{
	return a->size && b->size && a->address < b->address + b->size && b->address < a->address + a->size;
}

bool claim_parts_meet(const struct claim_parts *parts)
{
	for (size_t i = 1; i < parts->n; i++)
		if (!overlap(&parts->items[0], &parts->items[i]))
			return false;
	return true;
}

static enum pair_kind kind_of(const struct claim_part *head, const struct claim_part *tail)
{
	return !head->write ? PAIR_READ_WRITE : tail->write ? PAIR_WRITE_WRITE : PAIR_WRITE_READ;
}

unsigned causes_scenario(enum claim_kind kind, const struct claim_parts *all)
{
	const struct claim_part *parts = all->items;

	if (kind != CLAIM_ATOMIC)
		return parts[0].write ? (parts[1].write ? 3 : 1) : 2;
	if (all->n == 3 && claim_parts_meet(all))
		return parts[1].write ? (parts[0].write ? 4 : parts[2].write ? 5 : 6) : 7;
	if (all->n != 4 || parts[1].thread == parts[0].thread || parts[2].thread == parts[0].thread)
		return 0;
	bool turned = !overlap(&parts[0], &parts[1]);

	return turned ? explain_kinds_scenario(kind_of(&parts[0], &parts[2]), kind_of(&parts[1], &parts[3]),
					       true)
		      : explain_kinds_scenario(kind_of(&parts[0], &parts[1]), kind_of(&parts[2], &parts[3]),
					       false);
}

void causes_name(const struct claim_parts *parts, struct finding *finding)
{
	for (size_t i = 0; i < parts->n && parts->n == finding->accesses.n; i++) {
		const struct claim_part *part = &parts->items[i];
		struct finding_access *access = &finding->accesses.items[i];

		for (size_t j = 0; j < parts->n && !*access->variable && part->size; j++)
			if (parts->items[j].address == part->address && parts->items[j].size == part->size) {
				free(access->variable);
				access->variable = memory_string(parts->items[j].site->variable);
			}
	}
}

void causes_tell(const struct evidence *evidence, const struct proposal *proposal, struct finding *out)
{
	const struct claim_parts *parts = &proposal->parts;

	out->method = memory_string("experiment");
	out->class = proposal->claim.kind != CLAIM_ATOMIC ? FINDING_ORDER
		     : claim_parts_meet(parts)            ? FINDING_ATOMICITY
							  : FINDING_MULTI_ATOMICITY;
	out->scenario = causes_scenario(proposal->claim.kind, parts);
	out->score = 1;
	out->runs.failed = 1;
	for (size_t i = 0; i < parts->n; i++) {
		const struct claim_part *part = &parts->items[i];
		struct finding_access *access =
			finding_add_access(&out->accesses, FINDING_NO_SITE, part->site);

		access->thread = part->thread;
		access->missing = part->missing;
		if (part->site->kind != SITE_SYNC)
			access->kind = part->write ? SITE_WRITE : SITE_READ;
		finding_add_variable(out, access->variable);
	}
	causes_name(parts, out);
	diagnosis_tell(out, out->class == FINDING_ORDER ? TOLD_TOO_EARLY : TOLD_TORN, 0, 0);
	(void)evidence;
	finding_settle(out);
}
