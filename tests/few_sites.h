/* The sites of a program of a few lines, for tests of what is made of traces: the site that is added as the i-th, from
 * 0, has the number i, the id i + 1 and a line of its own. */
#ifndef TESTS_FEW_SITES_H
#define TESTS_FEW_SITES_H

#include "model/atlas.h"

#define FEW_SITES 16u

static char few_name[] = "program.c";
static struct site sites[FEW_SITES];
static const struct site *numbered[FEW_SITES];
static struct unit unit = { .sites = sites };
static struct atlas atlas = { .units = &unit, .nunits = 1, .numbered = numbered };

static inline void add_named_site(enum site_kind kind, char *function, char *variable)
{
	uint32_t number = unit.nsites++;

	sites[number] = (struct site){ .id = number + 1,
				       .kind = kind,
				       .line = 10 * (number + 1),
				       .file = few_name,
				       .function = function,
				       .variable = variable,
				       .through = few_name };
	numbered[number] = &sites[number];
	atlas.nnumbered = unit.nsites;
}

static inline void add_site(enum site_kind kind)
{
	add_named_site(kind, few_name, few_name);
}

#endif
