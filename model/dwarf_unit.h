/* What both readers of debug information (symbols.c, variables.c) need of libdw. */
#ifndef MODEL_DWARF_UNIT_H
#define MODEL_DWARF_UNIT_H

#include <elfutils/libdwfl.h>

/* The unit that holds the address; without a table of address ranges, as clang leaves it out, by asking each. */
static inline Dwarf_Die *dwarf_unit_at(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) == 1)
			return unit;
	return NULL;
}

#endif
