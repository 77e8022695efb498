/* The guard set that `unsnarl guard FILE -- PROGRAM` hands to an observed program: one
 * memory file, made by loom/arm.c for the very program that reads it (loom/runtime/armed.c)
 * and gone with it. Offsets are from the beginning of the file. */
#ifndef LOOM_ARMED_FORMAT_H
#define LOOM_ARMED_FORMAT_H

#include <stdint.h>

#define ARMED_ENVIRONMENT "UNSNARL_ARMED" /* number of the inherited descriptor */
#define ARMED_MAGIC 0x64656d7261736e75ull
#define ARMED_SITES 4096u /* rows of bits: larger sets want a build of their own */
#define ARMED_RULES 64u
#define ARMED_DOORS 512u /* a page */

struct armed_header {
	uint64_t magic, size, hash;
	uint32_t nsites, nrules, nroles, nunits;
	uint32_t limit_us, words;
	uint32_t rows, any, traits, shifts, alike, names, rules, roles, units, strings; /* offsets */
	uint32_t ndoubted, doubted;
	uint32_t
		doors; /* offset of ARMED_DOORS doors, at a multiple of the page size; the program adds to them */
	char log[512];
};

struct armed_name { /* by site, from 0 on; texts are offsets */
	uint64_t id;
	uint32_t line, column, kind, file, function, variable;
};

enum armed_role_kind {
	ARMED_ENTER = 1,
	ARMED_LEAVE,
	ARMED_WAIT,
	ARMED_AWAIT,
	ARMED_DONE,
	ARMED_TOUCH,
	ARMED_TOUCHED
};
struct armed_role {
	uint16_t site, rule, kind, reserved;
};

struct armed_door {   /* 0: none */
	uint64_t key; /* site of the call in the process, rule + 1 */
};

struct armed_unit {
	uint64_t hash;
	uint32_t nsites;
	uint32_t numbers; /* offset of a 16-bit number for each of its sites, 0: not guarded */
};

#endif
