/* The memory file of loom/armed_format.h, for one program. */
#include "loom/arm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loom/armed_format.h"
#include "loom/guard/guard.h" /* struct guard_rule_data */

#define PAGE 4096u
_Static_assert(sizeof(struct armed_door[ARMED_DOORS]) == PAGE, "doors are a page of their own");

struct bytes {
	VEC(char) list;
};

/* Appends, at a multiple of eight; the offset. */
static uint32_t put(struct bytes *bytes, const void *data, size_t size)
{
	while (bytes->list.n % 8)
		*VEC_PUSH(&bytes->list) = 0;
	uint32_t at = (uint32_t)bytes->list.n;

	for (size_t i = 0; i < size; i++)
		*VEC_PUSH(&bytes->list) = ((const char *)data)[i];
	return at;
}

/* A text as one word, as in the log. */
static uint32_t put_text(struct bytes *bytes, const char *text)
{
	VEC(char) word = { 0 };

	for (const unsigned char *at = (const unsigned char *)(*text ? text : "-"); *at; at++) {
		char escaped[5];

		snprintf(escaped, sizeof escaped,
			 *at <= 0x20 || *at == 0x7f || *at == '\\' ? "\\x%02x" : "%c", *at);
		for (const char *c = escaped; *c; c++)
			*VEC_PUSH(&word) = *c;
	}
	*VEC_PUSH(&word) = '\0';
	uint32_t at = put(bytes, word.items, word.n);

	VEC_FREE(&word);
	return at;
}

static void put_sites(struct bytes *bytes, struct armed_header *header, const struct guard_set *set)
{
	size_t n = set->sites.n + 1;
	_cleanup_free_ uint64_t *rows = memory_alloc(n * header->words * sizeof *rows);
	_cleanup_free_ uint8_t *any = memory_alloc(n), *shifts = memory_alloc(n), *traits = memory_alloc(n);
	_cleanup_free_ uint32_t *numbers = guard_set_alike(set);
	_cleanup_free_ uint16_t *alike = memory_alloc(n * sizeof *alike);
	_cleanup_free_ struct armed_name *names = memory_alloc(n * sizeof *names);
	uint32_t nothing = put_text(bytes, "");

	header->strings = nothing;
	names[0] = (struct armed_name){
		.kind = nothing, .file = nothing, .function = nothing, .variable = nothing
	};
	for (uint32_t number = 1; number < n; number++) {
		const struct guard_site *site = guard_set_site(set, number);

		for (size_t i = 0; i < site->before.n; i++)
			rows[number * header->words + site->before.items[i] / 64] |=
				1ull << site->before.items[i] % 64;
		any[number] = site->any;
		traits[number] = guard_set_traits(site);
		shifts[number] = (uint8_t)__builtin_ctz(site->grain);
		alike[number] = (uint16_t)numbers[number];
		names[number] = (struct armed_name){ .id = site->id,
						     .line = site->line,
						     .column = site->column,
						     .kind = put_text(bytes, site_kind_name(site->kind)),
						     .file = put_text(bytes, site->file),
						     .function = put_text(bytes, site->function),
						     .variable = put_text(bytes, site->variable) };
	}
	VEC(uint32_t) doubted = { 0 };

	for (uint32_t number = 1; number < n; number++)
		for (size_t i = 0; i < guard_set_site(set, number)->doubted.n; i++)
			*VEC_PUSH(&doubted) = number << 16 | guard_set_site(set, number)->doubted.items[i];
	header->ndoubted = (uint32_t)doubted.n;
	header->doubted = put(bytes, doubted.items, doubted.n * sizeof *doubted.items);
	VEC_FREE(&doubted);
	header->rows = put(bytes, rows, n * header->words * sizeof *rows);
	header->any = put(bytes, any, n);
	header->traits = put(bytes, traits, n);
	header->shifts = put(bytes, shifts, n);
	header->alike = put(bytes, alike, n * sizeof *alike);
	header->names = put(bytes, names, n * sizeof *names);
}

static void put_rules(struct bytes *bytes, struct armed_header *header, const struct guard_set *set)
{
	VEC(struct armed_role) roles = { 0 };
	VEC(struct guard_rule_data) rules = { 0 };

	for (uint16_t r = 0; r < set->rules.n; r++) {
		const struct guard_rule *rule = &set->rules.items[r];
		bool order = rule->kind == GUARD_ORDER;

		*VEC_PUSH(&rules) = (struct guard_rule_data){ .kind = (uint16_t)rule->kind,
							      .apart = rule->apart,
							      .first = (uint16_t)rule->first,
							      .second = (uint16_t)rule->second };
		*VEC_PUSH(&roles) =
			(struct armed_role){ (uint16_t)rule->first, r, order ? ARMED_DONE : ARMED_ENTER, 0 };
		for (size_t i = 0; !order && i < rule->others.n; i++)
			if (rule->others.items[i] != rule->first)
				*VEC_PUSH(&roles) = (struct armed_role){
					(uint16_t)rule->others.items[i], r,
					guard_rule_updates(set, rule, rule->others.items[i]) ? ARMED_TOUCH
											     : ARMED_WAIT,
					0
				};
		*VEC_PUSH(&roles) = (struct armed_role){ (uint16_t)rule->second, r,
							 order ? ARMED_AWAIT : ARMED_LEAVE, 0 };
	}
	header->nrules = (uint32_t)rules.n;
	header->nroles = (uint32_t)roles.n;
	header->rules = put(bytes, rules.items, rules.n * sizeof *rules.items);
	header->roles = put(bytes, roles.items, roles.n * sizeof *roles.items);
	VEC_FREE(&roles);
	VEC_FREE(&rules);
}

static struct error *put_units(struct bytes *bytes, struct armed_header *header, const char *path,
			       const struct guard_set *set, struct arm_counts *counts)
{
	_cleanup_free_ bool *found = memory_alloc(set->sites.n + 1);
	VEC(struct armed_unit) list = { 0 };
	struct unit *units = NULL;
	size_t n = 0;

	TRY(unit_read_elf(path, &units, &n));
	for (size_t u = 0; u < n; u++) {
		_cleanup_free_ uint32_t *which = memory_alloc((units[u].nsites + 1) * sizeof *which);
		_cleanup_free_ uint16_t *numbers = memory_alloc((units[u].nsites + 1) * sizeof *numbers);

		guard_set_match(set, units[u].sites, units[u].nsites, which);
		for (uint32_t i = 0; i < units[u].nsites; i++) {
			numbers[i] = (uint16_t)which[i];
			found[which[i]] = true;
		}
		*VEC_PUSH(&list) = (struct armed_unit){ .hash = units[u].hash,
							.nsites = units[u].nsites,
							.numbers = put(bytes, numbers,
								       units[u].nsites * sizeof *numbers) };
		unit_free(&units[u]);
	}
	free(units);
	for (uint32_t number = 1; number <= set->sites.n; number++)
		counts->found += found[number];
	header->nunits = (uint32_t)list.n;
	header->units = put(bytes, list.items, list.n * sizeof *list.items);
	VEC_FREE(&list);
	return NULL;
}

static struct error *hand_over(const char *data, size_t size)
{
	int file = memfd_create("unsnarl guard set", 0); /* inherited on purpose */
	char number[16];

	for (size_t at = 0; file >= 0 && at < size;) {
		ssize_t n = write(file, data + at, size - at);

		if (n <= 0)
			return error_errno(errno, "cannot make the memory file of the guard set");
		at += (size_t)n;
	}
	if (file < 0)
		return error_errno(errno, "cannot make the memory file of the guard set");
	snprintf(number, sizeof number, "%d", file);
	setenv(ARMED_ENVIRONMENT, number, 1);
	return NULL;
}

struct error *arm_program(const char *path, const struct guard_set *set, const char *log,
			  struct arm_counts *counts)
{
	struct armed_header header = { .magic = ARMED_MAGIC,
				       .hash = guard_set_hash(set),
				       .nsites = (uint32_t)set->sites.n,
				       .limit_us = set->limit_ms * 1000,
				       .words = (uint32_t)set->sites.n / 64 + 1 };
	struct bytes bytes = { 0 };

	*counts = (struct arm_counts){ 0 };
	if (set->sites.n > ARMED_SITES || set->rules.n > ARMED_RULES)
		return error_new(
			"a set of %zu accesses is too large for a program that was built to be observed: "
			"build it with unsnarl cc --guard",
			set->sites.n);
	if (log && strlen(log) >= sizeof header.log)
		return error_new("the path of the log is too long: %s", log);
	if (log)
		memcpy(header.log, log, strlen(log));
	put(&bytes, &header, sizeof header);
	put_sites(&bytes, &header, set);
	put_rules(&bytes, &header, set);
	struct error *error = put_units(&bytes, &header, path, set, counts);

	while (bytes.list.n % PAGE)
		*VEC_PUSH(&bytes.list) = 0;
	header.doors = put(&bytes, (struct armed_door[ARMED_DOORS]){ 0 }, PAGE);
	header.size = bytes.list.n;
	memcpy(bytes.list.items, &header, sizeof header);
	if (!error)
		error = hand_over(bytes.list.items, bytes.list.n);
	VEC_FREE(&bytes.list);
	return error;
}
