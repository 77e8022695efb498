/* Arms an observed program with a guard set: its hooks are there already. */
#ifndef LOOM_ARM_H
#define LOOM_ARM_H

#include "base/error.h"
#include "model/guard_set.h"

struct arm_counts {
	uint32_t found; /* sites of the set that the program has */
};

/* Puts the set into a memory file that this process' successor inherits, and names it in the environment.
 * `log` may be NULL. */
struct error *arm_program(const char *path, const struct guard_set *set, const char *log,
			  struct arm_counts *counts);

#endif
