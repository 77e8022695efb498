/* The last scan of each build, kept beside the runs in the store's folder, so that hunts
 * and diagnoses know what the program's text makes likely. */
#ifndef CMDS_SCAN_KEPT_H
#define CMDS_SCAN_KEPT_H

#include "base/error.h"
#include "static/static.h"

#define SCAN_KEPT_MOST 200u /* candidates, the best ones */

/* Replaces what was kept of this build. */
struct error *scan_keep(const char *folder, uint64_t build, const struct scan *scan);
/* The candidates that are kept, with ranks, kinds and accesses; none when there was no scan. A file that cannot be
 * understood is an error that names it. */
struct error *scan_kept(const char *folder, uint64_t build, struct scan *out);
/* The same from a file that is there. */
struct error *scan_kept_read(const char *path, struct scan *out);

#endif
