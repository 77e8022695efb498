/* Type-based alias analysis from the tags that clang put on accesses: a tag says which
 * member of which structure is meant. The compiler has already relied on it. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "loom/compile/metadata.h"
#include "static/accesses.h"

#define DEPTH 12
enum { TAG_BASE, TAG_ACCESS, TAG_OFFSET };

static LLVMMetadataRef node_operand(const struct source *source, LLVMMetadataRef node, unsigned index)
{
	LLVMValueRef value = LLVMMetadataAsValue(source->context, node);
	unsigned n = (unsigned)LLVMGetMDNodeNumOperands(value);

	return index < n ? metadata_operand(source, node, index) : NULL;
}

static bool number_operand(const struct source *source, LLVMMetadataRef node, unsigned index, uint64_t *out)
{
	LLVMValueRef value = LLVMMetadataAsValue(source->context, node);
	unsigned n = (unsigned)LLVMGetMDNodeNumOperands(value);
	LLVMValueRef operands[512];

	if (index >= n || n > 512)
		return false;
	LLVMGetMDNodeOperands(value, operands);
	if (!operands[index] || !LLVMIsAConstantInt(operands[index]))
		return false;
	*out = LLVMConstIntGetZExtValue(operands[index]);
	return true;
}

/* The part of a structure that holds `offset`; false for types without parts. A scalar's part is what it is
 * a kind of. */
static bool part_at(const struct source *source, LLVMMetadataRef *type, uint64_t *offset)
{
	unsigned n = (unsigned)LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(source->context, *type));
	LLVMMetadataRef best = NULL;
	uint64_t best_offset = 0;

	if (n <= 3)
		return false;
	for (unsigned i = 1; i + 1 < n; i += 2) {
		uint64_t start;

		if (number_operand(source, *type, i + 1, &start) && start <= *offset &&
		    start >= best_offset) {
			best = node_operand(source, *type, i);
			best_offset = start;
		}
	}
	if (!best)
		return false;
	*type = best;
	*offset -= best_offset;
	return true;
}

/* Does a path into `type` at `offset` come to `part` at `part_offset`? */
static bool holds(const struct source *source, LLVMMetadataRef type, uint64_t offset, LLVMMetadataRef part,
		  uint64_t part_offset)
{
	for (int depth = 0; type && depth < DEPTH; depth++) {
		if (type == part)
			return offset == part_offset;
		if (!part_at(source, &type, &offset))
			return false;
	}
	return true;
}

static bool is_character(const struct source *source, LLVMMetadataRef type)
{
	char name[256];

	metadata_string(source, type, 0, name);
	return strcmp(name, "omnipotent char") == 0;
}

/* Languages have type trees of their own, which say nothing of each other. */
static LLVMMetadataRef tree_of(const struct source *source, LLVMMetadataRef type)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		LLVMMetadataRef parent = node_operand(source, type, 1);

		if (!parent || LLVMGetMetadataKind(parent) != LLVMMDTupleMetadataKind)
			return type;
		type = parent;
	}
	return type;
}

bool tags_may_meet(const struct source *source, LLVMValueRef a, LLVMValueRef b)
{
	if (!a || !b || a == b || LLVMGetMDNodeNumOperands(a) < 3 || LLVMGetMDNodeNumOperands(b) < 3)
		return true;
	LLVMMetadataRef left = LLVMValueAsMetadata(a), right = LLVMValueAsMetadata(b);
	LLVMMetadataRef left_base = node_operand(source, left, TAG_BASE);
	LLVMMetadataRef right_base = node_operand(source, right, TAG_BASE);
	LLVMMetadataRef left_access = node_operand(source, left, TAG_ACCESS);
	LLVMMetadataRef right_access = node_operand(source, right, TAG_ACCESS);
	uint64_t left_offset, right_offset;

	if (!left_base || !right_base || !left_access || !right_access ||
	    !number_operand(source, left, TAG_OFFSET, &left_offset) ||
	    !number_operand(source, right, TAG_OFFSET, &right_offset))
		return true;
	if (is_character(source, left_access) || is_character(source, right_access) ||
	    tree_of(source, left_access) != tree_of(source, right_access))
		return true;
	return holds(source, left_base, left_offset, right_base, right_offset) ||
	       holds(source, right_base, right_offset, left_base, left_offset);
}
