/* Variables of the program by its debug information: which ones can be named at an address
 * of its code, where their values lie there, and what their types are made of. */
#ifndef MODEL_VARIABLES_H
#define MODEL_VARIABLES_H

#include "base/error.h"
#include "model/isolate_format.h"
#include "model/symbols.h"

enum type_kind { TYPE_INTEGER, TYPE_POINTER, TYPE_ARRAY, TYPE_RECORD, TYPE_OTHER };
struct type {
	enum type_kind kind;
	bool is_signed;
	uint32_t size;      /* bytes */
	uint64_t die;       /* where libdw finds it; 0: it has no entry, as void and results of arithmetic */
	const char *refuse; /* of TYPE_OTHER: what it is */
};

struct variables;
/* NULL when the address has no debug information. */
struct variables *variables_at(struct symbols *symbols, const char *path, uint64_t address);
void variables_free(struct variables *variables); /* NULL is fine */

/* What puts the variable's address on the stack, or its value when *is_value. */
struct variable {
	struct type type;
	bool is_value;
	uint32_t nops;
	struct isolate_op ops[ISOLATE_PLACE_OPS];
};
enum variable_known { VARIABLE_KNOWN, VARIABLE_UNKNOWN, VARIABLE_NOWHERE };
/* VARIABLE_NOWHERE: there is one, but its value is nowhere at this address, or at several places at once. */
enum variable_known variables_find(struct variables *variables, const char *name, struct variable *out);
/* What a pointer points to or an array is made of; TYPE_OTHER when that is not known. */
struct type variables_target(struct variables *variables, const struct type *type);
/* False: the record has no such member. Of a bit field the type is TYPE_OTHER. */
bool variables_member(struct variables *variables, const struct type *record, const char *name,
		      uint64_t *offset, struct type *out);

/* Is the code at the address inlined from a function of which an argument is this constant? */
bool variables_takes_constant(struct variables *variables, uint64_t value, uint64_t size);

#endif
