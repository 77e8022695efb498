/* Looks variables up with libdw. Where a value lies is translated from DWARF's operations into
 * those of model/isolate_format.h; what has no translation is nowhere.
 */
#include "model/variables.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/dwarf_unit.h"

struct variables {
	Dwarf *debug;
	Dwfl_Module *module;
	Dwarf_Die unit;
	Dwarf_Die *scopes; /* from inside out */
	int nscopes;
	Dwarf_Addr address; /* as libdw counts */
	Dwarf_Addr bias;    /* from addresses in the file to those */
	Dwarf_CFI *frames[2];
};

struct variables *variables_at(struct symbols *symbols, const char *path, uint64_t address)
{
	Dwfl_Module *module = symbols_module(symbols, path);
	GElf_Addr moved = 0;
	Dwarf_Addr bias, none;

	if (!module || !dwfl_module_getelf(module, &moved))
		return NULL;
	Dwarf_Die *unit = dwarf_unit_at(module, address + moved, &bias);

	if (!unit)
		return NULL;
	struct variables *variables = memory_alloc(sizeof *variables);

	*variables = (struct variables){ .debug = dwfl_module_getdwarf(module, &none),
					 .unit = *unit,
					 .module = module,
					 .address = address + moved - bias,
					 .bias = moved - bias };
	variables->frames[0] = dwfl_module_eh_cfi(module, &none);
	variables->frames[1] = dwfl_module_dwarf_cfi(module, &none);
	variables->nscopes = dwarf_getscopes(unit, variables->address, &variables->scopes);
	return variables;
}

void variables_free(struct variables *variables)
{
	if (!variables)
		return;
	free(variables->scopes);
	free(variables);
}

/* ---- types ---- */

static struct type other(const char *what)
{
	return (struct type){ .kind = TYPE_OTHER, .refuse = what };
}

static struct type base_type(Dwarf_Die *die, uint32_t size)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_encoding, &attribute), &encoding) != 0 ||
	    encoding == DW_ATE_float || encoding == DW_ATE_complex_float || size > 8)
		return other("a floating-point number");
	return (struct type){ .kind = TYPE_INTEGER,
			      .is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char,
			      .size = size };
}

static struct type type_of(Dwarf_Die *die)
{
	Dwarf_Die peeled;
	Dwarf_Word size = 0;
	struct type type;

	if (dwarf_peel_type(die, &peeled) != 0)
		return other("of a type that is not known");
	int tag = dwarf_tag(&peeled);
	bool sized = dwarf_aggregate_size(&peeled, &size) == 0;

	if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
		type = (struct type){ .kind = TYPE_POINTER, .size = 8 };
	else if (tag == DW_TAG_array_type)
		type = (struct type){ .kind = TYPE_ARRAY, .size = (uint32_t)size };
	else if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type)
		type = (struct type){ .kind = TYPE_RECORD, .size = (uint32_t)size };
	else if (tag == DW_TAG_enumeration_type && sized)
		type = (struct type){ .kind = TYPE_INTEGER, .is_signed = size < 8, .size = (uint32_t)size };
	else if (tag == DW_TAG_base_type && sized)
		type = base_type(&peeled, (uint32_t)size);
	else
		type = other("neither a number nor a pointer nor a structure");
	type.die = dwarf_dieoffset(&peeled);
	return type;
}

static struct type type_named_in(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type))
		return other("of no type");
	return type_of(&type);
}

struct type variables_target(struct variables *variables, const struct type *type)
{
	Dwarf_Die die;

	if (!type->die || !dwarf_offdie(variables->debug, type->die, &die))
		return other("of no type");
	return type_named_in(&die);
}

static bool member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at = 0;

	*offset = 0;
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute))
		return true; /* of a union */
	if (dwarf_formudata(&attribute, &at) != 0)
		return false;
	*offset = at;
	return true;
}

static bool is_bit_field(Dwarf_Die *member)
{
	return dwarf_hasattr(member, DW_AT_bit_size);
}

/* Members of unnamed structures and of base classes are members as well. */
static bool find_member(Dwarf_Die *record, const char *name, uint64_t *offset, struct type *out, int depth)
{
	Dwarf_Die child, type;
	Dwarf_Attribute attribute;

	if (depth > 8 || dwarf_child(record, &child) != 0)
		return false;
	do {
		const char *called = dwarf_diename(&child);
		int tag = dwarf_tag(&child);
		bool inner = tag == DW_TAG_inheritance || (tag == DW_TAG_member && !called);
		uint64_t at, deeper;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !member_offset(&child, &at))
			continue;
		if (called && !strcmp(called, name)) {
			*offset = at;
			*out = is_bit_field(&child) ? other("a bit field") : type_named_in(&child);
			return true;
		}
		if (inner && dwarf_formref_die(dwarf_attr_integrate(&child, DW_AT_type, &attribute), &type) &&
		    dwarf_peel_type(&type, &type) == 0 && find_member(&type, name, &deeper, out, depth + 1)) {
			*offset = at + deeper;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool variables_member(struct variables *variables, const struct type *record, const char *name,
		      uint64_t *offset, struct type *out)
{
	Dwarf_Die die;

	return record->die && dwarf_offdie(variables->debug, record->die, &die) &&
	       find_member(&die, name, offset, out, 0);
}

/* ---- where values lie ---- */

static void put(struct variable *out, uint32_t operation, uint32_t size, uint64_t value)
{
	if (out->nops < ISOLATE_PLACE_OPS)
		out->ops[out->nops] =
			(struct isolate_op){ .operation = operation, .size = size, .value = value };
	out->nops++;
}

static bool translate(struct variables *variables, Dwarf_Attribute *of, const Dwarf_Op *ops, size_t n,
		      struct variable *out);

static bool translate_frame(struct variables *variables, struct variable *out)
{
	for (int i = 0; i < 2; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t n;
		bool done = false;

		if (!variables->frames[i] ||
		    dwarf_cfi_addrframe(variables->frames[i], variables->address, &frame) != 0)
			continue;
		if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n)
			done = translate(variables, NULL, ops, n, out);
		free(frame);
		if (done)
			return true;
	}
	return false;
}

struct sought {
	Dwarf_Addr address;
	Dwarf_Die found;
	bool is_found;
};

static int take_function(Dwarf_Die *function, void *data)
{
	struct sought *sought = data;

	if (dwarf_haspc(function, sought->address) <= 0)
		return DWARF_CB_OK;
	sought->found = *function;
	sought->is_found = true;
	return DWARF_CB_ABORT;
}

/* Of the function whose frame it is: not one that was inlined there. */
static bool translate_base(struct variables *variables, struct variable *out)
{
	struct sought sought = { .address = variables->address };
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	dwarf_getfuncs(&variables->unit, take_function, &sought, 0);
	if (!sought.is_found || !dwarf_attr_integrate(&sought.found, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, variables->address, &ops, &n, 1) != 1)
		return false;
	/* A register as frame base holds the address. */
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15) {
		put(out, OP_ADD_TO_REGISTER, ops[0].atom - DW_OP_reg0, 0);
		return true;
	}
	return translate(variables, &attribute, ops, n, out);
}

/* An address that is kept in a table of its own. */
static bool translate_listed(struct variables *variables, Dwarf_Attribute *of, const Dwarf_Op *op,
			     struct variable *out)
{
	Dwarf_Attribute listed;
	Dwarf_Addr address;

	if (!of || dwarf_getlocation_attr(of, op, &listed) != 0 || dwarf_formaddr(&listed, &address) != 0)
		return false;
	put(out, OP_FILE_ADDRESS, 0, address - variables->bias);
	return true;
}

static bool translate_one(struct variables *variables, Dwarf_Attribute *of, const Dwarf_Op *op,
			  struct variable *out)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		put(out, OP_CONSTANT, 0, atom - DW_OP_lit0);
	else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		put(out, OP_CONSTANT, 0, op->number);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg15)
		put(out, OP_ADD_TO_REGISTER, atom - DW_OP_breg0, op->number);
	else if (atom == DW_OP_bregx)
		put(out, OP_ADD_TO_REGISTER, (uint32_t)op->number, op->number2);
	else if (atom == DW_OP_addr)
		put(out, OP_FILE_ADDRESS, 0, op->number - variables->bias);
	else if (atom == DW_OP_addrx)
		return translate_listed(variables, of, op, out);
	else if (atom == DW_OP_deref)
		put(out, OP_LOAD, 8, 0);
	else if (atom == DW_OP_plus_uconst) {
		put(out, OP_CONSTANT, 0, op->number);
		put(out, OP_ADD, 8, 0);
	} else if (atom == DW_OP_plus || atom == DW_OP_minus || atom == DW_OP_mul)
		put(out, atom == DW_OP_plus ? OP_ADD : atom == DW_OP_mul ? OP_MULTIPLY : OP_SUBTRACT, 8, 0);
	else if (atom == DW_OP_call_frame_cfa)
		return translate_frame(variables, out);
	else if (atom == DW_OP_fbreg) {
		if (!translate_base(variables, out))
			return false;
		put(out, OP_CONSTANT, 0, op->number);
		put(out, OP_ADD, 8, 0);
	} else
		return false;
	return true;
}

/* `of` is the attribute whose operations they are; NULL: they tell of a frame. */
static bool translate(struct variables *variables, Dwarf_Attribute *of, const Dwarf_Op *ops, size_t n,
		      struct variable *out)
{
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n;

		if (last && ops[i].atom == DW_OP_stack_value) {
			out->is_value = true;
		} else if (n == 1 && ops[i].atom >= DW_OP_reg0 && ops[i].atom <= DW_OP_reg15) {
			out->is_value = true;
			put(out, OP_REGISTER, 8, ops[i].atom - DW_OP_reg0);
		} else if (!translate_one(variables, of, &ops[i], out)) {
			return false;
		}
	}
	return out->nops > 0 && out->nops <= ISOLATE_PLACE_OPS;
}

static bool locate(struct variables *variables, Dwarf_Die *die, struct variable *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	Dwarf_Word constant;
	Dwarf_Sword signed_constant;
	size_t n;

	if (dwarf_attr_integrate(die, DW_AT_const_value, &attribute)) {
		out->is_value = true;
		if (dwarf_formsdata(&attribute, &signed_constant) == 0)
			constant = (Dwarf_Word)signed_constant;
		else if (dwarf_formudata(&attribute, &constant) != 0)
			return false;
		put(out, OP_CONSTANT, 0, constant);
		return true;
	}
	return dwarf_attr_integrate(die, DW_AT_location, &attribute) &&
	       dwarf_getlocation_addr(&attribute, variables->address, &ops, &n, 1) == 1 && n &&
	       translate(variables, &attribute, ops, n, out);
}

/* A definition in another file of the program, else NULL. */
static Dwarf_Die *find_global(struct variables *variables, const char *name, Dwarf_Die *out)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(variables->module, unit, &bias))) {
		Dwarf_Die child;

		if (dwarf_child(unit, &child) != 0)
			continue;
		do {
			const char *called =
				dwarf_tag(&child) == DW_TAG_variable ? dwarf_diename(&child) : NULL;

			if (called && !strcmp(called, name) && dwarf_hasattr(&child, DW_AT_external) &&
			    dwarf_hasattr(&child, DW_AT_location)) {
				*out = child;
				return out;
			}
		} while (dwarf_siblingof(&child, &child) == 0);
	}
	return NULL;
}

enum variable_known variables_find(struct variables *variables, const char *name, struct variable *out)
{
	Dwarf_Die found, elsewhere;
	int scope = variables->nscopes > 0 ? dwarf_getscopevar(variables->scopes, variables->nscopes, name, 0,
							       NULL, 0, 0, &found)
					   : -1;

	*out = (struct variable){ 0 };
	if ((scope < 0 || dwarf_hasattr(&found, DW_AT_declaration)) &&
	    find_global(variables, name, &elsewhere)) {
		found = elsewhere;
		scope = 0;
	}
	if (scope < 0)
		return VARIABLE_UNKNOWN;
	out->type = type_named_in(&found);
	return locate(variables, &found, out) ? VARIABLE_KNOWN : VARIABLE_NOWHERE;
}

/* ---- constant arguments ---- */

static bool is_constant(const Dwarf_Op *ops, size_t n, uint64_t value, uint64_t mask)
{
	if (n != 2 || ops[1].atom != DW_OP_stack_value)
		return false;
	if (ops[0].atom >= DW_OP_lit0 && ops[0].atom <= DW_OP_lit31)
		return (uint64_t)(ops[0].atom - DW_OP_lit0) == (value & mask);
	return ops[0].atom >= DW_OP_const1u && ops[0].atom <= DW_OP_consts &&
	       (ops[0].number & mask) == (value & mask);
}

static bool has_value(const struct variables *variables, Dwarf_Die *parameter, uint64_t value, uint64_t mask)
{
	Dwarf_Attribute attribute;
	Dwarf_Word constant;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(parameter, DW_AT_const_value, &attribute))
		return dwarf_formudata(&attribute, &constant) == 0 && (constant & mask) == (value & mask);
	return dwarf_attr(parameter, DW_AT_location, &attribute) &&
	       dwarf_getlocation_addr(&attribute, variables->address, &ops, &n, 1) == 1 &&
	       is_constant(ops, n, value, mask);
}

bool variables_takes_constant(struct variables *variables, uint64_t value, uint64_t size)
{
	uint64_t mask = size < 8 ? (1ull << 8 * size) - 1 : ~0ull;
	Dwarf_Die child;
	int i = 0;

	while (i < variables->nscopes && dwarf_tag(&variables->scopes[i]) != DW_TAG_inlined_subroutine)
		i++;
	if (i == variables->nscopes || dwarf_child(&variables->scopes[i], &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter && has_value(variables, &child, value, mask))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}
