/* The part of unsnarl that needs LLVM: a module of its own, loaded by those verbs alone that
 * work on bitcode, since to load LLVM takes 10 ms and 50 MB. This is what the rest may call
 * in it. A room that needs LLVM is linked into the module (llvm/meson.build) and adds its
 * entrances here. */
#ifndef LLVM_LLVM_H
#define LLVM_LLVM_H

#include <stdint.h>

#include "base/error.h"

struct transform_options;
struct scan;
struct scan_options;
struct build_options;
struct pairs_told;

struct llvm_entrances {
	uint64_t build; /* LLVM_BUILD of the module: it and the tool were made together */
	/* loom/compile/unit.h */
	struct error *(*unit_weave)(const char *bitcode, const char *to,
				    const struct transform_options *options);
	/* static/static.h */
	struct error *(*static_scan)(const struct scan_options *options, struct scan *out);
	struct error *(*static_why)(const struct scan_options *options, const char *const places[2],
				    struct pairs_told *out);
	struct error *(*static_build)(const struct build_options *options);
};

#define LLVM_MODULE "libunsnarl_llvm.so"
#define LLVM_SYMBOL "unsnarl_llvm_entrances"
/* Changes with this header. */
#define LLVM_BUILD ((uint64_t)sizeof(struct llvm_entrances) << 32 | 2)

/* Loads the module, once. It stays loaded. */
struct error *llvm_load(const struct llvm_entrances **out);

#endif
