/* Instructions, threads and locks in the words of the program's own source. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

static const char *intern(struct scanner *scanner, const char *text)
{
	bool fresh;
	uint64_t *place = map_put(&scanner->strings, hash_string(HASH_START, text), &fresh);

	if (fresh)
		*place = whole_key(memory_string(text));
	return (const char *)(uintptr_t)*place;
}

/* The innermost place around a location that stands in a file of the program; NULL for none. */
static LLVMMetadataRef own_location(LLVMMetadataRef location)
{
	while (location && source_in_system_file(LLVMDILocationGetScope(location)))
		location = LLVMDILocationGetInlinedAt(location);
	return location;
}

uint32_t scanner_statement(struct scanner *scanner, uint32_t instruction, LLVMValueRef pointer,
			   enum site_kind kind)
{
	LLVMValueRef at = scanner->whole.instructions.items[instruction];
	char scratch[4096], through[512] = "", variable[256] = "";
	struct site site = { 0 };
	bool fresh;

	source_position(&scanner->whole.source, at, &site, scratch, through);
	if (pointer)
		source_variable(&scanner->whole.source, at, pointer, variable);
	uint64_t identity = hash_string(HASH_START, site.file);

	identity = hash_bytes(identity, &site.line, sizeof site.line);
	identity = hash_bytes(identity, &kind, sizeof kind);
	identity = hash_string(identity, variable);
	uint64_t *number = map_put(&scanner->statement_numbers, identity, &fresh);

	if (fresh) {
		LLVMMetadataRef location = LLVMInstructionGetDebugLoc(at);

		*number = scanner->statements.n;
		*VEC_PUSH(&scanner->statements) =
			(struct statement){ .own = !location || own_location(location),
					    .line = site.line,
					    .column = site.column,
					    .kind = kind,
					    .file = intern(scanner, site.file),
					    .function = intern(scanner, site.function),
					    .variable = intern(scanner, variable),
					    .through = intern(scanner, through) };
	}
	return (uint32_t)*number;
}

/* Valid until the next new statement. */
static const struct statement *call_statement(struct scanner *scanner, uint32_t instruction)
{
	uint32_t number = scanner_statement(scanner, instruction, NULL, SITE_SYNC);

	return &scanner->statements.items[number];
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name of a function as the source has it. */
static void function_words(struct scanner *scanner, uint32_t function, char out[256])
{
	LLVMValueRef value = scanner->whole.functions.items[function];
	LLVMMetadataRef subprogram = LLVMGetSubprogram(value);

	out[0] = '\0';
	if (subprogram)
		source_full_name(&scanner->whole.source, subprogram, out);
	if (!out[0])
		snprintf(out, 256, "%s", whole_name(value));
}

/* What the program's own function is called that this call leads to; false for other instructions. */
static bool words_of_callee(struct scanner *scanner, uint32_t instruction, char out[256])
{
	const struct call *call = points_call(&scanner->points, instruction);

	for (size_t c = 0; call && c < call->callees.n; c++) {
		LLVMMetadataRef called =
			LLVMGetSubprogram(scanner->whole.functions.items[call->callees.items[c]]);

		if (called && !source_in_system_file(called)) {
			source_full_name(&scanner->whole.source, called, out);
			return out[0] != '\0';
		}
	}
	return false;
}

/* A thread of the C++ library begins in a function of its headers: the first thing of the program's that is called or
 * was put in there says what the thread is. False when there is none. */
static bool words_of_first_own(struct scanner *scanner, uint32_t function, char out[256])
{
	const struct whole *whole = &scanner->whole;

	for (uint32_t i = whole->first[function]; i < whole->first[function + 1]; i++) {
		LLVMValueRef at = whole->instructions.items[i];
		char scratch[4096], through[512];
		struct site site = { 0 };

		if (words_of_callee(scanner, i, out))
			return true;
		if (!own_location(LLVMInstructionGetDebugLoc(at)))
			continue;
		source_position(&whole->source, at, &site, scratch, through);
		if (strcmp(site.function, "operator()") == 0)
			snprintf(out, 256, "the lambda at %.200s:%u", file_name(site.file), site.line);
		else
			snprintf(out, 256, "%.255s", site.function);
		return true;
	}
	return false;
}

static void thread_words(struct scanner *scanner, uint32_t function, char out[256])
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(scanner->whole.functions.items[function]);

	if (!subprogram || !source_in_system_file(subprogram) || !words_of_first_own(scanner, function, out))
		function_words(scanner, function, out);
}

/* Roots that begin in functions put into others are created at one line: the line that called tells them apart. */
static bool shares_its_line(struct scanner *scanner, uint32_t number, const struct statement *at)
{
	struct statement own = *at;

	for (uint32_t r = 0; r < scanner->threads.n; r++) {
		const struct root *root = &scanner->threads.roots[r];

		if (r == number || root->create == WHOLE_NONE ||
		    root->create == scanner->threads.roots[number].create)
			continue;
		const struct statement *other = call_statement(scanner, root->create);

		if (other->line == own.line && strcmp(other->file, own.file) == 0)
			return true;
	}
	return false;
}

/* ", called at main.c:16", owned; "" when the creation was not put into its caller. */
static char *creation_caller(struct scanner *scanner, uint32_t create)
{
	LLVMMetadataRef own =
		own_location(LLVMInstructionGetDebugLoc(scanner->whole.instructions.items[create]));
	LLVMMetadataRef outer = own ? own_location(LLVMDILocationGetInlinedAt(own)) : NULL;
	unsigned length = 0;

	if (!outer)
		return memory_string("");
	LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(outer));
	const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
	_cleanup_free_ char *path = memory_format("%.*s", (int)length, name);

	return memory_format(", called at %s:%u", file_name(path), LLVMDILocationGetLine(outer));
}

static char *root_words(struct scanner *scanner, uint32_t number)
{
	const struct root *root = &scanner->threads.roots[number];
	char name[256];

	thread_words(scanner, root->function, name);
	if (root->create == WHOLE_NONE)
		return memory_string(root->many ? "any caller" : name);
	struct statement at = *call_statement(scanner, root->create);
	_cleanup_free_ char *caller = shares_its_line(scanner, number, &at)
					      ? creation_caller(scanner, root->create)
					      : memory_string("");

	return memory_format("%s%s (%s at %s:%u%s)", root->many ? "each " : "", name,
			     root->handler ? "handler, set" : "created", file_name(at.file), at.line, caller);
}

static char *lock_words(struct scanner *scanner, uint32_t number)
{
	const struct lock *lock = &scanner->locks.items.items[number];
	LLVMValueRef call = scanner->whole.instructions.items[lock->instruction];
	const struct call *known = points_call(&scanner->points, lock->instruction);
	unsigned operand = 0;
	char variable[256];

	if (known && known->library.n &&
	    (known->library.items[0]->role == LIBRARY_WAIT ||
	     known->library.items[0]->role == LIBRARY_WAIT_CXX))
		operand = 1;
	variable[0] = '\0';
	if (whole_arguments(call) > operand)
		source_variable(&scanner->whole.source, call, LLVMGetOperand(call, operand), variable);
	/* Members of libc's own types are no names of the program's. */
	char *inside = strstr(variable, ".__");

	if (inside && inside != variable)
		*inside = '\0';
	if (variable[0])
		return memory_string(variable);
	const struct statement *at = call_statement(scanner, lock->instruction);

	return memory_format("the lock taken at %s:%u", file_name(at->file), at->line);
}

const char *scanner_root(struct scanner *scanner, uint32_t number)
{
	if (!scanner->root_words)
		scanner->root_words = memory_alloc(THREADS_MOST * sizeof *scanner->root_words);
	if (!scanner->root_words[number])
		scanner->root_words[number] = root_words(scanner, number);
	return scanner->root_words[number];
}

const char *scanner_lock(struct scanner *scanner, uint32_t number)
{
	/* No new locks come once accesses are collected. */
	if (!scanner->lock_words) {
		scanner->nlock_words = scanner->locks.items.n;
		scanner->lock_words = memory_alloc((scanner->nlock_words + 1) * sizeof *scanner->lock_words);
	}
	if (number >= scanner->nlock_words)
		return "a lock";
	if (!scanner->lock_words[number])
		scanner->lock_words[number] = lock_words(scanner, number);
	return scanner->lock_words[number];
}

bool scanner_types_meet(struct scanner *scanner, const struct access_at *a, const struct access_at *b)
{
	uint64_t left = whole_key(a->tag), right = whole_key(b->tag);
	bool fresh;

	if (!a->tag || !b->tag || a->tag == b->tag)
		return true;
	uint64_t key = hash_bytes(hash_bytes(HASH_START, &left, sizeof left), &right, sizeof right);
	uint64_t *answer = map_put(&scanner->tag_answers, key, &fresh);

	if (fresh)
		*answer = 1u + tags_may_meet(&scanner->whole.source, a->tag, b->tag);
	return *answer == 2;
}

char *scanner_locks(struct scanner *scanner, const struct lockset *held)
{
	char *all = memory_string("");

	for (uint32_t i = 0; i < held->n; i++) {
		if (held->items[i].lock == WHOLE_NONE)
			continue;
		const char *name = scanner_lock(scanner, held->items[i].lock);
		char *more = memory_format("%s%s%s%s", all, *all ? ", " : "", name,
					   held->items[i].shared ? " (shared)" : "");

		free(all);
		all = more;
	}
	return all;
}

static void fill(const struct statement *at, struct candidate_access *out)
{
	out->line = at->line;
	out->column = at->column;
	out->file = memory_string(at->file);
	out->function = memory_string(at->function);
	out->variable = memory_string(at->variable);
	out->through = memory_string(at->through);
}

void scanner_describe(struct scanner *scanner, uint32_t number, unsigned thread, uint32_t root,
		      struct candidate_access *out)
{
	const struct access_at *access = &scanner->accesses.items.items[number];

	*out = (struct candidate_access){ .thread = thread,
					  .kind = access->kind,
					  .atomic = access->atomic,
					  .frees = access->frees,
					  .instruction = access->instruction,
					  .statement = scanner->statement_of[number],
					  .lock = UINT32_MAX };
	fill(&scanner->statements.items[scanner->statement_of[number]], out);
	out->root = memory_string(scanner_root(scanner, root));
	out->locks = scanner_locks(scanner, &access->held);
}

void scanner_describe_call(struct scanner *scanner, uint32_t instruction, unsigned thread, uint32_t root,
			   const struct lockset *held, const char *variable, struct candidate_access *out)
{
	*out = (struct candidate_access){
		.thread = thread, .kind = SITE_SYNC, .instruction = instruction, .statement = UINT32_MAX
	};
	fill(call_statement(scanner, instruction), out);
	free(out->variable);
	out->variable = memory_string(variable);
	out->root = memory_string(scanner_root(scanner, root));
	out->locks = scanner_locks(scanner, held);
}
