/* Slices: the part of a program that matters to a candidate (COLFINDER, section 3.5). */
#ifndef STATIC_SLICER_H
#define STATIC_SLICER_H

#include "static/scanner.h"

/* A write that some read may see. */
struct writer {
	uint32_t instruction, offset, size; /* size 0 = not known */
};

struct need {
	uint32_t offset, size;
};

struct slicer {
	struct whole *whole;
	struct points *points;
	const struct threads *threads;
	bool output;   /* what the program prints matters */
	bool meeting;  /* only whether threads come to the criterion at a time matters */
	bool *kept;    /* by instruction */
	bool *touched; /* by instruction: an access of which only the address is kept */
	bool *criterion;
	VEC(uint32_t) todo;
	VEC(uint32_t) unknown_writers; /* through pointers of which nothing is known */
	bool unknown_needed;
	VEC(struct writer) * writers; /* by object */
	VEC(struct need) * needs;     /* by object: what is read of it */
	bool *all_of;                 /* by object: every write to it is kept */
	struct control *controls;     /* by function, made when asked */
	bool *entered;                /* by function: something in it is kept */
};

/* Decides what is kept for options->sites, the criterion. */
void slicer_start(struct slicer *slicer, struct scanner *scanner, const struct build_options *options);
/* Takes the rest out of the module; instructions that are gone are NULL in the whole. */
void slicer_cut(struct slicer *slicer);
/* Which lines were kept. */
void slicer_report(const struct slicer *slicer, struct slice_report *out);
void slicer_free(struct slicer *slicer);

/* For the rooms of the slicer. */
void slicer_keep(struct slicer *slicer, uint32_t instruction);
/* slice_uses.c: keeps what follows a value as an address. */
void slicer_keep_uses(struct slicer *slicer, LLVMValueRef read);

/* slice_calls.c: what a call without a body means to a slice. */
enum call_weight {
	CALL_KEPT,      /* it does something to the world, to threads or to locks */
	CALL_PRINTS,    /* it only prints */
	CALL_ON_DEMAND, /* it matters only when what it returns or writes does */
};
enum call_weight slicer_weigh(const struct slicer *slicer, LLVMValueRef call);

#endif
