/* Source positions, function names and variable names from debug information,
 * read through generic metadata operands where LLVM's C interface has no getter
 * (operand numbers are those of LLVM 19's DINode classes). */
#include "loom/compile/transform.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

/* Numbers of operands. */
enum {
	SCOPE_PARENT = 1,
	SCOPE_NAME = 2,
	SUBPROGRAM_NAME = 2,
	TYPE_NAME = 2,
	TYPE_BASE = 3,
	COMPOSITE_ELEMENTS = 4,
	TAG_FIELD_BASE = 0,
	TAG_FIELD_OFFSET = 2,
};

static LLVMMetadataRef operand(const struct source *source, LLVMMetadataRef node, unsigned index)
{
	LLVMValueRef value = LLVMMetadataAsValue(source->context, node), operands[64];
	unsigned n = LLVMGetMDNodeNumOperands(value);
	if (index >= n || n > 64)
		return NULL;
	LLVMGetMDNodeOperands(value, operands);
	return operands[index] ? LLVMValueAsMetadata(operands[index]) : NULL;
}

/* The text of a string operand, "" when it is none. Copied: metadata strings need not end with NUL. */
static void string_operand(const struct source *source, LLVMMetadataRef node, unsigned index, char out[256])
{
	out[0] = '\0';
	LLVMMetadataRef string = operand(source, node, index);
	if (!string || LLVMGetMetadataKind(string) != LLVMMDStringMetadataKind)
		return;
	unsigned length;
	const char *text = LLVMGetMDString(LLVMMetadataAsValue(source->context, string), &length);
	snprintf(out, 256, "%.*s", (int)length, text);
}

static void append(char out[256], const char *separator, const char *text)
{
	size_t n = strlen(out);
	snprintf(out + n, 256 - n, "%s%s", n ? separator : "", text);
}

/* ---- structures by name ---- */

static void note_composite(struct source *source, LLVMMetadataRef node)
{
	char name[256];
	string_operand(source, node, TYPE_NAME, name);
	if (name[0] && operand(source, node, COMPOSITE_ELEMENTS))
		*map_put(&source->composites, hash_string(HASH_START, name), NULL) =
			(uint64_t)(uintptr_t)node;
}

/* Visits every metadata node reachable from `root` once. */
static void collect(struct source *source, LLVMMetadataRef root, struct map *visited)
{
	VEC(LLVMMetadataRef) stack = { 0 };
	*VEC_PUSH(&stack) = root;
	while (stack.n) {
		LLVMMetadataRef node = stack.items[--stack.n];
		bool fresh;
		map_put(visited, (uint64_t)(uintptr_t)node, &fresh);
		LLVMValueRef value = LLVMMetadataAsValue(source->context, node);
		if (!fresh || !LLVMIsAMDNode(value))
			continue;
		if (LLVMGetMetadataKind(node) == LLVMDICompositeTypeMetadataKind)
			note_composite(source, node);
		unsigned n = LLVMGetMDNodeNumOperands(value);
		LLVMValueRef *operands = memory_alloc((n + 1) * sizeof *operands);
		LLVMGetMDNodeOperands(value, operands);
		for (unsigned i = 0; i < n; i++)
			if (operands[i])
				*VEC_PUSH(&stack) = LLVMValueAsMetadata(operands[i]);
		cleanup_free(&operands);
	}
	VEC_FREE(&stack);
}

/* Name and folder as debug information has them: two files of one name differ by
 * their folders, and -ffile-prefix-map makes them the same wherever they are built. */
static uint64_t unit_identity(const struct source *source, LLVMMetadataRef unit)
{
	LLVMMetadataRef file = LLVMDIScopeGetFile(unit);
	if (!file)
		return hash_string(HASH_START, source->fallback_file);
	unsigned name_length, folder_length;
	const char *name = LLVMDIFileGetFilename(file, &name_length);
	const char *folder = LLVMDIFileGetDirectory(file, &folder_length);
	uint64_t hash =
		name_length && name[0] == '/' ? HASH_START : hash_bytes(HASH_START, folder, folder_length);
	return hash_bytes(hash, name, name_length);
}

void source_start(struct source *source, LLVMModuleRef module, const char *fallback_file)
{
	*source = (struct source){ .module = module,
				   .context = LLVMGetModuleContext(module),
				   .fallback_file = fallback_file };
	struct map visited = { 0 };
	unsigned n = LLVMGetNamedMetadataNumOperands(module, "llvm.dbg.cu");
	LLVMValueRef *units = memory_alloc((n + 1) * sizeof *units);
	LLVMGetNamedMetadataOperands(module, "llvm.dbg.cu", units);
	source->unit = n ? unit_identity(source, LLVMValueAsMetadata(units[0]))
			 : hash_string(HASH_START, fallback_file);
	for (unsigned i = 0; i < n; i++)
		collect(source, LLVMValueAsMetadata(units[i]), &visited);
	cleanup_free(&units);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (LLVMGetSubprogram(f))
			collect(source, LLVMGetSubprogram(f), &visited);
	map_free(&visited);
}

void source_free(struct source *source)
{
	map_free(&source->composites);
}

/* ---- positions ---- */

/* The function that a scope belongs to, NULL when there is none. */
static LLVMMetadataRef function_of(const struct source *source, LLVMMetadataRef scope)
{
	for (int depth = 0; scope && depth < 100; depth++) {
		if (LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind)
			return scope;
		scope = operand(source, scope, SCOPE_PARENT);
	}
	return NULL;
}

static void function_name(const struct source *source, LLVMMetadataRef scope, char out[256])
{
	LLVMMetadataRef function = function_of(source, scope);
	out[0] = '\0';
	if (function)
		string_operand(source, function, SUBPROGRAM_NAME, out);
}

/* Takes "folder/.." and "/." out of a path, by its letters alone. */
static void shorten_path(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		if (strncmp(from, "/./", 3) == 0) {
			from += 2;
		} else if (strncmp(from, "/../", 4) == 0 && to > path &&
			   (to - path < 2 || strncmp(to - 2, "..", 2) != 0)) {
			while (to > path && *--to != '/')
				;
			from += 3;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static void position_at(const struct source *source, LLVMMetadataRef location, LLVMValueRef instruction,
			struct site *site, char scratch[4096])
{
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	char *function = scratch, *path = scratch + 256;
	function[0] = '\0';
	if (scope)
		function_name(source, scope, function);
	if (!function[0]) {
		LLVMValueRef in = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
		size_t length;
		snprintf(function, 256, "%s", LLVMGetValueName2(in, &length));
	}
	if (file) {
		unsigned name_length, folder_length;
		const char *name = LLVMDIFileGetFilename(file, &name_length);
		const char *folder = LLVMDIFileGetDirectory(file, &folder_length);
		if (name_length && name[0] == '/')
			folder_length = 0;
		snprintf(path, 4096 - 256, "%.*s%s%.*s", (int)folder_length, folder_length ? folder : "",
			 folder_length ? "/" : "", (int)name_length, name);
	} else {
		snprintf(path, 4096 - 256, "%s", source->fallback_file);
	}
	shorten_path(path);
	site->function = function;
	site->file = path;
	site->line = location ? LLVMDILocationGetLine(location) : 0;
	site->column = location ? LLVMDILocationGetColumn(location) : 0;
}

static LLVMMetadataRef with_line(LLVMValueRef instruction)
{
	LLVMMetadataRef location =
		LLVMIsAInstruction(instruction) ? LLVMInstructionGetDebugLoc(instruction) : NULL;
	return location && LLVMDILocationGetLine(location) ? location : NULL;
}

#define NEIGHBOURS 12

/* Of what the value is used for, through so many steps. */
static LLVMMetadataRef line_of_use(LLVMValueRef value, int steps)
{
	LLVMMetadataRef found = NULL;
	int left = NEIGHBOURS;
	for (LLVMUseRef use = LLVMGetFirstUse(value); !found && use && left--; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		found = with_line(user);
		if (!found && steps > 1 && !LLVMIsAPHINode(user))
			found = line_of_use(user, steps - 1);
	}
	return found;
}

/* The optimiser takes the line from what it moves or unites. Then the line of what uses the value is
 * the best to show, or that of a neighbour. */
static LLVMMetadataRef likely_location(LLVMValueRef instruction)
{
	LLVMMetadataRef found = with_line(instruction);
	if (!found)
		found = line_of_use(instruction, 3);
	int left = NEIGHBOURS;
	for (LLVMValueRef i = LLVMGetNextInstruction(instruction); !found && i && left--;
	     i = LLVMGetNextInstruction(i))
		found = with_line(i);
	left = NEIGHBOURS;
	for (LLVMValueRef i = LLVMGetPreviousInstruction(instruction); !found && i && left--;
	     i = LLVMGetPreviousInstruction(i))
		found = with_line(i);
	return found ? found : LLVMInstructionGetDebugLoc(instruction);
}

void source_position(const struct source *source, LLVMValueRef instruction, struct site *site,
		     char scratch[4096])
{
	position_at(source, likely_location(instruction), instruction, site, scratch);
}

/* ---- the C++ library and its callers ---- */

#define MOST_SCOPES 16

/* Versions within std that nobody writes. */
static bool is_inline_namespace(const char *name)
{
	return strncmp(name, "_V", 2) == 0 || strcmp(name, "__1") == 0 || strcmp(name, "__cxx11") == 0;
}

/* What the headers put behind the class that a person writes. */
static const char *public_name(const char *name)
{
	static const char *const renamed[][2] = { { "__atomic_base", "atomic" },
						  { "__basic_future", "future" },
						  { "__shared_timed_mutex_base", "shared_timed_mutex" } };
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (strcmp(name, renamed[i][0]) == 0)
			return renamed[i][1];
	return name;
}

/* Names of the namespaces, classes and functions around a function, outermost first and
 * without template arguments; returns how many. */
static int scope_names(const struct source *source, LLVMMetadataRef function, char names[MOST_SCOPES][256])
{
	char found[MOST_SCOPES][256];
	int n = 0;
	for (LLVMMetadataRef scope = function; scope && n < MOST_SCOPES;
	     scope = operand(source, scope, SCOPE_PARENT)) {
		LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
		if (kind == LLVMDILexicalBlockMetadataKind || kind == LLVMDILexicalBlockFileMetadataKind)
			continue;
		if (kind != LLVMDISubprogramMetadataKind && kind != LLVMDINamespaceMetadataKind &&
		    kind != LLVMDICompositeTypeMetadataKind)
			break; /* a file or the unit */
		string_operand(source, scope, SCOPE_NAME, found[n]);
		if (strncmp(found[n], "operator", 8) != 0)
			found[n][strcspn(found[n], "<")] = '\0';
		n += found[n][0] != '\0' && !is_inline_namespace(found[n]);
	}
	for (int i = 0; i < n; i++)
		memcpy(names[i], found[n - 1 - i], sizeof names[i]);
	return n;
}

bool source_in_library(const struct source *source, LLVMMetadataRef function)
{
	char names[MOST_SCOPES][256];
	int n = scope_names(source, function, names);
	return n && (strcmp(names[0], "std") == 0 || strcmp(names[0], "__gnu_cxx") == 0 ||
		     strncmp(names[0], "__gthread_", 10) == 0);
}

void source_full_name(const struct source *source, LLVMMetadataRef function, char out[256])
{
	char names[MOST_SCOPES][256];
	int n = scope_names(source, function, names);
	out[0] = '\0';
	for (int i = 0; i < n; i++)
		if (i + 1 < n || i == 0 ||
		    strcmp(names[i], names[i - 1]) != 0) /* a constructor is its class */
			append(out, "::", public_name(names[i]));
}

bool source_caller(const struct source *source, LLVMValueRef call, struct site *site, char scratch[4096],
		   char inlined[256])
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call), library = NULL;
	LLVMMetadataRef function = LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
	inlined[0] = '\0';
	if (!location && function && source_in_library(source, function))
		return false;
	for (; location; location = LLVMDILocationGetInlinedAt(location)) {
		function = function_of(source, LLVMDILocationGetScope(location));
		if (!function || !source_in_library(source, function))
			break;
		library = function;
	}
	if (library && !location)
		return false;
	if (library)
		source_full_name(source, library, inlined);
	position_at(source, location, call, site, scratch);
	return true;
}

/* ---- variables ---- */

/* Pointers, references, pointers to members: what they lead to lies elsewhere. */
static bool points(uint16_t tag)
{
	return tag == 0x0f || tag == 0x10 || tag == 0x42 || tag == 0x1f;
}

/* The composite behind typedefs and qualifiers, NULL for other types. */
static LLVMMetadataRef composite_of(const struct source *source, LLVMMetadataRef type)
{
	for (int depth = 0; type && depth < 20; depth++) {
		LLVMMetadataKind kind = LLVMGetMetadataKind(type);
		if (kind == LLVMDICompositeTypeMetadataKind)
			return type;
		if (kind != LLVMDIDerivedTypeMetadataKind || points(LLVMGetDINodeTag(type)))
			return NULL;
		type = operand(source, type, TYPE_BASE);
	}
	return NULL;
}

#define DW_TAG_array_type 0x01
#define DW_TAG_member 0x0d

/* Appends the names of the members at `offset` bytes into `composite`, outermost first. */
static void append_members(const struct source *source, LLVMMetadataRef composite, uint64_t offset,
			   char out[256])
{
	for (int depth = 0; composite && depth < 8; depth++) {
		if (LLVMGetDINodeTag(composite) == DW_TAG_array_type) {
			LLVMMetadataRef element = composite_of(source, operand(source, composite, TYPE_BASE));
			uint64_t size = element ? LLVMDITypeGetSizeInBits(element) / 8 : 0;
			append(out, "", "[]");
			if (!size)
				return;
			offset %= size;
			composite = element;
			continue;
		}
		LLVMMetadataRef elements = operand(source, composite, COMPOSITE_ELEMENTS), member = NULL;
		LLVMValueRef list = elements ? LLVMMetadataAsValue(source->context, elements) : NULL;
		unsigned n = list ? LLVMGetMDNodeNumOperands(list) : 0;
		for (unsigned i = 0; i < n && i < 64; i++) {
			LLVMMetadataRef each = operand(source, elements, i);
			if (!each || LLVMGetMetadataKind(each) != LLVMDIDerivedTypeMetadataKind ||
			    LLVMGetDINodeTag(each) != DW_TAG_member)
				continue;
			uint64_t start = LLVMDITypeGetOffsetInBits(each) / 8;
			uint64_t size = (LLVMDITypeGetSizeInBits(each) + 7) / 8;
			if (offset >= start && offset < start + size)
				member = each;
		}
		if (!member)
			return;
		char name[256];
		string_operand(source, member, TYPE_NAME, name);
		if (name[0])
			append(out, ".", name);
		offset -= LLVMDITypeGetOffsetInBits(member) / 8;
		composite = composite_of(source, operand(source, member, TYPE_BASE));
	}
}

/* Byte offset of a pointer from its base when all steps are constant. */
static bool constant_offset(const struct source *source, LLVMValueRef *pointer, uint64_t *offset)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(source->module);
	*offset = 0;
	while (LLVMIsAGetElementPtrInst(*pointer) ||
	       (LLVMIsAConstantExpr(*pointer) && LLVMGetConstOpcode(*pointer) == LLVMGetElementPtr)) {
		LLVMTypeRef type = LLVMGetGEPSourceElementType(*pointer);
		int n = LLVMGetNumOperands(*pointer);
		for (int i = 1; i < n; i++) {
			LLVMValueRef index = LLVMGetOperand(*pointer, (unsigned)i);
			bool constant = LLVMIsAConstantInt(index) != NULL;
			uint64_t value = constant ? (uint64_t)LLVMConstIntGetSExtValue(index) : 0;
			if (i == 1)
				*offset += value * LLVMABISizeOfType(layout, type);
			else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
				*offset += LLVMOffsetOfElement(layout, type, (unsigned)value);
				type = LLVMStructGetTypeAtIndex(type, (unsigned)value);
			} else {
				type = LLVMGetElementType(type);
				*offset += value * LLVMABISizeOfType(layout, type);
			}
		}
		*pointer = LLVMGetOperand(*pointer, 0);
	}
	return true;
}

/* Global variables carry their debug expression as metadata "dbg". */
static LLVMMetadataRef global_variable(const struct source *source, LLVMValueRef global)
{
	size_t n;
	LLVMMetadataRef found = NULL;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &n);
	for (unsigned i = 0; i < n && !found; i++) {
		LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, i);
		if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableExpressionMetadataKind)
			found = operand(source, node, 0);
	}
	LLVMDisposeValueMetadataEntries(entries);
	return found;
}

/* Strips what C++ and type-based alias analysis put around a structure's name. */
static const char *plain_type_name(const char *name)
{
	if (strncmp(name, "_ZTS", 4) == 0) {
		name += 4;
		name += strspn(name, "0123456789");
	}
	return name;
}

/* The structure and offset that the access tag of type-based alias analysis names. */
static bool by_alias_tag(const struct source *source, LLVMValueRef instruction, char out[256])
{
	unsigned kind = LLVMGetMDKindIDInContext(source->context, "tbaa", 4);
	LLVMValueRef tag = LLVMHasMetadata(instruction) ? LLVMGetMetadata(instruction, kind) : NULL;
	if (!tag || LLVMGetMDNodeNumOperands(tag) < 3)
		return false;
	LLVMMetadataRef node = LLVMValueAsMetadata(tag);
	LLVMMetadataRef base = operand(source, node, TAG_FIELD_BASE);
	LLVMValueRef operands[8];
	if (!base || LLVMGetMDNodeNumOperands(tag) > 8)
		return false;
	LLVMGetMDNodeOperands(tag, operands);
	char name[256];
	string_operand(source, base, 0, name);
	const char *type = plain_type_name(name);
	const uint64_t *composite = map_get(&source->composites, hash_string(HASH_START, type));
	if (!composite || !LLVMIsAConstantInt(operands[TAG_FIELD_OFFSET]))
		return false;
	snprintf(out, 256, "%s", type);
	append_members(source, (LLVMMetadataRef)(uintptr_t)*composite,
		       LLVMConstIntGetZExtValue(operands[TAG_FIELD_OFFSET]), out);
	return true;
}

/* Without optimisation the pointer's own step names the structure. */
static bool by_step(const struct source *source, LLVMValueRef pointer, char out[256])
{
	if (!LLVMIsAGetElementPtrInst(pointer))
		return false;
	LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
	const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
	if (!name)
		return false;
	const char *plain = strchr(name, '.') ? strchr(name, '.') + 1 : name;
	const uint64_t *composite = map_get(&source->composites, hash_string(HASH_START, plain));
	if (!composite)
		return false;
	LLVMValueRef base = pointer;
	uint64_t offset;
	constant_offset(source, &base, &offset);
	snprintf(out, 256, "%s", plain);
	append_members(source, (LLVMMetadataRef)(uintptr_t)*composite, offset, out);
	return true;
}

void source_variable(const struct source *source, LLVMValueRef instruction, LLVMValueRef pointer,
		     char out[256])
{
	out[0] = '\0';
	LLVMValueRef base = pointer;
	uint64_t offset;
	constant_offset(source, &base, &offset);
	if (LLVMIsAGlobalVariable(base)) {
		LLVMMetadataRef variable = global_variable(source, base);
		if (variable) {
			enum { GLOBAL_NAME = 1, GLOBAL_TYPE = 3 };
			string_operand(source, variable, GLOBAL_NAME, out);
			LLVMMetadataRef type = composite_of(source, operand(source, variable, GLOBAL_TYPE));
			if (type)
				append_members(source, type, offset, out);
		} else {
			size_t length;
			snprintf(out, 256, "%s", LLVMGetValueName2(base, &length));
		}
		return;
	}
	if (!by_alias_tag(source, instruction, out))
		by_step(source, pointer, out);
}
