/* Which calls of functions without a body a slice can do without. */
#include <string.h>

#include "static/slicer.h"

static const char *const printing[] = { "__fprintf_chk", "__printf_chk", "__vfprintf_chk", "fflush",
					"fprintf",       "fputc",        "fputs",          "fwrite",
					"perror",        "printf",       "putc",           "putchar",
					"puts",          "vfprintf",     "vprintf" };

static bool is_listed(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
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
	if (is_listed(printing, sizeof printing / sizeof *printing, name))
		return CALL_PRINTS;
	if (role == LIBRARY_ALLOCATE || role == LIBRARY_REALLOCATE || role == LIBRARY_RETURN ||
	    role == LIBRARY_COPY || role == LIBRARY_GET_OWN)
		return strcmp(name, "fopen") == 0 ? CALL_KEPT : CALL_ON_DEMAND;
	if (is_pure(function))
		return CALL_ON_DEMAND;
	/* Functions that only read and write memory; what reads files and sockets is kept. */
	if (calls_find(call) &&
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
