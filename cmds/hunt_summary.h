/* What a call of `unsnarl hunt` did, told at the end.
 */
#ifndef CMDS_HUNT_SUMMARY_H
#define CMDS_HUNT_SUMMARY_H

#include "diagnose/tally.h"
#include "report/story.h"

/* `story` is that of the failure; NULL when none was found. */
void hunt_summary_print(const struct tally *summary, const struct story *story);
void hunt_summary_json(const struct tally *summary, const struct story *story);

#endif
