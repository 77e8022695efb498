/* Source positions and function names from debug information: where an access
 * stands, and for what was inlined from the C++ library or from system headers, the
 * program's own line that called it. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "loom/compile/metadata.h"

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
		metadata_collect(source, LLVMValueAsMetadata(units[i]), &visited);
	cleanup_free(&units);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (LLVMGetSubprogram(f))
			metadata_collect(source, LLVMGetSubprogram(f), &visited);
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
		scope = metadata_operand(source, scope, SCOPE_PARENT);
	}
	return NULL;
}

static void function_name(const struct source *source, LLVMMetadataRef scope, char out[256])
{
	LLVMMetadataRef function = function_of(source, scope);
	out[0] = '\0';
	if (function)
		metadata_string(source, function, SUBPROGRAM_NAME, out);
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

#define PATH_ROOM (4096 - 256)

/* The file that a scope is in; "" when nobody knows. */
static void path_of_scope(LLVMMetadataRef scope, char *path)
{
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	unsigned name_length, folder_length;
	path[0] = '\0';
	if (!file)
		return;
	const char *name = LLVMDIFileGetFilename(file, &name_length);
	const char *folder = LLVMDIFileGetDirectory(file, &folder_length);
	if (name_length && name[0] == '/')
		folder_length = 0;
	snprintf(path, PATH_ROOM, "%.*s%s%.*s", (int)folder_length, folder_length ? folder : "",
		 folder_length ? "/" : "", (int)name_length, name);
	shorten_path(path);
}

static void path_of(LLVMMetadataRef location, char *path)
{
	path_of_scope(location ? LLVMDILocationGetScope(location) : NULL, path);
}

void source_file(LLVMMetadataRef location, char path[4096])
{
	path_of(location, path);
}

/* Fills the position; the function's name and the path stand in `scratch`. */
static void position_at(const struct source *source, LLVMMetadataRef location, LLVMValueRef instruction,
			struct site *site, char scratch[4096])
{
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	char *function = scratch, *path = scratch + 256;
	function[0] = '\0';
	if (scope)
		function_name(source, scope, function);
	if (!function[0]) {
		LLVMValueRef in = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
		size_t length;
		snprintf(function, 256, "%s", LLVMGetValueName2(in, &length));
	}
	path_of(location, path);
	if (!path[0]) {
		snprintf(path, PATH_ROOM, "%s", source->fallback_file);
		shorten_path(path);
	}
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

/* Of where the address of a store comes from, through so many steps. */
static LLVMMetadataRef line_of_address(LLVMValueRef pointer, int steps)
{
	if (!LLVMIsAInstruction(pointer))
		return NULL;
	LLVMMetadataRef found = with_line(pointer);
	int n = LLVMIsALoadInst(pointer) ? 0 : LLVMGetNumOperands(pointer);
	for (int i = 0; !found && steps > 1 && i < n && i < NEIGHBOURS; i++)
		found = line_of_address(LLVMGetOperand(pointer, (unsigned)i), steps - 1);
	return found;
}

/* The optimiser takes the line from what it moves or unites. Then the line of what uses the value is
 * the best to show, or of what gave a store its address, or that of a neighbour. */
static LLVMMetadataRef likely_location(LLVMValueRef instruction)
{
	LLVMMetadataRef found = with_line(instruction);
	if (!found)
		found = line_of_use(instruction, 3);
	if (!found && LLVMIsAStoreInst(instruction))
		found = line_of_address(LLVMGetOperand(instruction, 1), 3);
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
	     scope = metadata_operand(source, scope, SCOPE_PARENT)) {
		LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
		if (kind == LLVMDILexicalBlockMetadataKind || kind == LLVMDILexicalBlockFileMetadataKind)
			continue;
		if (kind != LLVMDISubprogramMetadataKind && kind != LLVMDINamespaceMetadataKind &&
		    kind != LLVMDICompositeTypeMetadataKind)
			break; /* a file or the unit */
		metadata_string(source, scope, SCOPE_NAME, found[n]);
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
			metadata_append(out, "::", public_name(names[i]));
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

/* ---- where an access stands ---- */

/* Headers that came with the system: what they do is done on behalf of who called it. */
static bool is_system_file(const char *path)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/", "/usr/local/include/",
					       "/usr/local/lib/" };
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

bool source_in_system_file(LLVMMetadataRef function)
{
	char path[PATH_ROOM];
	path_of_scope(function, path);
	return is_system_file(path);
}

/* The innermost place around `location` that is in a file of the program; `*called` is the function
 * of the system's headers that is called there. NULL when there is none. */
static LLVMMetadataRef program_location(const struct source *source, LLVMMetadataRef location,
					LLVMMetadataRef *called)
{
	char path[PATH_ROOM];
	for (; location; location = LLVMDILocationGetInlinedAt(location)) {
		path_of(location, path);
		if (!is_system_file(path))
			return location;
		*called = function_of(source, LLVMDILocationGetScope(location));
	}
	return NULL;
}

static void describe_through(const struct source *source, LLVMMetadataRef inner, LLVMMetadataRef called,
			     char out[512])
{
	char name[256], path[PATH_ROOM];
	source_full_name(source, called, name);
	path_of(inner, path);
	const char *slash = strrchr(path, '/');
	snprintf(out, 512, "%s at %.200s:%u:%u", name, slash ? slash + 1 : path, LLVMDILocationGetLine(inner),
		 LLVMDILocationGetColumn(inner));
}

void source_position(const struct source *source, LLVMValueRef instruction, struct site *site,
		     char scratch[4096], char through[512])
{
	LLVMMetadataRef inner = likely_location(instruction), called = NULL;
	LLVMMetadataRef own = program_location(source, inner, &called);
	through[0] = '\0';
	if (own && called)
		describe_through(source, inner, called, through);
	position_at(source, own ? own : inner, instruction, site, scratch);
	site->through = through;
}
