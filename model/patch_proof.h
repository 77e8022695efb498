/* What is known of an emergency patch: how it did in runs of the program with it and without it. */
#ifndef MODEL_PATCH_PROOF_H
#define MODEL_PATCH_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patch_proof {
	uint64_t runs;             /* of either kind, with the same random delays */
	uint64_t failed, held;     /* failed runs without the patch, and with it */
	double plain_s, patched_s; /* medians of processor time, both with hooks at every access */
};

/* It failed without, and never with the patch. */
static inline bool patch_is_proven(const struct patch_proof *proof)
{
	return proof->failed > 0 && proof->held == 0;
}

/* A patch that held, and where it lies. */
struct patch_offer {
	char *file;      /* the guard set; NULL: there is none to offer */
	size_t accesses; /* that it guards, in the program's text */
	struct patch_proof proof;
};

#endif
