/* Hunts that look where the program's text is suspicious: candidates of a scan as claims
 * that schedules force. */
#ifndef CMDS_FOCUS_H
#define CMDS_FOCUS_H

#include "base/error.h"
#include "base/memory.h"
#include "model/claim.h"

#define FOCUS_CLAIMS 64u /* of the best candidates */

struct focus {
	struct claim *items;
	size_t n, room; /* as VEC */
};

/* Claims of the scan that the store keeps of this build. With `make` the program is scanned when there is none, and
 * having no candidate is an error; without, no claims come out then. */
struct error *focus_read(const char *store, const char *program, uint64_t build, bool make,
			 struct focus *out);

#endif
