/* Replays are compared with the record as they end; report/replay_view.h tells what came of it. */
#ifndef CMDS_REPLAY_REPORT_H
#define CMDS_REPLAY_REPORT_H

#include "report/replay_view.h"

void replay_report_add(struct replay_report *report, struct run *run);
/* All over, without address randomisation. */
void replay_report_again(struct replay_report *report);

#endif
