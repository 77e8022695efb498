/* A made-up build for tests of the guard's runtime: sites 1 to 5 and two rules. Threads are played by one, which takes
 * their numbers in turn, where order must be known. Each test program includes this once. */
#ifndef TESTS_GUARD_RUNTIME_WORLD_H
#define TESTS_GUARD_RUNTIME_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loom/guard/guard.h"

#define SITES 5u

/* Site s may come after nobody and after sites below s; site 5 after anything. */
static uint64_t rows[SITES + 1];
static const uint8_t any[SITES + 1] = { [5] = 1 };
static uint8_t traits[SITES + 1];
static const uint8_t shifts[SITES + 1] = { 0, 2, 2, 2, 2, 2 };
static uint16_t alike[SITES + 1] = { 0, 1, 2, 3, 4, 5 };
static const struct guard_name names[SITES + 1] = {
	{ 0, "-", "-", "-", "-", 0, 0 },    { 1, "read", "f", "1", "-", 1, 1 },
	{ 2, "read", "f", "2", "-", 2, 1 }, { 3, "read", "f", "3", "-", 3, 1 },
	{ 4, "read", "f", "4", "-", 4, 1 }, { 5, "read", "f", "5", "-", 5, 1 }
};
static const struct guard_rule_data rules[] = { { 2, 0, 1, 2 }, { 1, 0, 3, 4 } };
static struct guard_data data = { .nsites = SITES,
				  .nrules = 2,
				  .limit_us = 20000,
				  .words = 1,
				  .rows = rows,
				  .any = any,
				  .traits = traits,
				  .shifts = shifts,
				  .alike = alike,
				  .names = names,
				  .rules = rules };
const struct guard_data *unsnarl_guard_data = &data;

static inline void world_start(void)
{
	for (uint32_t site = 1; site <= SITES; site++)
		rows[site] = (1ull << site) - 1;
}

#endif
