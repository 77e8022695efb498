/* Debug information as generic metadata, for source.c and variable.c. */
#ifndef COMPILE_METADATA_H
#define COMPILE_METADATA_H

#include "loom/compile/transform.h"

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

/* NULL when there is none. */
LLVMMetadataRef metadata_operand(const struct source *source, LLVMMetadataRef node, unsigned index);
/* The text of a string operand, "" when it is none. Copied: metadata strings need not end with NUL. */
void metadata_string(const struct source *source, LLVMMetadataRef node, unsigned index, char out[256]);
void metadata_append(char out[256], const char *separator, const char *text);
/* Visits every metadata node reachable from `root` once, and notes the structures in source->composites. */
void metadata_collect(struct source *source, LLVMMetadataRef root, struct map *visited);

#endif
