/* For the files that both looms compile (agents, waiting, pass, spinning, turns, policies, symmetric,
 * intervene, forbid, force): control as their loom has it. The binary loom's tool has threads, a lock and
 * tables of its own. */
#ifndef RUNTIME_ENGINE_H
#define RUNTIME_ENGINE_H

#ifdef GRIND_TOOL
#include "loom/grind/control.h"
#else
#include <string.h>

#include "loom/runtime/control/control.h"
#endif

#endif
