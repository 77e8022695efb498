/* Bitcode in, bitcode with hooks out: reads, transforms, tidies up after the
 * inlining of hooks, verifies. */
#include "loom/compile/transform.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "model/unit_format.h"

static struct error *message_error(char *message, const char *what, const char *path)
{
	struct error *e = error_new("%s %s: %s", what, path, message ? message : "no reason given");
	LLVMDisposeMessage(message);
	return e;
}

static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *unused)
{
	(void)info;
	(void)unused;
}

/* Keeps the unit's bitcode as clang made it, compressed, in a section that is not loaded. */
static void embed_bitcode(LLVMModuleRef module, const char *bytes, size_t size, uint64_t hash)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	size_t bound = ZSTD_compressBound(size);
	char *block = memory_alloc(sizeof(struct unit_bitcode) + bound + 16);
	struct unit_bitcode header = { .magic = UNIT_BITCODE_MAGIC, .hash = hash };
	header.size = ZSTD_compress(block + sizeof header, bound, bytes, size, 3);
	if (!ZSTD_isError(header.size)) {
		memcpy(block, &header, sizeof header);
		size_t total = (sizeof header + header.size + 15) & ~15ull;
		LLVMValueRef data = LLVMConstStringInContext2(context, block, total, 1);
		LLVMValueRef global = LLVMAddGlobal(module, LLVMTypeOf(data), "unsnarl_bitcode");
		LLVMSetInitializer(global, data);
		LLVMSetGlobalConstant(global, 1);
		LLVMSetLinkage(global, LLVMPrivateLinkage);
		LLVMSetSection(global, UNIT_BITCODE_SECTION);
		LLVMSetAlignment(global, 16);
	}
	free(block);
}

/* Inlines the hooks; the rest cleans up what inlining leaves. */
static struct error *inline_hooks(LLVMModuleRef module, const char *path, bool optimise)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	const char *passes = optimise ? "always-inline,function(early-cse,simplifycfg),globaldce"
				      : "always-inline,globaldce";
	LLVMErrorRef failed = LLVMRunPasses(module, passes, NULL, options);
	LLVMDisposePassBuilderOptions(options);
	if (!failed)
		return NULL;
	char *message = LLVMGetErrorMessage(failed);
	struct error *e = error_new("cannot inline hooks into %s: %s", path, message);
	LLVMDisposeErrorMessage(message);
	return e;
}

static struct error *read_module(LLVMContextRef context, LLVMMemoryBufferRef buffer, const char *source,
				 LLVMModuleRef *out)
{
	*out = NULL;
	if (LLVMParseBitcodeInContext2(context, buffer, out))
		return error_new(
			"%s: the compiler's bitcode cannot be read; is clang of another version than "
			"19 in use?",
			source);
	return NULL;
}

/* Weaves *module; a guarded unit without hooks is taken anew, so that it is what clang made of it. */
static struct error *weave_module(LLVMModuleRef *module, LLVMMemoryBufferRef buffer, const char *to,
				  const struct transform_options *options)
{
	uint32_t nhooks;
	TRY((options->guard ? guard_transform : transform)(*module, options, &nhooks));
	if (options->guard && !nhooks) {
		LLVMContextRef context = LLVMGetModuleContext(*module);
		LLVMDisposeModule(*module);
		TRY(read_module(context, buffer, options->source, module));
		guard_refer(*module, options->guard);
	}
	char *message = NULL;
	if (LLVMVerifyModule(*module, LLVMReturnStatusAction, &message))
		return message_error(message, "the hooks made unsound code of", options->source);
	LLVMDisposeMessage(message);
	if (nhooks || !options->guard)
		TRY(inline_hooks(*module, options->source, options->optimise));
	if (!options->guard)
		embed_bitcode(*module, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer),
			      hash_bytes(HASH_START, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)));
	if (LLVMWriteBitcodeToFile(*module, to) != 0)
		return error_new("cannot write %s: is the disk full?", to);
	return NULL;
}

struct error *unit_weave(const char *bitcode, const char *to, const struct transform_options *options)
{
	LLVMMemoryBufferRef buffer;
	char *message = NULL;
	if (LLVMCreateMemoryBufferWithContentsOfFile(bitcode, &buffer, &message))
		return message_error(message, "cannot read", bitcode);
	LLVMContextRef context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(context, ignore_diagnostic, NULL);
	LLVMModuleRef module = NULL;
	struct error *e = read_module(context, buffer, options->source, &module);
	if (!e)
		e = weave_module(&module, buffer, to, options);
	if (module)
		LLVMDisposeModule(module);
	LLVMContextDispose(context);
	LLVMDisposeMemoryBuffer(buffer);
	return e;
}
