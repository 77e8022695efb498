/* Which calls of functions without a body a slice can do without. */
#include <string.h>

#include "static/slicer.h"

/* Functions that print, and the argument that says where to; -1: standard output or standard error. */
static const struct {
	const char *name;
	int stream;
} printing[] = { { "__fprintf_chk", 0 }, { "__printf_chk", -1 }, { "__vfprintf_chk", 0 }, { "fflush", 0 },
		 { "fprintf", 0 },       { "fputc", 1 },         { "fputs", 1 },          { "fwrite", 3 },
		 { "perror", -1 },       { "printf", -1 },       { "putc", 1 },           { "putchar", -1 },
		 { "puts", -1 },         { "vfprintf", 0 },      { "vprintf", -1 } };

/* The program's own standard output or standard error; what goes to any other stream may be read again. */
static bool is_standard_stream(LLVMValueRef stream)
{
	if (!LLVMIsALoadInst(stream) || !LLVMIsAGlobalVariable(LLVMGetOperand(stream, 0)))
		return false;
	const char *name = whole_name(LLVMGetOperand(stream, 0));

	return LLVMIsDeclaration(LLVMGetOperand(stream, 0)) &&
	       (strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0);
}

static bool only_prints(const char *name, LLVMValueRef call)
{
	for (size_t i = 0; i < sizeof printing / sizeof *printing; i++)
		if (strcmp(printing[i].name, name) == 0)
			return printing[i].stream < 0 ||
			       (whole_arguments(call) > (unsigned)printing[i].stream &&
				is_standard_stream(LLVMGetOperand(call, (unsigned)printing[i].stream)));
	return false;
}

/* The function touches no memory but through its result, and comes back. */
static bool is_pure(LLVMValueRef function)
{
	unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
	LLVMAttributeRef effects =
		LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, memory);

	return effects && LLVMGetEnumAttributeValue(effects) == 0;
}

static enum call_weight weigh_one(LLVMValueRef function, LLVMValueRef call)
{
	const char *name = whole_name(function);
	enum library_role role = library_find(name)->role;

	if (strncmp(name, "llvm.", 5) == 0)
		return strncmp(name, "llvm.trap", 9) == 0 ? CALL_KEPT : CALL_ON_DEMAND;
	if (only_prints(name, call))
		return CALL_PRINTS;
	if (role == LIBRARY_ALLOCATE || role == LIBRARY_REALLOCATE || role == LIBRARY_RETURN ||
	    role == LIBRARY_COPY || role == LIBRARY_GET_OWN)
		return strcmp(name, "fopen") == 0 ? CALL_KEPT : CALL_ON_DEMAND;
	if (is_pure(function))
		return CALL_ON_DEMAND;
	/* Functions that only read and write memory that they are given; what reads files and sockets is kept. */
	const struct known_call *known = calls_find(call);

	if (known && known->extents[0].pointer != EXTENT_NO_ARGUMENT &&
	    (strncmp(name, "str", 3) == 0 || strncmp(name, "mem", 3) == 0 || strncmp(name, "ato", 3) == 0 ||
	     strstr(name, "sprintf") || strstr(name, "snprintf")))
		return CALL_ON_DEMAND;
	return CALL_KEPT;
}

enum call_weight slicer_weigh(const struct slicer *slicer, LLVMValueRef call)
{
	LLVMValueRef callee = whole_callee(call);

	(void)slicer;
	if (!callee)
		return CALL_KEPT;
	return LLVMIsDeclaration(callee) ? weigh_one(callee, call) : CALL_ON_DEMAND;
}
