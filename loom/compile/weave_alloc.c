/* Calls that allocate memory: each is a site, and while the call goes on its number is
 * in the thread's `allocating` field, so that a traced run knows where a block comes
 * from. What a function of the C++ library's headers allocates is put down to the
 * program's own line that called it. */
#include "loom/compile/weave.h"

#include <string.h>

#include "loom/runtime/observe/layout.h" /* struct thread */

static const char *const allocators[][2] = {
	{ "malloc", "malloc" },
	{ "calloc", "calloc" },
	{ "realloc", "realloc" },
	{ "reallocarray", "reallocarray" },
	{ "aligned_alloc", "aligned_alloc" },
	{ "memalign", "memalign" },
	{ "posix_memalign", "posix_memalign" },
	{ "strdup", "strdup" },
	{ "strndup", "strndup" },
	{ "_Znwm", "new" },
	{ "_Znam", "new[]" },
	{ "_ZnwmSt11align_val_t", "new" },
	{ "_ZnamSt11align_val_t", "new[]" },
	{ "_ZnwmRKSt9nothrow_t", "new" },
	{ "_ZnamRKSt9nothrow_t", "new[]" },
};

/* What a person calls the allocator that is called. */
const char *weave_allocator(LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return NULL;
	LLVMValueRef callee = LLVMGetCalledValue(instruction);
	if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
		return NULL;
	size_t length;
	const char *name = LLVMGetValueName2(callee, &length);
	for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
		if (strcmp(name, allocators[i][0]) == 0)
			return allocators[i][1];
	return NULL;
}

void weave_allocs_collect(struct weave *weave)
{
	weave->allocs.n = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(weave->function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (weave_allocator(i))
				*VEC_PUSH(&weave->allocs) = i;
}

/* Ordinals of their own: the ids of accesses do not depend on these calls. */
static uint32_t add_site(struct weave *weave, LLVMValueRef call, uint32_t ordinal)
{
	char scratch[4096], through[512];
	struct site site = { .kind = SITE_ALLOCATION, .variable = weave_allocator(call) };
	source_position(&weave->source, call, &site, scratch, through);
	size_t length;
	uint32_t identity[2] = { ordinal, SITE_ALLOCATION };
	site.id = hash_string(weave->source.unit, LLVMGetValueName2(weave->function, &length));
	site.id = hash_bytes(site.id, identity, sizeof identity);
	return table_add(&weave->table, &site);
}

void weave_allocs(struct weave *weave)
{
	for (uint32_t i = 0; i < weave->allocs.n; i++) {
		LLVMValueRef call = weave->allocs.items[i];
		weave_number(weave, call, add_site(weave, call, i), offsetof(struct thread, allocating));
	}
}
