/* The runs of one call of `unsnarl run` are counted as they end; report/run_view.h tells them. */
#ifndef CMDS_RUN_SUMMARY_H
#define CMDS_RUN_SUMMARY_H

#include "report/run_view.h"

void run_summary_add(struct run_summary *summary, const struct run *run);
void run_summary_free(struct run_summary *summary); /* the reasons */

#endif
