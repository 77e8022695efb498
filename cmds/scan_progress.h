/* The bar that verbs show while they scan a program. */
#ifndef CMDS_SCAN_PROGRESS_H
#define CMDS_SCAN_PROGRESS_H

#include "llvm/llvm.h"

/* llvm->static_scan with a bar on stderr, if that is a terminal; `options` without progress. */
struct error *scan_with_bar(const struct llvm_entrances *llvm, struct scan_options options, struct scan *out);

#endif
