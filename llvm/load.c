/* The tool's side of the module. */
#include "llvm/llvm.h"

#include <dlfcn.h>

#include "base/memory.h"
#include "base/installed.h"

struct error *llvm_load(const struct llvm_entrances **out)
{
	_cleanup_free_ char *path = NULL;

	TRY(installed_find(LLVM_MODULE, &path));
	/* A second call finds it loaded. */
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!module)
		return error_new("cannot load %s: %s; is libllvm19 installed?", path, dlerror());
	*out = dlsym(module, LLVM_SYMBOL);
	if (!*out || (*out)->build != LLVM_BUILD)
		return error_new("%s is of another version of unsnarl: install unsnarl again", path);
	return NULL;
}
