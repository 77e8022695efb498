/* Debug information as generic metadata: operands by number where LLVM's C
 * interface has no getter (the numbers are those of LLVM 19's DINode classes), and
 * an index of structures by name. Knows neither positions nor variables. */
#include "loom/compile/metadata.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

LLVMMetadataRef metadata_operand(const struct source *source, LLVMMetadataRef node, unsigned index)
{
	LLVMValueRef value = LLVMMetadataAsValue(source->context, node), operands[64];
	unsigned n = LLVMGetMDNodeNumOperands(value);
	if (index >= n || n > 64)
		return NULL;
	LLVMGetMDNodeOperands(value, operands);
	return operands[index] ? LLVMValueAsMetadata(operands[index]) : NULL;
}

void metadata_string(const struct source *source, LLVMMetadataRef node, unsigned index, char out[256])
{
	out[0] = '\0';
	LLVMMetadataRef string = metadata_operand(source, node, index);
	if (!string || LLVMGetMetadataKind(string) != LLVMMDStringMetadataKind)
		return;
	unsigned length;
	const char *text = LLVMGetMDString(LLVMMetadataAsValue(source->context, string), &length);
	snprintf(out, 256, "%.*s", (int)length, text);
}

void metadata_append(char out[256], const char *separator, const char *text)
{
	size_t n = strlen(out);
	snprintf(out + n, 256 - n, "%s%s", n ? separator : "", text);
}

static void note_composite(struct source *source, LLVMMetadataRef node)
{
	char name[256];
	metadata_string(source, node, TYPE_NAME, name);
	if (name[0] && metadata_operand(source, node, COMPOSITE_ELEMENTS))
		*map_put(&source->composites, hash_string(HASH_START, name), NULL) =
			(uint64_t)(uintptr_t)node;
}

void metadata_collect(struct source *source, LLVMMetadataRef root, struct map *visited)
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
