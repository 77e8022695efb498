/* An observed program under guard: its hooks ask the guard's runtime (loom/guard) before
 * each access that a guard set names. Every access takes the long way then, under the one
 * lock of traced runs, so this is for trying a set out; production has a build of its own.
 * The set comes in a memory file from the tool that started the program.
 */
#include "loom/runtime/process/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "loom/armed_format.h"
#include "loom/guard/guard.h"
#include "loom/runtime/process/armed.h"

static struct guard_data armed_data;
const struct guard_data *unsnarl_guard_data = &armed_data;

static const struct armed_header *armed;
static uint16_t *armed_numbers; /* by site of the process: number in the set plus 1; 0 not asked yet */

/* What is to be done behind the access at which a thread was last: at its next hook. */
static __thread struct {
	uint32_t n;
	struct armed_role roles[4];
	uint64_t addresses[4], sizes[4];
} pending_roles __attribute__((tls_model("initial-exec")));

static bool fits(uint32_t at, uint64_t size)
{
	return at <= armed->size && size <= armed->size - at;
}

static const void *part(uint32_t at)
{
	return (const char *)armed + at;
}

static bool shifts_are_sound(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (((const uint8_t *)part(armed->shifts))[i] >= GUARD_GRAINS)
			return false;
	return true;
}

static bool is_sound(void)
{
	uint64_t n = (uint64_t)armed->nsites + 1;

	return armed->magic == ARMED_MAGIC && armed->nsites <= ARMED_SITES && armed->nrules <= ARMED_RULES &&
	       armed->words == armed->nsites / 64 + 1 && fits(armed->rows, n * armed->words * 8) &&
	       fits(armed->any, n) && fits(armed->traits, n) && fits(armed->shifts, n) &&
	       fits(armed->alike, n * 2) && fits(armed->doubted, (uint64_t)armed->ndoubted * 4) &&
	       shifts_are_sound(n) && fits(armed->names, n * sizeof(struct armed_name)) &&
	       fits(armed->rules, armed->nrules * sizeof(struct guard_rule_data)) &&
	       fits(armed->roles, (uint64_t)armed->nroles * sizeof(struct armed_role)) &&
	       fits(armed->units, (uint64_t)armed->nunits * sizeof(struct armed_unit));
}

static struct guard_name *read_names(void)
{
	const struct armed_name *names = part(armed->names);
	struct guard_name *out = runtime_map(0, ((uint64_t)armed->nsites + 1) * sizeof *out);

	for (uint32_t i = 0; i <= armed->nsites; i++)
		out[i] = (struct guard_name){ .id = names[i].id,
					      .kind = part(names[i].kind),
					      .file = part(names[i].file),
					      .function = part(names[i].function),
					      .variable = part(names[i].variable),
					      .line = names[i].line,
					      .column = names[i].column };
	return out;
}

static int armed_file = -1;

void armed_find(char **environment)
{
	size_t length = sizeof ARMED_ENVIRONMENT - 1;

	for (char **entry = environment; entry && *entry; entry++)
		if (strncmp(*entry, ARMED_ENVIRONMENT, length) == 0 && (*entry)[length] == '=')
			armed_file = atoi(*entry + length + 1);
}

/* True when the environment names a set: then every access is to come the long way. */
bool armed_start(void)
{
	struct stat st;
	int file = armed_file;

	if (file < 3 || fstat(file, &st) != 0 || (size_t)st.st_size < sizeof *armed)
		return false;
	armed = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (armed == MAP_FAILED || armed->size != (uint64_t)st.st_size || !is_sound())
		return false;
	armed_data = (struct guard_data){ .hash = armed->hash,
					  .nsites = armed->nsites,
					  .nrules = armed->nrules,
					  .limit_us = armed->limit_us,
					  .words = armed->words,
					  .rows = part(armed->rows),
					  .any = part(armed->any),
					  .traits = part(armed->traits),
					  .shifts = part(armed->shifts),
					  .alike = part(armed->alike),
					  .names = read_names(),
					  .rules = part(armed->rules),
					  .ndoubted = armed->ndoubted,
					  .doubted = part(armed->doubted),
					  .log = armed->log[0] ? armed->log : NULL };
	armed_doors_start(file, armed->doors);
	armed_numbers = runtime_map(0, (WORD_SITE_MASK + 1ull) * sizeof *armed_numbers);
	return true;
}

/* The number of a site of this process: units are told by their hash. */
static uint32_t number_of(uint32_t site)
{
	const struct area_process *process = runtime.process;
	const struct armed_unit *units = part(armed->units);

	if (RELAXED_GET(armed_numbers[site]))
		return RELAXED_GET(armed_numbers[site]) - 1u;
	uint32_t number = 0;

	for (uint32_t i = 0; i < process->nunits && i < AREA_UNITS; i++) {
		const struct area_unit *unit = &process->units[i];

		for (uint32_t u = 0; u < armed->nunits && site - unit->first < unit->nsites; u++) {
			bool same = units[u].hash == unit->hash && units[u].nsites == unit->nsites;

			if (same && fits(units[u].numbers, units[u].nsites * 2ull))
				number = ((const uint16_t *)part(units[u].numbers))[site - unit->first];
		}
	}
	RELAXED_SET(armed_numbers[site], (uint16_t)(number <= armed->nsites ? number + 1 : 1));
	return RELAXED_GET(armed_numbers[site]) - 1u;
}

void armed_behind(void)
{
	for (uint32_t i = 0; i < pending_roles.n; i++) {
		if (pending_roles.roles[i].kind == ARMED_LEAVE) {
			unsnarl_guard_leave(pending_roles.roles[i].rule);
			armed_doors_left(pending_roles.roles[i].rule);
		} else if (pending_roles.roles[i].kind == ARMED_TOUCHED) {
			unsnarl_guard_touched(pending_roles.roles[i].rule);
		} else {
			unsnarl_guard_done(pending_roles.roles[i].rule, pending_roles.addresses[i],
					   pending_roles.sizes[i]);
		}
	}
	pending_roles.n = 0;
}

static void do_after(struct armed_role role, uint64_t address, size_t size)
{
	if (pending_roles.n == 4)
		return;
	if (role.kind == ARMED_LEAVE)
		unsnarl_guard_leave_soon(role.rule);
	else if (role.kind == ARMED_TOUCHED)
		unsnarl_guard_touched_soon(role.rule);
	else
		unsnarl_guard_done_soon(role.rule, address, size);
	pending_roles.roles[pending_roles.n] = role;
	pending_roles.sizes[pending_roles.n] = size;
	pending_roles.addresses[pending_roles.n++] = address;
}

/* An access of others. The read of an update keeps the group until its write has been made. */
static void touch(struct armed_role role, uint64_t address, size_t size)
{
	bool entered =
		armed_doors_entered(role.rule); /* it has the group for itself until its access is made */

	if (!entered)
		unsnarl_guard_touch(role.rule, address, size, role.site);
	if (role.kind == ARMED_WAIT)
		do_after(
			(struct armed_role){ role.site, role.rule, entered ? ARMED_LEAVE : ARMED_TOUCHED, 0 },
			address, size);
}

static void do_role(struct armed_role role, uint64_t address, size_t size)
{
	bool touches = role.kind == ARMED_WAIT || role.kind == ARMED_TOUCH;

	if (role.kind == ARMED_ENTER || touches)
		armed_doors_inside(role.rule);
	if (role.kind == ARMED_ENTER)
		unsnarl_guard_enter(role.rule, address, size);
	else if (role.kind == ARMED_AWAIT)
		unsnarl_guard_await(role.rule, address, size);
	else if (touches)
		touch(role, address, size);
	else
		do_after(role, address, size);
}

static void do_roles(uint32_t number, uint64_t address, size_t size)
{
	const struct armed_role *roles = part(armed->roles);

	for (uint32_t i = 0; i < armed->nroles; i++)
		if (roles[i].site == number)
			do_role(roles[i], address, size);
}

void armed_access(uint32_t site, uint64_t address, size_t size)
{
	uint32_t number = number_of(site);

	armed_behind();
	if (!number)
		return;
	if (!armed_data.any[number])
		unsnarl_guard_range(address, size ? size : 1, number, armed_data.shifts[number]);
	if (armed->nroles)
		do_roles(number, address, size ? size : 1);
}

void armed_forget(uint64_t address, size_t size)
{
	unsnarl_guard_fresh_stack(address, size);
}
