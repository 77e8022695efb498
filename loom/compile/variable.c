/* Names of what an access touches: a global variable with its members, or the
 * structure and member that a pointer leads to, as type-based alias analysis or the
 * pointer's own step tell. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/compile/metadata.h"

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
		type = metadata_operand(source, type, TYPE_BASE);
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
			LLVMMetadataRef element =
				composite_of(source, metadata_operand(source, composite, TYPE_BASE));
			uint64_t size = element ? LLVMDITypeGetSizeInBits(element) / 8 : 0;
			metadata_append(out, "", "[]");
			if (!size)
				return;
			offset %= size;
			composite = element;
			continue;
		}
		LLVMMetadataRef elements = metadata_operand(source, composite, COMPOSITE_ELEMENTS),
				member = NULL;
		LLVMValueRef list = elements ? LLVMMetadataAsValue(source->context, elements) : NULL;
		unsigned n = list ? LLVMGetMDNodeNumOperands(list) : 0;
		for (unsigned i = 0; i < n && i < 64; i++) {
			LLVMMetadataRef each = metadata_operand(source, elements, i);
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
		metadata_string(source, member, TYPE_NAME, name);
		if (name[0])
			metadata_append(out, ".", name);
		offset -= LLVMDITypeGetOffsetInBits(member) / 8;
		composite = composite_of(source, metadata_operand(source, member, TYPE_BASE));
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

/* Where a global variable that is a part of a structure begins in that: an optimiser may take one apart. LLVM's C
 * interface tells it in text only. */
static uint64_t fragment_start(const struct source *source, LLVMMetadataRef expression)
{
	static const char word[] = "DW_OP_LLVM_fragment, ";
	unsigned long long bits = 0;
	if (!expression)
		return 0;
	char *text = LLVMPrintValueToString(LLVMMetadataAsValue(source->context, expression));
	const char *fragment = strstr(text, word);
	if (fragment)
		bits = strtoull(fragment + strlen(word), NULL, 10);
	LLVMDisposeMessage(text);
	return bits / 8;
}

/* Global variables carry their debug expression as metadata "dbg". *offset becomes that in the whole variable. */
static LLVMMetadataRef global_variable(const struct source *source, LLVMValueRef global, uint64_t *offset)
{
	enum { EXPRESSION_VARIABLE, EXPRESSION_TEXT };
	size_t n;
	LLVMMetadataRef found = NULL;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &n);
	for (unsigned i = 0; i < n && !found; i++) {
		LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, i);
		if (LLVMGetMetadataKind(node) != LLVMDIGlobalVariableExpressionMetadataKind)
			continue;
		found = metadata_operand(source, node, EXPRESSION_VARIABLE);
		*offset += fragment_start(source, metadata_operand(source, node, EXPRESSION_TEXT));
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
	LLVMMetadataRef base = metadata_operand(source, node, TAG_FIELD_BASE);
	LLVMValueRef operands[8];
	if (!base || LLVMGetMDNodeNumOperands(tag) > 8)
		return false;
	LLVMGetMDNodeOperands(tag, operands);
	char name[256];
	metadata_string(source, base, 0, name);
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

/* What a function of libc keeps for itself. */
static bool by_library(LLVMValueRef pointer, char out[256])
{
	size_t length;
	if (!LLVMIsACallInst(pointer) || !LLVMIsAFunction(LLVMGetCalledValue(pointer)) ||
	    strcmp(LLVMGetValueName2(LLVMGetCalledValue(pointer), &length), LIBRARY_STATE) != 0)
		return false;
	uint64_t which = LLVMConstIntGetZExtValue(LLVMGetOperand(pointer, 0));
	snprintf(out, 256, "%s", which < LIBRARY_STATES ? library_state_names[which] : "");
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
		LLVMMetadataRef variable = global_variable(source, base, &offset);
		if (variable) {
			enum { GLOBAL_NAME = 1, GLOBAL_TYPE = 3 };
			metadata_string(source, variable, GLOBAL_NAME, out);
			LLVMMetadataRef type =
				composite_of(source, metadata_operand(source, variable, GLOBAL_TYPE));
			if (type)
				append_members(source, type, offset, out);
		} else {
			size_t length;
			snprintf(out, 256, "%s", LLVMGetValueName2(base, &length));
		}
		return;
	}
	if (!by_library(base, out) && !by_alias_tag(source, instruction, out))
		by_step(source, pointer, out);
}
