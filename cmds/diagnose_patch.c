/* Makes the emergency patch of a proven cause and tries it.
 */
#include "cmds/diagnose_patch.h"

#include <sys/stat.h>
#include <time.h>

#include "cmds/cmds.h"
#include "diagnose/patch.h"

#define PROVING_S 4     /* at most, about, unless --budget says that time is no limit */
#define JITTER_US 1000u /* as unsnarl guard --only */

static time_t proving_until; /* 0: no limit */

static bool stop(void)
{
	return cmds_interrupted() || (proving_until && time(NULL) >= proving_until);
}

/* Is the store a folder, where a file can be left? */
static bool is_folder(const char *store)
{
	struct stat status;

	return stat(store, &status) == 0 && S_ISDIR(status.st_mode);
}

struct error *diagnose_patch(const struct diagnosis *diagnosis, const struct launch_options *launch,
			     const char *store, struct patch_offer *out)
{
	_cleanup_(guard_set_free) struct guard_set set = { 0 };
	struct patch_proof proof;

	if (launch->loom != LOOM_COMPILED || !diagnosis->causes.n || cmds_interrupted() ||
	    !is_folder(store) ||
	    diagnosis->causes.items[0].verdict < VERDICT_LIKELY) /* the patch has a proof of its own */
		return NULL;
	struct error *error = patch_make(diagnosis->causes.items[0].finding, launch->path, &set);

	if (error) { /* of this cause none can be made */
		error_free(error);
		return NULL;
	}
	proving_until = diagnosis->options->schedules ? 0 : time(NULL) + PROVING_S;
	TRY(patch_prove(launch, &set, PATCH_RUNS, JITTER_US,
			&(struct patch_limits){ .stop = stop, .is_decided = patch_is_decided }, &proof));
	if (!patch_can_be_offered(&proof))
		return NULL;
	char *file = memory_format("%s/patch.guard", store);

	*out = (struct patch_offer){ .file = file, .accesses = set.sites.n, .proof = proof };
	return guard_set_save(file, &set);
}
