/* The emergency patch that unsnarl diagnose offers: made of the proven cause, tried on the
 * program, and only told when it held. */
#ifndef CMDS_DIAGNOSE_PATCH_H
#define CMDS_DIAGNOSE_PATCH_H

#include "diagnose/diagnosis.h"
#include "loom/launch.h"
#include "model/patch_proof.h"

/* Makes the patch, proves it by runs with and without it for a few seconds, and leaves it in the store's folder. The
 * launch options say what runs and how it is judged. *out, whose file the caller frees, stays empty when there is no
 * patch or it does not hold. */
struct error *diagnose_patch(const struct diagnosis *diagnosis, const struct launch_options *launch,
			     const char *store, struct patch_offer *out);

#endif
