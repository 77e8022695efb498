/* Functions of libc that ours stand before, weakly, so that a program's own win. */
#ifndef RUNTIME_INTERPOSE_H
#define RUNTIME_INTERPOSE_H

#include <dlfcn.h>

#include "loom/runtime/runtime.h"

#define INTERPOSE EXPORT __attribute__((weak))

/* Every function that is looked up has an entry here, so that all can be found before a
 * controlled run begins: looking up takes a lock of the dynamic linker's. */
struct real {
	const char *name;
	void *found;
};
extern HIDDEN struct real __start_unsnarl_reals[], __stop_unsnarl_reals[];

/* Looks the real function up once. Relaxed: every thread finds the same address. */
#define REAL(function)                                                                         \
	({                                                                                     \
		static struct real entry                                                       \
			__attribute__((section("unsnarl_reals"), used)) = { #function, NULL }; \
		void *real = __atomic_load_n(&entry.found, __ATOMIC_RELAXED);                  \
		if (UNLIKELY(!real)) {                                                         \
			real = dlsym(RTLD_NEXT, #function);                                    \
			__atomic_store_n(&entry.found, real, __ATOMIC_RELAXED);                \
		}                                                                              \
		(__typeof__(&function))real;                                                   \
	})

HIDDEN void interpose_resolve(void); /* finds them all */

#endif
