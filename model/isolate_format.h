/* What isolate and the binary loom say to each other: a memory file that every run inherits. unsnarl writes
 * what is to be suppressed; the tool (loom/grind/define.h) writes where the run failed, what it used
 * there and who had defined that. Plain C types only. */
#ifndef MODEL_ISOLATE_FORMAT_H
#define MODEL_ISOLATE_FORMAT_H

#include <stdint.h>

#define ISOLATE_ENVIRONMENT "UNSNARL_ISOLATE" /* number of the inherited descriptor */
#define ISOLATE_MAGIC 0x74616c6f73696eull
#define ISOLATE_MODULES 64u
#define ISOLATE_PATH 512u
#define ISOLATE_PLANNED 64u
#define ISOLATE_USES 4u
#define ISOLATE_HOPS 16u
#define ISOLATE_READS 96u
#define ISOLATE_WATCHED 32u
#define ISOLATE_CALLERS 2u
#define ISOLATE_CODE 1024u
#define ISOLATE_PLACE_OPS 16u
#define ISOLATE_LED 65536u
#define ISOLATE_CLUES 16u

/* What is watched, as a program for a machine with a stack of 64-bit words. */
enum isolate_operation {
	OP_CONSTANT,        /* pushes the value */
	OP_FILE_ADDRESS,    /* pushes the value as an address in the file, where that is mapped */
	OP_REGISTER,        /* pushes the register of that DWARF number; size says how much of it counts */
	OP_ADD_TO_REGISTER, /* pushes the register `size` and the value: an address in a frame */
	OP_LOAD,            /* of so many bytes from the address on top */
	OP_CUT,             /* to so many bytes */
	OP_NEGATE,
	OP_COMPLEMENT,
	OP_NOT,
	OP_MULTIPLY, /* from here on with two operands */
	OP_DIVIDE,
	OP_REST,
	OP_ADD,
	OP_SUBTRACT,
	OP_SHIFT_LEFT,
	OP_SHIFT_RIGHT,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_EQUAL,
	OP_UNEQUAL,
	OP_AND,
	OP_EXCLUSIVE,
	OP_OR,
	OP_UNLESS_ZERO, /* pops and goes on; where it is zero, leaves 0 and leaves out `value` operations */
	OP_IF_ZERO,     /* pops and goes on; where it is not, leaves 1 and leaves out `value` operations */
	OP_TRUTH,       /* 0 or 1 */
};
struct isolate_op {
	uint32_t operation, size; /* bytes; with OP_SIGNED */
	uint64_t value;
};
#define OP_SIGNED 0x100u
struct isolate_point {
	uint64_t at; /* address in the file of an instruction, before which it is evaluated */
	uint32_t first, count;
};

struct isolate_place {
	uint64_t address; /* in the file; 0: not known */
	uint64_t led;     /* of code of a header: the program's call that led there; 0: not known */
	uint16_t module;
	uint16_t around; /* 1: where the function is called that was inlined there */
	uint32_t own;    /* 1: an instruction of the program; 0: the program's call that led to it */
};

enum isolate_definer {
	DEFINED_NOT,       /* never written since the program began */
	DEFINED_STORE,     /* by an instruction */
	DEFINED_KERNEL,    /* by a system call */
	DEFINED_ALLOCATED, /* not written since it was allocated */
	DEFINED_FREED,     /* not written since it was freed */
	DEFINED_FRAME,     /* on a stack, not written since the function was entered */
	DEFINED_CLEARED,   /* not written since it was allocated as zeros */
	DEFINED_LEFT, /* in the frame of a function that had returned, by a pointer to it that was kept */
	DEFINED_LOST, /* so long ago that it is not known any more */
};

/* An instance of a definition. Thread, key, definer and instance name it in every run that begins alike. */
struct isolate_definition {
	struct isolate_place place;
	uint64_t key; /* the instruction's address, or the call's */
	uint64_t instance;
	uint64_t address, size, value;
	uint64_t order; /* accesses of its thread so far */
	uint64_t when;  /* number among the definitions of the run */
	uint32_t thread, definer;
	/* Of a value that comes from nothing in memory: the instruction that made it, or, as far as a function was given
	 * it, the call of that function. */
	struct isolate_place given;
	struct isolate_place
		callers[ISOLATE_CALLERS]; /* of a free: the calls that led to it, from inside out */
};

/* A branch that went by a value: its thread's so many-th one, from 1. */
struct isolate_branch {
	struct isolate_place place;
	uint64_t number; /* 0: none */
	uint32_t thread, reserved;
};

/* A location that was used, and who had defined it when it was read. */
struct isolate_hop {
	struct isolate_place place; /* of the read */
	struct isolate_place index; /* of the read of what said where, unless that was a pointer to it */
	uint64_t address, size, value, order;
	uint32_t thread;
	uint32_t
		copied; /* the definition only passed on what the next hop's read had read; else it computed with it */
	uint32_t lost;    /* what was read was overwritten since, and nobody knows the value any more */
	uint32_t points;  /* the value is the address of memory of the program */
	uint32_t parts;   /* the definition wrote only a part of what was read: nobody wrote it as a whole */
	uint32_t indexed; /* something that is no pointer to the location said where to read */
	uint32_t reached; /* by a pointer that was read from memory outside of frames */
	uint32_t strewn;  /* the definition wrote where an index said, or walked over memory */
	uint32_t placed;  /* the next hop's read said where to read, not what the value was */
	uint32_t
		misread; /* an index led to what was not meant: a part of a pointer, or what others had written */
	/* The branch that looked last at the value, and at what had said where the definition wrote. */
	struct isolate_branch value_check, where_check;
	struct isolate_definition definition;
};

/* A store, in a run, behind which memory is set to zeros. */
#define ISOLATE_RANGES 8u
struct isolate_renewal {
	uint64_t key, instance; /* 0: none */
	struct {
		uint64_t address, size;
	} ranges[ISOLATE_RANGES];
	uint32_t thread, n;
};

enum isolate_kind {
	FAILED_NOT,
	FAILED_ACCESS,   /* by an address that is no memory */
	FAILED_JUMP,     /* to an address that is no code */
	FAILED_VALUE,    /* an operand that the processor refuses */
	FAILED_BRANCH,   /* a check of the program, or of libc for it, was not passed */
	FAILED_DEAD,     /* use of a block that was freed */
	FAILED_BEYOND,   /* use of memory beside a block */
	FAILED_FREE,     /* a block was freed that is none any more */
	FAILED_HANG,     /* a thread goes round and round, or all wait */
	FAILED_WATCH,    /* the place that the user watches was reached */
	FAILED_STACK,    /* the stack was used up */
	FAILED_CALL,     /* a function of a library, called through a pointer in memory, ended the program */
	FAILED_NO_BLOCK, /* a pointer was freed that no block has ever begun at */
};

struct isolate_use {
	uint32_t nhops, reserved;
	struct isolate_hop hops[ISOLATE_HOPS]; /* from the failure back */
};

/* A read that the failure depends on, however far back. */
enum isolate_dependence {
	READ_USED,    /* by what failed itself */
	READ_VALUE,   /* a value was copied or computed from it */
	READ_ADDRESS, /* it said where a value was read */
	READ_CONTROL, /* a branch before the failure went by it */
	READ_DECIDED, /* a branch of another thread did, before that wrote what a value came from */
};
struct isolate_read {
	struct isolate_place place;
	uint64_t address, size;
	uint64_t order; /* accesses of its thread so far, with this one */
	uint32_t thread, dependence;
	uint32_t distance; /* steps from the failure */
	uint32_t write;    /* 1: of a block that was freed: it was written, or freed again */
};

/* What the failure hangs on beside the values that it used. */
enum isolate_clue_kind {
	CLUE_CUT,     /* a value lost bits: `full` became `value` */
	CLUE_DROPPED, /* a count that decided for a free was lowered, from `full` to `value` */
	CLUE_CALL,    /* of the function that freed, or used what was freed */
	CLUE_SIZE,    /* what said how large the block is was read, or written */
	CLUE_LENGTH,  /* what said how much a function of a library was to do */
	CLUE_SETUP,   /* memory that had been used before was given to something new */
	CLUE_RECURSION, /* calls were made from here again and again, each in the one before, until the stack ended */
	CLUE_GUARD,  /* a branch that might have ended these, by what each round wrote anew */
	CLUE_UNDONE, /* that write, or one beside it */
};
struct isolate_clue {
	struct isolate_place place;
	struct isolate_place call; /* of the function that it stands in; no address: not known */
	uint64_t value, full;
	uint32_t thread, kind;
	uint32_t write, size; /* size: bytes that were kept of it */
};

struct isolate_failure {
	uint32_t kind, thread, nuses, write;
	struct isolate_place place;
	uint64_t address, size; /* that were accessed, or jumped to */
	uint64_t branch, taken; /* FAILED_BRANCH: the branch and where it went */
	struct isolate_use uses[ISOLATE_USES];
	struct isolate_read reads[ISOLATE_READS]; /* the nearest first */
	uint32_t nreads, reserved;
	/* Of a block that was freed: the reads of the pointer by which it was used, and of the one by which it was
	 * freed, where these lay outside of frames. No size: not known. */
	struct isolate_hop kept, freed_by;
	/* Of memory in a block that nobody had written: the call of a copy that ended before it, and the read of the number
	 * of bytes. */
	struct isolate_place copied;
	struct isolate_use length;
	struct isolate_place made; /* of memory beside a block: the call that allocated the block */
	/* Where the value that failed came from no memory, a constant say: the call of the function that failed. */
	struct isolate_place caller;
	struct isolate_clue clues[ISOLATE_CLUES];
	uint32_t nclues;
	/* Memory that was taken anew and not set as a whole: the store of its new owner, and what it left as it was. */
	uint32_t renewed; /* 1: there is such a one */
	struct isolate_renewal renewal;
};

/* A traced access of code that a header brought into the program: the program's call that led there. */
struct isolate_led {
	struct isolate_place place;
	uint64_t order; /* accesses of its thread so far, with this one */
	uint32_t thread, reserved;
};

struct isolate_planned {
	uint64_t key, instance, last; /* from the one instance to the other */
	uint32_t thread, definer;
};
struct isolate_avoided {
	uint64_t branch, taken;
};

struct isolate_area {
	uint64_t magic;
	uint32_t nplanned, navoided;
	/* The value that the user watches: read or written at this line last, or at this address. */
	uint64_t watched_address; /* 0: none */
	uint32_t nwatched, reserved_too;
	struct {
		uint64_t from, to;
	} watched[ISOLATE_WATCHED]; /* code of the line, by addresses in the file */
	/* An expression, evaluated at points of the line. */
	uint32_t npoints;
	uint32_t
		is_condition; /* what counts is the first time that it holds, else the last time that it has a value */
	struct isolate_point points[ISOLATE_WATCHED];
	struct isolate_op code[ISOLATE_CODE];
	uint64_t quiet_most; /* so many reads without a write to be seen are a hang; 0: no limit */
	uint64_t longest_ms; /* a run that goes on for so long is ended as a hang; 0: no limit */
	struct isolate_planned planned[ISOLATE_PLANNED];
	struct isolate_avoided avoided[ISOLATE_PLANNED];
	struct isolate_branch other_way; /* this branch goes the other way */
	struct isolate_renewal clear;
	/* Files that places are in: the numbers are the same in all runs. */
	uint32_t nmodules, reserved;
	char modules[ISOLATE_MODULES][ISOLATE_PATH];
	/* From here on written anew in every run. */
	uint64_t
		met; /* how many planned instances were reached, also of a branch that is to go the other way */
	uint64_t stores, loads, branches, calls, system_calls; /* that were not executed */
	uint64_t too_long;                                     /* 1: it was ended because of longest_ms */
	struct isolate_failure failure;
	uint64_t nled;                       /* so many there were */
	struct isolate_led led[ISOLATE_LED]; /* the last ones, a ring */
};

#endif
