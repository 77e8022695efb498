/* Collects a unit's sites and lays them out as the bytes that get embedded. */
#include "loom/compile/transform.h"

#include <string.h>

#include "model/unit_format.h"

static uint32_t intern(struct table *table, const char *string)
{
	bool fresh;
	uint64_t *at = map_put(&table->strings, hash_string(HASH_START, string), &fresh);
	if (fresh) {
		*at = table->pool.n;
		for (const char *c = string;; c++) {
			*VEC_PUSH(&table->pool) = *c;
			if (!*c)
				break;
		}
	}
	return (uint32_t)*at;
}

/* The strings of a kept site are offsets into the pool, carried in the pointers. */
static const char *as_offset(uint32_t offset)
{
	return (const char *)(uintptr_t)offset;
}

uint32_t table_add(struct table *table, const struct site *site)
{
	struct site *kept = VEC_PUSH(&table->sites);
	*kept = *site;
	kept->function = as_offset(intern(table, site->function));
	kept->file = as_offset(intern(table, site->file));
	kept->variable = as_offset(intern(table, site->variable));
	kept->through = as_offset(site->through && *site->through ? intern(table, site->through) + 1 : 0);
	return (uint32_t)table->sites.n - 1;
}

char *table_bytes(const struct table *table, uint32_t *size, uint64_t *hash)
{
	struct unit_header header = { .magic = UNIT_MAGIC,
				      .version = UNIT_VERSION,
				      .nsites = (uint32_t)table->sites.n };
	size_t strings = sizeof header + table->sites.n * sizeof(struct unit_site);
	header.strings = (uint32_t)strings;
	header.size = (uint32_t)((strings + table->pool.n + 1 + 15) & ~15ull);
	char *bytes = memory_alloc(header.size);
	for (size_t i = 0; i < table->sites.n; i++) {
		const struct site *site = &table->sites.items[i];
		struct unit_site raw = { .id = site->id,
					 .line = site->line,
					 .column = site->column,
					 .size = site->size,
					 .function = (uint32_t)(uintptr_t)site->function,
					 .file = (uint32_t)(uintptr_t)site->file,
					 .variable = (uint32_t)(uintptr_t)site->variable,
					 .kind = (uint32_t)site->kind | (site->atomic ? UNIT_ATOMIC : 0),
					 .through = (uint32_t)(uintptr_t)site->through };
		memcpy(bytes + sizeof header + i * sizeof raw, &raw, sizeof raw);
	}
	if (table->pool.n)
		memcpy(bytes + strings, table->pool.items, table->pool.n);
	header.hash = hash_bytes(HASH_START, bytes + sizeof header, header.size - sizeof header);
	memcpy(bytes, &header, sizeof header);
	*size = header.size;
	*hash = header.hash;
	return bytes;
}

void table_free(struct table *table)
{
	VEC_FREE(&table->sites);
	VEC_FREE(&table->pool);
	map_free(&table->strings);
}
