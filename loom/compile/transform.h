/* Rooms of the transform: from a module as clang made it to one with hooks. */
#ifndef COMPILE_TRANSFORM_H
#define COMPILE_TRANSFORM_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h> /* data layout */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "loom/compile/unit.h" /* struct transform_options */
#include "model/library_state.h"
#include "model/site.h"

/* ---- transform.c ---- */
/* Puts hooks, site table and constructor into `module`. *nsites says how many sites it got. */
struct error *transform(LLVMModuleRef module, const struct transform_options *options, uint32_t *nsites);

/* ---- guard_weave.c ---- */
/* Guards the sites of options->guard alone. *nhooks says how many hooks the unit got: with none the module is as good
 * as the one that was given, but not the same. */
struct error *guard_transform(LLVMModuleRef module, const struct transform_options *options,
			      uint32_t *nhooks);
/* Objects of another set do not link with this one. Nothing that runs changes. */
void guard_refer(LLVMModuleRef module, const struct guard_set *set);

/* ---- table.c: the unit's sites ---- */
struct table {
	VEC(struct site) sites; /* strings are interned in `pool` */
	VEC(char) pool;
	struct map strings;
};
uint32_t table_add(struct table *table,
		   const struct site *site); /* its index in the unit; copies the strings */
/* The embedded bytes (model/unit_format.h), owned by the caller. */
char *table_bytes(const struct table *table, uint32_t *size, uint64_t *hash);
void table_free(struct table *table);

/* ---- escape.c ---- */
/* True when no other thread can reach what `pointer` points to, or nobody ever writes it. */
bool escape_is_private(LLVMValueRef pointer);
bool escape_alloca(LLVMValueRef alloca_instruction); /* true when the variable may be seen by others */

/* ---- element.c ---- */
/* An element of a buffer whose neighbours lie at most `most` bytes apart. */
bool element_is(LLVMTargetDataRef layout, LLVMValueRef pointer, uint64_t most);

/* ---- source.c, variable.c: positions and names from debug information ---- */
struct source {
	LLVMModuleRef module;
	LLVMContextRef context;
	struct map composites; /* hash of a structure's name → its DICompositeType */
	const char *fallback_file;
	uint64_t unit; /* hash of the compiled file's name and folder */
};
void source_start(struct source *source, LLVMModuleRef module, const char *fallback_file);
void source_free(struct source *source);
/* Fills file, line, column, function with the innermost place in a file of the program, and
 * `through` where that is not the innermost of all; strings live in `scratch` and `through`. */
void source_position(const struct source *source, LLVMValueRef instruction, struct site *site,
		     char scratch[4096], char through[512]);
/* Of a location, the file as source_position names it; PATH is of 4096 bytes. */
void source_file(LLVMMetadataRef location, char path[4096]);
/* True for functions that stand in a header that came with the system. */
bool source_in_system_file(LLVMMetadataRef function);
/* True for functions of the C++ library's headers. */
bool source_in_library(const struct source *source, LLVMMetadataRef function);
/* With namespaces and classes, without template arguments: std::condition_variable::wait. */
void source_full_name(const struct source *source, LLVMMetadataRef function, char out[256]);
/* As source_position, but of the program's own line where `call` was inlined from the C++
 * library; `inlined` names the library function that was called there, "" for none. False
 * when nothing of the program is around `call`. */
bool source_caller(const struct source *source, LLVMValueRef call, struct site *site, char scratch[4096],
		   char inlined[256]);
/* Name of what `pointer` accesses, "" when unknown. */
void source_variable(const struct source *source, LLVMValueRef instruction, LLVMValueRef pointer,
		     char out[256]);

/* ---- library.c ---- */
/* Inlines functions of the system's headers into the program's. */
void library_inline(const struct source *source, LLVMModuleRef module);

/* ---- calls.c: library functions that touch memory ---- */
enum extent_kind {
	EXTENT_ARGUMENT = 1,
	EXTENT_PRODUCT,
	EXTENT_STRING,
	EXTENT_STRING_MOST,
	EXTENT_START, /* of a string of at most `size` characters: the call may stop before its end */
	EXTENT_REACH, /* as far as the call must look; `size` is an enum extent_reach */
	EXTENT_AS_STRING,
	EXTENT_RESULT,
	EXTENT_APPENDED,
	EXTENT_PRINTED,
	EXTENT_BLOCK,
	EXTENT_FIXED, /* `size` is no argument but the number of bytes */
};
#define LIBRARY_STATE "unsnarl_library_state" /* of the runtime: where it lies */
#define EXTENT_NO_ARGUMENT 255                /* in the place of an argument's number */
/* What a call looks for, which tells how far it must read. For each the runtime has a function (reach.c) that
 * takes the arguments of the call. */
enum extent_reach {
	REACH_CHARACTER,
	REACH_BYTE,
	REACH_SURE_BYTE,
	REACH_BLOCK,
	REACH_WORD,
	REACH_CASE_WORD,
	REACH_ANY_OF,
	REACH_NONE_OF,
	REACH_DIFFERENCE,
	REACH_DIFFERENCE_MOST,
	REACH_CASE_DIFFERENCE,
	REACH_CASE_DIFFERENCE_MOST,
	REACH_DECIMAL,
	REACH_NUMBER,
	REACH_REAL,
};
struct extent {
	enum site_kind access; /* SITE_READ or SITE_WRITE, 0 ends a list */
	uint8_t pointer;       /* argument; none: what libc keeps, `second` says what */
	enum extent_kind kind;
	uint8_t size, second; /* arguments that give the size */
};
#define CALL_EXTENTS 3u
struct known_call {
	const char *name;
	struct extent extents[CALL_EXTENTS];
};
const struct known_call *calls_find(LLVMValueRef call); /* NULL for all others */

/* ---- formats.c: what calls of the printf family read ---- */
#define CALL_STRINGS 32u
uint32_t calls_strings(LLVMValueRef call); /* bits by argument: strings that it reads */
const struct extent *calls_string(unsigned argument);

/* ---- syncs.c: library functions that synchronise ---- */
/* What a person calls the synchronisation function that `callee` is, in `out`; false for all others. */
bool syncs_find(LLVMValueRef callee, char out[256]);

/* ---- loops.c: natural loops of a function ---- */
struct loop {
	uint32_t header; /* block number */
	int32_t parent;  /* innermost enclosing loop, -1 = none */
	bool hooked;     /* its body may run hooks */
	bool waits;      /* it is left on nothing but what it loads or is told */
};
struct loops {
	LLVMBasicBlockRef *blocks;
	uint32_t nblocks;
	struct map numbers; /* block → number */
	int32_t *inner;     /* innermost loop of each block, -1 = none */
	struct loop *items;
	uint32_t n;
};
void loops_find(LLVMValueRef function, struct loops *out);
bool loops_contain(const struct loops *loops, int32_t loop, uint32_t block);
void loops_free(struct loops *loops);

#endif
