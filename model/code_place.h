/* Code places: sites of programs that were observed as they are. A place is an access
 * or a call of one instruction, named by the file that holds it and its address
 * there as the linker gave it. Plain C types only: the binary loom's tool has
 * nothing but its own library. */
#ifndef MODEL_CODE_PLACE_H
#define MODEL_CODE_PLACE_H

#include <stdint.h>

#include "model/site.h"

#define PLACE_ATOMIC 0x100u /* in `kind` */
#define PLACE_AROUND \
	0x200u /* likewise: where the function is called that was inlined there; no line: it is none */

struct code_place {
	uint64_t address;  /* in the file */
	uint64_t variable; /* address in the file of what it always touches; 0 = it varies */
	uint32_t kind;     /* enum site_kind, and PLACE_ATOMIC */
	uint32_t size;     /* bytes, 0 = varies */
};

/* What is called, or nothing, may end with this and a hexadecimal address of the file: that of the program's own call
 * which led to a function that a header of the C++ library brought. */
#define CODE_PLACE_LED '@'

static inline uint64_t code_place_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9fb21c651e98df25u;
	return hash ^ hash >> 29;
}

static inline uint64_t code_place_mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = code_place_mix(hash, (unsigned char)*text);
	return hash;
}

/* The id of the site (struct site): `module` is the name of the file without folders, `what` the function that is
 * called, "" for accesses. */
static inline uint64_t code_place_id(const char *module, const struct code_place *place, const char *what)
{
	uint64_t hash = code_place_mix_text(0xcbf29ce484222325u, module);

	hash = code_place_mix(code_place_mix(hash, place->address), place->kind);
	return code_place_mix_text(hash, what);
}

#endif
