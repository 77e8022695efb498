/* Sites: static memory accesses, synchronisation calls and loop headers. A unit
 * is one compiled source file; its site table is embedded in the object
 * (format: doc/formats.md, "Unit table"). A site of a program is named by its
 * unit's hash and its index there; both are stable for the same source. */
#ifndef MODEL_SITE_H
#define MODEL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum site_kind {
	SITE_READ = 1,
	SITE_WRITE = 2,
	SITE_UPDATE = 3,     /* atomic read-modify-write: a read, then a write */
	SITE_LOOP = 4,       /* header of a loop that holds hooked accesses */
	SITE_SYNC = 5,       /* call of a synchronisation function; its name is the variable */
	SITE_ALLOCATION = 6, /* call of an allocator; its name is the variable */
};

struct site {
	uint64_t id; /* stable over builds of the same source */
	enum site_kind kind;
	bool atomic;   /* an atomic operation: it says to others how far this thread is */
	uint32_t size; /* bytes; 0 when it differs from call to call */
	uint32_t line, column;
	/* Never NULL, may be "". Without debug information (line 0) function and file are "name+0x12": the function
	 * and how far into it, or the module. */
	const char *function, *file, *variable;
	/* For an access inlined from a system header: what the program called at that line, and where
	 * in the header it is: "std::vector::push_back at stl_vector.h:1285:9". NULL or "" else. */
	const char *through;
};

struct unit {
	uint64_t hash;
	uint32_t nsites;
	struct site *sites;
	void *table; /* owned copy of the embedded table, the strings live here */
	size_t table_size;
};

/* Parses one embedded table (hostile input: bounds are checked). Copies it. */
struct error *unit_parse(const void *table, size_t size, struct unit *out);
void unit_free(struct unit *unit);

/* Every unit embedded in an ELF file, in section order. *out is an array of *n
 * units owned by the caller; n = 0 for a file without hooks. */
struct error *unit_read_elf(const char *path, struct unit **out, size_t *n);

/* The name in `through`, without the place; for printf's "%.*s". 0 when it was not inlined. */
int site_through_length(const char *through);

bool site_frees(const struct site *site); /* the access is that a block is freed */

const char *site_kind_name(enum site_kind kind); /* "read", "write", "update", "loop", "sync" */

#endif
