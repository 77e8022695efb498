/* The module's side: the one symbol that it shows. */
#include "llvm/llvm.h"

#include "loom/compile/unit.h"
#include "static/static.h"

extern const struct llvm_entrances unsnarl_llvm_entrances;

__attribute__((visibility("default"))) const struct llvm_entrances unsnarl_llvm_entrances = {
	.build = LLVM_BUILD,
	.unit_weave = unit_weave,
	.static_scan = static_scan,
	.static_why = static_why,
	.static_build = static_build,
};
