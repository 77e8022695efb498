/* Accesses to several whole granules side by side: wide ones, and groups of accesses
 * that compiled code hooks together as long as they are quiet, which is to say that none
 * of them teaches anything or meets anybody, and else each alone, granule by granule. */
#include "loom/runtime/observe/entry.h"
#include "loom/runtime/observe/quick.h"

#define MISS_SEVERAL(name, access)                                                                      \
	MISS(name##32)                                                                                  \
	{                                                                                               \
		unsnarl_miss_##name##16(word, address, memo);                                           \
		unsnarl_miss_##name##16(word, address + 16, memo);                                      \
	}                                                                                               \
	COLD unsnarl_alone_##name(uint64_t word, uint64_t address, uint64_t size)                       \
	{                                                                                               \
		struct thread *self = unsnarl_self;                                                     \
		struct memo *memo = memo_of(self, WORD_SITE(word));                                     \
		for (uint64_t end = address + size; address < end; address += 8) {                      \
			struct cell *cell = layout_whole(address);                                      \
			if (!quick_privately(self, cell, FORM_WHOLE, WORD_SITE(word), WORD_ORDER(word), \
					     access) &&                                                 \
			    (self->owner == OWNER_NEVER ||                                              \
			     !quick_by_memo(self, cell, WORD_ORDER(word), access, memo)))               \
				unsnarl_miss_##name##8(word, address, (uint64_t)memo);                  \
		}                                                                                       \
	}
MISS_SEVERAL(read, ACCESS_READ)
MISS_SEVERAL(write, ACCESS_WRITE)

/* An access to a whole granule, if it teaches nothing and meets nobody. */
INLINE bool access_quietly(struct thread *self, uint64_t word, uint64_t address, enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	if (quick_privately(self, cell, FORM_WHOLE, WORD_SITE(word), WORD_ORDER(word), access))
		return true;
	if (LOW_OWNER(low) == OWNER(0u, FORM_WHOLE, MODE_MANY))
		return access == ACCESS_READ && passes_over(self, cell, word);
	return OWNER_FORM(LOW_OWNER(low)) == FORM_WHOLE && quick_without_memo(word, address, access, 8, true);
}

/* A group that its hook did not know. */
#define QUIETLY(name, access)                                                                                \
	EXPORT __attribute__((preserve_most)) uint64_t unsnarl_##name##_quietly(                             \
		uint64_t word, uint64_t address, uint64_t shape)                                             \
	{                                                                                                    \
		struct thread *self = unsnarl_self;                                                          \
		uint64_t size = GROUP_SIZE(shape), end = address + GROUP_LENGTH(shape);                      \
		uint64_t base = word - WORD_ORDER(word);                                                     \
		uint32_t order = WORD_ORDER(word), step = GROUP_STEP(shape);                                 \
		bool quiet = self->owner != OWNER_NEVER && !(address % 8) && !must_be_seen(WORD_SITE(word)); \
		for (; quiet && address < end; order += step)                                                \
			for (uint64_t next = address + size; quiet && address < next; address += 8)          \
				quiet = access_quietly(self, base | order, address, access);                 \
		return quiet;                                                                                \
	}
QUIETLY(reads, ACCESS_READ)
QUIETLY(writes, ACCESS_WRITE)
