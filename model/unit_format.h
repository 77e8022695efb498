/* Bytes of a unit table as the compiler wrapper embeds it in an object, in the
 * section UNIT_SECTION. Little endian, padded to 16 bytes, so that the linker's
 * concatenation can be walked by `size`. Described in doc/formats.md. */
#ifndef MODEL_UNIT_FORMAT_H
#define MODEL_UNIT_FORMAT_H

#include <stdint.h>

#define UNIT_SECTION "unsnarl_units"
#define UNIT_RUNTIME_SECTION "unsnarl_runtime"
/* One of the names LLVM keeps out of the loaded image. Not .llvmbc: ar and nm would take the object for bitcode. */
#define UNIT_BITCODE_SECTION ".llvmcmd"
#define UNIT_MAGIC 0x54494e554c52534eull
#define UNIT_BITCODE_MAGIC 0x44434942554c534eull
#define UNIT_VERSION 1u

struct unit_header {
	uint64_t magic;
	uint32_t version;
	uint32_t size; /* of header, sites and strings, a multiple of 16 */
	uint64_t hash; /* of everything behind this field */
	uint32_t nsites;
	uint32_t strings; /* offset of the string pool; it ends with a NUL before `size` */
};

#define UNIT_ATOMIC 0x100u /* in `kind`: an atomic operation */

struct unit_site {
	uint64_t id;
	uint32_t line, column;
	uint32_t size;
	uint32_t function, file, variable; /* offsets into the string pool */
	uint32_t kind;                     /* enum site_kind, and UNIT_ATOMIC */
	uint32_t through;                  /* offset plus 1 of struct site's `through`; 0 none */
};

/* In UNIT_BITCODE_SECTION: the unit's bitcode before hooks, zstd-compressed. */
struct unit_bitcode {
	uint64_t magic;
	uint64_t hash; /* of the unit it belongs to */
	uint64_t size; /* compressed bytes that follow, then padding to 16 */
};

#endif
