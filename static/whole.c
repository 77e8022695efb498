/* Links all units of a program into one module. A symbol that two of them define, as a
 * program may that replaces a function of its library, counts as the first defines it. */
#include "static/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What LLVM says of a module that it refuses; the last message is kept. */
static void keep_diagnostic(LLVMDiagnosticInfoRef info, void *into)
{
	char **message = into;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	char *text = LLVMGetDiagInfoDescription(info);

	free(*message);
	*message = memory_string(text);
	LLVMDisposeMessage(text);
}

static struct error *parse(LLVMContextRef context, const struct bitcode *bitcode, LLVMModuleRef *out)
{
	char *message = NULL;

	LLVMContextSetDiagnosticHandler(context, keep_diagnostic, &message);
	LLVMMemoryBufferRef buffer =
		LLVMCreateMemoryBufferWithMemoryRange(bitcode->bytes, bitcode->size, bitcode->from, 0);
	bool failed = LLVMParseBitcodeInContext2(context, buffer, out);
	struct error *error = NULL;

	if (failed)
		error = error_new("%s: the bitcode cannot be read%s%s; was it written by another compiler "
				  "than clang 19, or is it damaged?",
				  bitcode->from, message ? ": " : "", message ? message : "");
	free(message);
	LLVMDisposeMemoryBuffer(buffer);
	LLVMContextSetDiagnosticHandler(context, NULL, NULL);
	return error;
}

/* LLVM trusts bitcode: what is damaged in the right way takes the process with it. So bytes that nobody vouches
 * for are first read by a process of their own. */
static struct error *try_apart(const struct bitcode *bitcode)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return error_errno(errno, "cannot start a process to read %s", bitcode->from);
	if (child == 0) {
		LLVMContextRef context = LLVMContextCreate();
		LLVMModuleRef module = NULL;
		int nothing = open("/dev/null", O_WRONLY);

		if (nothing >= 0)
			dup2(nothing, STDERR_FILENO);
		struct error *error = parse(context, bitcode, &module);

		if (!error)
			LLVMVerifyModule(module, LLVMReturnStatusAction, NULL);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(errno, "cannot wait for the process that reads %s", bitcode->from);
	if (!WIFEXITED(status))
		return error_new(
			"%s: the bitcode cannot be read: it is damaged; write it again with clang-19 -c "
			"-emit-llvm",
			bitcode->from);
	return NULL;
}

static bool is_strong(LLVMValueRef value)
{
	LLVMLinkage linkage = LLVMGetLinkage(value);

	return !LLVMIsDeclaration(value) && linkage == LLVMExternalLinkage;
}

/* Of what both define, the second is dropped, as the dynamic linker would. */
static void yield_to(LLVMModuleRef first, LLVMModuleRef second)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(second); f; f = LLVMGetNextFunction(f)) {
		LLVMValueRef there = LLVMGetNamedFunction(first, whole_name(f));

		if (is_strong(f) && there && is_strong(there))
			LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
	}
	for (LLVMValueRef g = LLVMGetFirstGlobal(second); g; g = LLVMGetNextGlobal(g)) {
		LLVMValueRef there = LLVMGetNamedGlobal(first, whole_name(g));

		if (is_strong(g) && there && is_strong(there))
			LLVMSetLinkage(g, LLVMAvailableExternallyLinkage);
	}
}

static struct error *join(struct whole *whole, const struct bitcode *bitcode)
{
	LLVMModuleRef module = NULL;
	char *message = NULL;

	if (!bitcode->checked)
		TRY(try_apart(bitcode));
	TRY(parse(whole->context, bitcode, &module));
	if (!whole->module) {
		whole->module = module;
		return NULL;
	}
	if (strcmp(LLVMGetTarget(module), LLVMGetTarget(whole->module)) != 0)
		LLVMSetTarget(module, LLVMGetTarget(whole->module));
	yield_to(whole->module, module);
	LLVMContextSetDiagnosticHandler(whole->context, keep_diagnostic, &message);
	bool failed = LLVMLinkModules2(whole->module, module);

	LLVMContextSetDiagnosticHandler(whole->context, NULL, NULL);
	struct error *error = failed ? error_new("%s: a unit of it does not fit the others%s%s",
						 bitcode->from, message ? ": " : "", message ? message : "")
				     : NULL;

	free(message);
	return error;
}

static void number_all(struct whole *whole)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(whole->module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f)) {
			*map_put(&whole->function_numbers, whole_key(f), NULL) = whole->functions.n;
			*VEC_PUSH(&whole->functions) = f;
		}
	whole->first = memory_alloc((whole->functions.n + 1) * sizeof *whole->first);
	for (size_t i = 0; i < whole->functions.n; i++) {
		whole->first[i] = (uint32_t)whole->instructions.n;
		LLVMValueRef f = whole->functions.items[i];

		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef at = LLVMGetFirstInstruction(b); at;
			     at = LLVMGetNextInstruction(at)) {
				*map_put(&whole->instruction_numbers, whole_key(at), NULL) =
					whole->instructions.n;
				*VEC_PUSH(&whole->instructions) = at;
			}
	}
	whole->first[whole->functions.n] = (uint32_t)whole->instructions.n;
}

/* Without optimisation every variable lives in memory: those whose address goes nowhere become values, as they
 * are in optimised units. */
static void promote_variables(LLVMModuleRef module)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("optnone", 7);
	bool any = false;

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind)) {
			LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
						       kind);
			any = true;
		}
	if (!any)
		return;
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failed = LLVMRunPasses(module, "function(mem2reg)", NULL, options);

	if (failed)
		LLVMConsumeError(failed);
	LLVMDisposePassBuilderOptions(options);
}

struct error *whole_read(const char *const *paths, size_t n, struct whole *out)
{
	char *message = NULL;

	for (size_t i = 0; i < n; i++)
		TRY(bitcode_read(paths[i], &out->bitcodes));
	out->context = LLVMContextCreate();
	for (size_t i = 0; i < out->bitcodes.items.n; i++)
		TRY(join(out, &out->bitcodes.items.items[i]));
	if (LLVMVerifyModule(out->module, LLVMReturnStatusAction, &message)) {
		struct error *error = error_new("%s: its bitcode is unsound (%.200s); build it again with: "
						"unsnarl cc",
						paths[0], message);
		LLVMDisposeMessage(message);
		return error;
	}
	LLVMDisposeMessage(message);
	promote_variables(out->module);
	out->layout = LLVMGetModuleDataLayout(out->module);
	source_start(&out->source, out->module, paths[0]);
	/* As the hooks do: what the C++ library's headers do is done by the program's own lines. */
	library_inline(&out->source, out->module);
	whole_inline_creators(out);
	number_all(out);
	return NULL;
}

void whole_free(struct whole *whole)
{
	if (whole->layout)
		source_free(&whole->source);
	if (whole->module)
		LLVMDisposeModule(whole->module);
	if (whole->context)
		LLVMContextDispose(whole->context);
	bitcode_free(&whole->bitcodes);
	VEC_FREE(&whole->functions);
	VEC_FREE(&whole->instructions);
	map_free(&whole->function_numbers);
	map_free(&whole->instruction_numbers);
	free(whole->first);
	*whole = (struct whole){ 0 };
}

uint32_t whole_function(const struct whole *whole, LLVMValueRef function)
{
	const uint64_t *number = map_get(&whole->function_numbers, whole_key(function));

	return number ? (uint32_t)*number : WHOLE_NONE;
}

uint32_t whole_instruction(const struct whole *whole, LLVMValueRef instruction)
{
	const uint64_t *number = map_get(&whole->instruction_numbers, whole_key(instruction));

	return number ? (uint32_t)*number : WHOLE_NONE;
}

uint32_t whole_function_of(const struct whole *whole, uint32_t instruction)
{
	uint32_t low = 0, high = (uint32_t)whole->functions.n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (whole->first[middle] <= instruction)
			low = middle;
		else
			high = middle;
	}
	return low;
}

const char *whole_name(LLVMValueRef value)
{
	size_t length;

	return LLVMGetValueName2(value, &length);
}

LLVMValueRef whole_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	for (int depth = 0; callee && depth < 8; depth++) {
		if (LLVMIsAFunction(callee))
			return callee;
		if (!LLVMIsAGlobalAlias(callee))
			return NULL;
		callee = LLVMAliasGetAliasee(callee);
	}
	return NULL;
}

bool whole_is_call(LLVMValueRef instruction)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);

	if (opcode != LLVMCall && opcode != LLVMInvoke && opcode != LLVMCallBr)
		return false;
	LLVMValueRef callee = whole_callee(instruction);

	return !callee || strncmp(whole_name(callee), "llvm.dbg.", 9) != 0;
}

unsigned whole_arguments(LLVMValueRef call)
{
	return LLVMGetNumArgOperands(call);
}
