/* Library functions that read or write memory through their arguments, and how
 * much of it, and what they keep for themselves. Hooked where they are called, so that the access has a line. */
#include "loom/compile/transform.h"

#include <string.h>

#define R(pointer_, ...) { SITE_READ, pointer_, __VA_ARGS__ }
#define W(pointer_, ...) { SITE_WRITE, pointer_, __VA_ARGS__ }
#define SIZE(argument) EXTENT_ARGUMENT, argument, 0
#define TIMES(a, b) EXTENT_PRODUCT, a, b
#define STRING EXTENT_STRING, 0, 0
#define STRING_MOST(argument) EXTENT_STRING_MOST, argument, 0
#define START(most) EXTENT_START, most, 0            /* of a string: nobody knows how far the call looks */
#define REACH(how) EXTENT_REACH, REACH_##how, 0      /* as far as the call must look for its answer */
#define LIKE(argument) EXTENT_AS_STRING, argument, 0 /* as many bytes as the string there */
#define RESULT(unit) EXTENT_RESULT, unit, 0          /* as many units as the call returns, afterwards */

#define APPENDED(string) EXTENT_APPENDED, string, 0 /* that string, behind the one that is there */
#define PRINTED(most) EXTENT_PRINTED, most, 0       /* as many characters as the call returns, and an end */
#define NO_LIMIT EXTENT_NO_ARGUMENT
#define BYTES(n) EXTENT_FIXED, n, 0
#define STATE(access, which, bytes) \
	{ access, EXTENT_NO_ARGUMENT, EXTENT_FIXED, bytes, which } /* of libc's own */
#define TIME_BYTES 56
#define BLOCK EXTENT_BLOCK, 0, 0 /* of the allocator, as large as that knows */

/* Of the C++ library, what its headers leave to the library itself: strings as the object that every use
 * looks at first, trees and lists as the nodes that a change is about. */
#define STRING_BYTES BYTES(32)
#define NODE BYTES(32)
#define LINKS BYTES(16)
#define OF_STRING "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
#define OF_LIST "_ZNSt8__detail15_List_node_base"

/* Sorted by name. */
static const struct known_call known[] = {
	{ "_ZNK" OF_STRING "4sizeEv", { R(0, LINKS) } },
	{ "_ZNK" OF_STRING "5c_strEv", { R(0, LINKS) } },
	{ "_ZNK" OF_STRING "5emptyEv", { R(0, LINKS) } },
	{ "_ZNK" OF_STRING "6lengthEv", { R(0, LINKS) } },
	{ "_ZNK" OF_STRING "7compareEPKc", { R(0, LINKS), R(1, STRING) } },
	{ "_ZNK" OF_STRING "7compareERKS4_", { R(0, LINKS), R(1, LINKS) } },
	{ "_ZN" OF_STRING "10_M_replaceEmmPKcm", { W(0, STRING_BYTES), R(3, SIZE(4)) } },
	{ "_ZN" OF_STRING "14_M_replace_auxEmmmc", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "4swapERS4_", { W(0, STRING_BYTES), W(1, STRING_BYTES) } },
	{ "_ZN" OF_STRING "5clearEv", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "6appendEPKc", { W(0, STRING_BYTES), R(1, STRING) } },
	{ "_ZN" OF_STRING "6appendERKS4_", { W(0, STRING_BYTES), R(1, LINKS) } },
	{ "_ZN" OF_STRING "6assignEPKc", { W(0, STRING_BYTES), R(1, STRING) } },
	{ "_ZN" OF_STRING "6assignERKS4_", { W(0, STRING_BYTES), R(1, LINKS) } },
	{ "_ZN" OF_STRING "6resizeEmc", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "7reserveEm", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "8_M_eraseEmm", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "9_M_appendEPKcm", { W(0, STRING_BYTES), R(1, SIZE(2)) } },
	{ "_ZN" OF_STRING "9_M_assignERKS4_", { W(0, STRING_BYTES), R(1, LINKS) } },
	{ "_ZN" OF_STRING "9_M_mutateEmmPKcm", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "9push_backEc", { W(0, STRING_BYTES) } },
	{ "_ZN" OF_STRING "aSEOS4_", { W(0, STRING_BYTES), W(1, STRING_BYTES) } },
	{ "_ZN" OF_STRING "aSEPKc", { W(0, STRING_BYTES), R(1, STRING) } },
	{ "_ZN" OF_STRING "aSERKS4_", { W(0, STRING_BYTES), R(1, LINKS) } },
	{ "_ZN" OF_STRING "pLEPKc", { W(0, STRING_BYTES), R(1, STRING) } },
	{ "_ZN" OF_STRING "pLERKS4_", { W(0, STRING_BYTES), R(1, LINKS) } },
	{ "_ZN" OF_STRING "pLEc", { W(0, STRING_BYTES) } },
	{ OF_LIST "7_M_hookEPS0_", { W(0, LINKS), W(1, LINKS) } },
	{ OF_LIST "9_M_unhookEv", { W(0, LINKS) } },
	{ "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", { R(0, NODE) } },
	{ "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", { R(0, NODE) } },
	{ "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", { R(0, NODE) } },
	{ "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", { R(0, NODE) } },
	{ "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", { W(0, NODE), W(1, NODE) } },
	{ "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
	  { W(1, NODE), W(2, NODE), W(3, NODE) } },
	{ "_ZdaPv", { W(0, BLOCK) } }, /* operator delete[] */
	{ "_ZdaPvSt11align_val_t", { W(0, BLOCK) } },
	{ "_ZdaPvm", { W(0, BLOCK) } },
	{ "_ZdaPvmSt11align_val_t", { W(0, BLOCK) } },
	{ "_ZdlPv", { W(0, BLOCK) } }, /* operator delete */
	{ "_ZdlPvSt11align_val_t", { W(0, BLOCK) } },
	{ "_ZdlPvm", { W(0, BLOCK) } },
	{ "_ZdlPvmSt11align_val_t", { W(0, BLOCK) } },
	{ "__snprintf_chk", { W(0, PRINTED(1)) } },
	{ "__sprintf_chk", { W(0, PRINTED(NO_LIMIT)) } },
	{ "__vsnprintf_chk", { W(0, PRINTED(1)) } },
	{ "__vsprintf_chk", { W(0, PRINTED(NO_LIMIT)) } },
	{ "asctime", { R(0, BYTES(TIME_BYTES)), STATE(SITE_WRITE, STATE_DATE, 26) } },
	{ "atof", { R(0, REACH(REAL)) } },
	{ "atoi", { R(0, REACH(DECIMAL)) } },
	{ "atol", { R(0, REACH(DECIMAL)) } },
	{ "atoll", { R(0, REACH(DECIMAL)) } },
	{ "bcmp", { R(0, SIZE(2)), R(1, SIZE(2)) } },
	{ "bzero", { W(0, SIZE(1)) } },
	{ "ctime", { STATE(SITE_WRITE, STATE_TIME, TIME_BYTES), STATE(SITE_WRITE, STATE_DATE, 26) } },
	{ "fputs", { R(0, STRING) } },
	{ "fread", { W(0, RESULT(1)) } },
	{ "free", { W(0, BLOCK) } },
	{ "fwrite", { R(0, TIMES(1, 2)) } },
	{ "gmtime", { R(0, BYTES(8)), STATE(SITE_WRITE, STATE_TIME, TIME_BYTES) } },
	{ "index", { R(0, REACH(CHARACTER)) } },
	{ "localtime", { R(0, BYTES(8)), STATE(SITE_WRITE, STATE_TIME, TIME_BYTES) } },
	{ "memchr", { R(0, REACH(BYTE)) } },
	{ "memcmp", { R(0, SIZE(2)), R(1, SIZE(2)) } },
	{ "memcpy", { R(1, SIZE(2)), W(0, SIZE(2)) } },
	{ "memmem", { R(0, REACH(BLOCK)), R(2, SIZE(3)) } },
	{ "memmove", { R(1, SIZE(2)), W(0, SIZE(2)) } },
	{ "mempcpy", { R(1, SIZE(2)), W(0, SIZE(2)) } },
	{ "memset", { W(0, SIZE(2)) } },
	{ "pread", { W(1, RESULT(NO_LIMIT)) } },
	{ "puts", { R(0, STRING) } },
	{ "pwrite", { R(1, SIZE(2)) } },
	{ "rawmemchr", { R(0, REACH(SURE_BYTE)) } },
	{ "read", { W(1, RESULT(NO_LIMIT)) } },
	{ "recv", { W(1, RESULT(NO_LIMIT)) } },
	{ "send", { R(1, SIZE(2)) } },
	{ "snprintf", { W(0, PRINTED(1)) } },
	{ "sprintf", { W(0, PRINTED(NO_LIMIT)) } },
	{ "stpcpy", { R(1, STRING), W(0, LIKE(1)) } },
	{ "strcasecmp", { R(0, REACH(CASE_DIFFERENCE)), R(1, REACH(CASE_DIFFERENCE)) } },
	{ "strcasestr", { R(0, REACH(CASE_WORD)), R(1, START(NO_LIMIT)) } },
	{ "strcat", { R(0, STRING), R(1, STRING), W(0, APPENDED(1)) } },
	{ "strchr", { R(0, REACH(CHARACTER)) } },
	{ "strchrnul", { R(0, REACH(CHARACTER)) } },
	{ "strcmp", { R(0, REACH(DIFFERENCE)), R(1, REACH(DIFFERENCE)) } },
	{ "strcpy", { R(1, STRING), W(0, LIKE(1)) } },
	{ "strcspn", { R(0, REACH(ANY_OF)), R(1, START(NO_LIMIT)) } },
	{ "strdup", { R(0, STRING) } },
	{ "strlen", { R(0, STRING) } },
	{ "strncasecmp", { R(0, REACH(CASE_DIFFERENCE_MOST)), R(1, REACH(CASE_DIFFERENCE_MOST)) } },
	{ "strncmp", { R(0, REACH(DIFFERENCE_MOST)), R(1, REACH(DIFFERENCE_MOST)) } },
	{ "strncpy", { R(1, STRING_MOST(2)), W(0, SIZE(2)) } },
	{ "strndup", { R(0, STRING_MOST(1)) } },
	{ "strnlen", { R(0, STRING_MOST(1)) } },
	{ "strpbrk", { R(0, REACH(ANY_OF)), R(1, START(NO_LIMIT)) } },
	{ "strrchr", { R(0, STRING) } },
	{ "strspn", { R(0, REACH(NONE_OF)), R(1, START(NO_LIMIT)) } },
	{ "strstr", { R(0, REACH(WORD)), R(1, START(NO_LIMIT)) } },
	{ "strtod", { R(0, REACH(REAL)) } },
	{ "strtof", { R(0, REACH(REAL)) } },
	{ "strtok", { STATE(SITE_UPDATE, STATE_TOKEN, 8) } },
	{ "strtol", { R(0, REACH(NUMBER)) } },
	{ "strtold", { R(0, REACH(REAL)) } },
	{ "strtoll", { R(0, REACH(NUMBER)) } },
	{ "strtoul", { R(0, REACH(NUMBER)) } },
	{ "strtoull", { R(0, REACH(NUMBER)) } },
	{ "vsnprintf", { W(0, PRINTED(1)) } },
	{ "vsprintf", { W(0, PRINTED(NO_LIMIT)) } },
	{ "write", { R(1, SIZE(2)) } },
};

/* Memory intrinsics have their operands where the functions have them. */
static const char *callee_name(LLVMValueRef call, char buffer[64])
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	if (!LLVMIsAFunction(callee))
		return "";
	size_t length;
	const char *name = LLVMGetValueName2(callee, &length);
	if (strncmp(name, "llvm.mem", 8) != 0)
		return LLVMGetIntrinsicID(callee) || !LLVMIsDeclaration(callee) ? "" : name;
	size_t n = strcspn(name + 5, ".");
	n = n < 63 ? n : 63;
	memcpy(buffer, name + 5, n);
	buffer[n] = '\0';
	return buffer;
}

const struct known_call *calls_find(LLVMValueRef call)
{
	char buffer[64];
	const char *name = callee_name(call, buffer);
	size_t low = 0, high = sizeof known / sizeof *known;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, known[middle].name);
		if (order == 0)
			return &known[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
