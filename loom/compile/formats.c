/* What calls of the printf family read: the strings that a constant format names with %s.
 * Formats that are not constant, and strings with a precision, which need not end, are
 * left alone. */
#include "loom/compile/transform.h"

#include <string.h>

static const struct family {
	const char *name;
	unsigned format; /* argument; what it prints comes behind it */
} families[] = {
	{ "printf", 0 },         { "fprintf", 1 },       { "dprintf", 1 },       { "sprintf", 1 },
	{ "snprintf", 2 },       { "asprintf", 1 },      { "syslog", 1 },        { "__printf_chk", 1 },
	{ "__fprintf_chk", 2 },  { "__dprintf_chk", 2 }, { "__sprintf_chk", 3 }, { "__snprintf_chk", 4 },
	{ "__asprintf_chk", 2 }, { "__syslog_chk", 2 },
};

static const char *constant_text(LLVMValueRef value, size_t *size)
{
	LLVMValueRef text = LLVMIsAGlobalVariable(value) && LLVMIsGlobalConstant(value)
				    ? LLVMGetInitializer(value)
				    : NULL;
	return text && LLVMIsAConstantDataSequential(text) && LLVMIsConstantString(text)
		       ? LLVMGetAsString(text, size)
		       : NULL;
}

/* One conversion from behind its '%'. */
struct conversion {
	unsigned stars; /* arguments for width and precision */
	bool precise, long_one;
	char letter; /* '\0' when it is none that we know */
};

static const char *read_conversion(const char *at, const char *end, struct conversion *out)
{
	*out = (struct conversion){ 0 };
	while (at < end && *at && strchr("-+ #0'123456789.*", *at)) {
		out->stars += *at == '*';
		out->precise |= *at == '.';
		at++;
	}
	while (at < end && *at && strchr("hlLqjzt", *at))
		out->long_one |= *at++ == 'l';
	if (at < end && *at && strchr("diouxXeEfFgGaAcspnm%", *at))
		out->letter = *at++;
	return at;
}

uint32_t calls_strings(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length, size = 0;
	const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
	unsigned argument = 0, all = LLVMGetNumArgOperands(call);
	const char *text = NULL;
	uint32_t strings = 0;
	for (size_t i = 0; i < sizeof families / sizeof *families && !text; i++)
		if (!strcmp(name, families[i].name) && families[i].format < all) {
			text = constant_text(LLVMGetOperand(call, families[i].format), &size);
			argument = families[i].format + 1;
		}
	if (!text)
		return 0;
	for (const char *at = text, *end = text + size; at < end && *at;) {
		struct conversion conversion;
		if (*at++ != '%')
			continue;
		at = read_conversion(at, end, &conversion);
		if (!conversion.letter) /* "%2$s" and the like: from here on nothing is known */
			break;
		argument += conversion.stars;
		if (conversion.letter == 's' && !conversion.precise && !conversion.long_one &&
		    argument < all && argument < CALL_STRINGS)
			strings |= 1u << argument;
		argument += conversion.letter != '%' && conversion.letter != 'm';
	}
	return strings;
}

const struct extent *calls_string(unsigned argument)
{
	static struct extent extents[CALL_STRINGS];
	extents[argument] =
		(struct extent){ .access = SITE_READ, .pointer = (uint8_t)argument, .kind = EXTENT_STRING };
	return &extents[argument];
}
