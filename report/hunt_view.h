/* What a call of `unsnarl hunt` did, told at the end.
 */
#ifndef REPORT_HUNT_VIEW_H
#define REPORT_HUNT_VIEW_H

#include "model/tally.h"
#include "report/story.h"

/* `story` is that of the failure; NULL when none was found. */
void hunt_view_print(const struct tally *summary, const struct story *story);
void hunt_view_json(const struct tally *summary, const struct story *story);

#endif
