/* Emergency patches on the terminal and as JSON: what a patch does, how it did in runs, what it costs. */
#ifndef REPORT_PATCH_VIEW_H
#define REPORT_PATCH_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "model/guard_set.h"
#include "model/patch_proof.h"

/* What the rules of a patch do, where it lies, and how it did if it was tried (`proof->runs`). */
void patch_print(const struct guard_set *set, const char *file, const struct patch_proof *proof);
/* The line of a diagnosis that offers it; nothing when there is none. */
void patch_offer_print(const struct patch_offer *offer, FILE *out);
json_t *patch_offer_json(const struct patch_offer *offer); /* null when there is none */
json_t *patch_proof_json(const struct patch_proof *proof);

#endif
