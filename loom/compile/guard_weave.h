/* Rooms of the guarded weaver. */
#ifndef COMPILE_GUARD_WEAVE_H
#define COMPILE_GUARD_WEAVE_H

#include "loom/compile/guard_rows.h"
#include "loom/compile/weave.h"
#include "model/guard_set.h"

/* loom/guard/inline.c as bitcode. */
extern const char guard_bitcode[], guard_bitcode_end[];

struct guarded_access {
	struct access access;
	LLVMValueRef function;
	uint32_t site; /* number in the set; 0 not in it */
	bool in_row;   /* a row's hook speaks for it */
};

struct guarded_unit {
	VEC(struct guarded_access) accesses; /* all of the unit */
	VEC(struct row_loop) loops;          /* with rows */
	/* Functions in which a rule's group is entered before a lock: left at the latest when they return. */
	VEC(struct guarded_door {
		LLVMValueRef function;
		size_t rule;
	})
	doors;
};

/* All accesses of the unit; and which of them are in the set, by number. */
void guard_unit_collect(struct weave *weave, struct guarded_unit *unit);
struct error *guard_unit_match(struct weave *weave, const struct guard_set *set, struct guarded_unit *unit);

/* Calls a hook of the guard's runtime: up to four numbers. */
void guard_call(struct weave *weave, const char *name, LLVMValueRef *arguments, unsigned n);
/* Calls a hook of loom/guard/inline.c. */
void guard_call_inlined(struct weave *weave, const char *name, LLVMValueRef *arguments, unsigned n);
/* The one for so many bytes from the beginning of a location on; NULL when there is none. */
const char *guard_inlined(uint32_t size, uint32_t grain, uint32_t number);
unsigned guard_shift(uint32_t grain); /* its logarithm */
/* The address as a number, at a multiple of the grain. */
LLVMValueRef guard_address(struct weave *weave, LLVMValueRef pointer, uint32_t grain);

/* Calls a hook of a rule; `address` NULL and `site` 0 are left out. */
void guard_call_rule(struct weave *weave, const char *name, size_t rule, LLVMValueRef address, uint64_t size,
		     uint32_t site);
uint64_t guard_rule_size(const struct access *access);
/* Puts the builder behind an access; false behind a call that may throw. */
bool guard_after(struct weave *weave, LLVMValueRef instruction);
/* guard_inline.c: brings the hooks that are inlined. */
struct error *guard_inline_link(LLVMModuleRef module);
/* guard_rules.c: hooks of the set's rules at one access; and where a function ends inside a group. */
void guard_rules_weave(struct weave *weave, const struct guarded_access *guarded);
void guard_rules_leave(struct weave *weave, const struct guarded_unit *unit);
/* guard_ahead.c: an access inside a lock is looked at before the lock is taken. */
void guard_ahead_weave(struct weave *weave, struct guarded_unit *unit);

#endif
