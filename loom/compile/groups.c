/* Accesses side by side that an unrolled or vectorised loop makes of one access in
 * the source: of the same kind and size, each right behind the one before, in one
 * stretch. They are one site, and one hook before the first of them decides for all.
 * Where that changes the order of accesses through two pointers that are not known to
 * be apart, the program compares addresses, and hooks each alone if they overlap. */
#include "loom/compile/weave.h"

#include <llvm-c/DebugInfo.h>

#define GROUP_MOST 128u /* bytes */
#define STEP_MOST 16u   /* accesses from one member to the next */

LLVMValueRef groups_base(LLVMTargetDataRef layout, LLVMValueRef pointer, int64_t *offset)
{
	*offset = 0;
	while (LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumOperands(pointer) == 2 &&
	       LLVMIsAConstantInt(LLVMGetOperand(pointer, 1))) {
		*offset += LLVMConstIntGetSExtValue(LLVMGetOperand(pointer, 1)) *
			   (int64_t)LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(pointer));
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer;
}

/* Is the value known before the instruction `place`? It is used later in the same block. */
static bool is_there(LLVMValueRef value, LLVMValueRef place)
{
	if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(place))
		return true;
	while ((place = LLVMGetPreviousInstruction(place)))
		if (place == value)
			return true;
	return false;
}

/* ---- which accesses ---- */

static bool is_plain(const struct access *access)
{
	return !access->extent && access->kind != SITE_UPDATE &&
	       LLVMGetOrdering(access->instruction) == LLVMAtomicOrderingNotAtomic &&
	       !LLVMGetVolatile(access->instruction);
}

static bool may_join(const struct access *access)
{
	bool fits = access->size == 8 || access->size == 16 || access->size == 32;
	return is_plain(access) && !access->called && fits && access->alignment >= 8;
}

static bool is_next(const struct access *first, const struct access *access, int64_t distance)
{
	LLVMMetadataRef place = LLVMInstructionGetDebugLoc(first->instruction);
	return may_join(access) && access->kind == first->kind && access->size == first->size &&
	       access->base == first->base && access->offset == first->offset + distance && place &&
	       LLVMInstructionGetDebugLoc(access->instruction) == place;
}

/* Every `step`-th access from the first one on is of its group: how many are they? Hooks are for 32, 64 and
 * 128 bytes. */
static uint32_t members_from(const struct access *items, uint32_t first, uint32_t end, uint32_t *step)
{
	const struct access *head = &items[first];
	uint32_t members = 1, last = first;
	*step = 0;
	for (uint32_t i = first + 1; i < end && is_plain(&items[i]); i++) {
		if (members * head->size == GROUP_MOST || i - last > (*step ? *step : STEP_MOST))
			break;
		if (!is_next(head, &items[i], (int64_t)members * head->size) || items[i].head != i ||
		    (*step && i - last < *step))
			continue;
		*step = i - last;
		last = i;
		members++;
	}
	while (members & (members - 1))
		members &= members - 1;
	return members > 1 && members * head->size >= 32 ? members : 1;
}

/* ---- in which order ---- */

static void dissolve(struct access *items, uint32_t head)
{
	for (uint32_t i = 1; i < items[head].members; i++)
		items[head + i * items[head].step].head = head + i * items[head].step;
	items[head].members = 1;
}

static bool overlap(const struct access *a, const struct access *b)
{
	return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static bool keep_apart(struct stretch *stretch, const struct access *items, uint32_t a, uint32_t b)
{
	LLVMValueRef place = items[stretch->first_head].instruction;
	for (uint32_t i = 0; i < stretch->napart; i++)
		if (stretch->apart[i].a == a && stretch->apart[i].b == b)
			return true;
	if (stretch->napart == APART_MOST || !is_there(items[a].base, place) ||
	    !is_there(items[b].base, place))
		return false;
	stretch->apart[stretch->napart++] = (struct apart){ a, b };
	return true;
}

/* Can access i be hooked where its group begins, before others that stand before it? Among them there must be
 * none but of groups: what else happens in between shows in contexts. */
static bool may_move(struct stretch *stretch, const struct access *items, uint32_t i)
{
	const struct access *moved = &items[i];
	for (uint32_t x = moved->head; x < i; x++) {
		bool matters = items[x].kind == SITE_WRITE || moved->kind == SITE_WRITE;
		if (items[items[x].head].members == 1)
			return false;
		if (!matters || items[x].head <= moved->head)
			continue;
		if (items[x].base == moved->base ? overlap(&items[x], moved)
						 : !keep_apart(stretch, items, items[x].head, moved->head))
			return false;
	}
	return true;
}

/* Groups that cannot be are dissolved, until all others can; false when none is left. */
static bool settle(struct stretch *stretch, struct access *items)
{
	uint32_t i;
	do {
		stretch->napart = 0;
		stretch->first_head = stretch->first;
		while (stretch->first_head < stretch->end && items[stretch->first_head].members == 1)
			stretch->first_head++;
		if (stretch->first_head == stretch->end)
			return false;
		i = stretch->first_head;
		while (i < stretch->end && may_move(stretch, items, i))
			i++;
		if (i < stretch->end)
			dissolve(items, items[i].head);
	} while (i < stretch->end);
	return true;
}

static void find_in(struct weave *weave, struct stretch stretch)
{
	struct access *items = weave->accesses.items;
	for (uint32_t i = stretch.first; i < stretch.end; i++) {
		if (items[i].head != i || !may_join(&items[i]))
			continue;
		items[i].members = members_from(items, i, stretch.end, &items[i].step);
		for (uint32_t k = 1; k < items[i].members; k++)
			items[i + k * items[i].step].head = i;
	}
	if (!settle(&stretch, items))
		return;
	*VEC_PUSH(&weave->grouped) = stretch;
	for (uint32_t i = stretch.first; i < stretch.end; i++)
		items[i].inlined = true; /* a called hook would end the stretch */
}

void groups_find(struct weave *weave)
{
	struct access *items = weave->accesses.items;
	weave->grouped.n = weave->next_grouped = 0;
	for (uint32_t i = 0; i < weave->accesses.n; i++) {
		items[i].head = i;
		items[i].members = 1;
		items[i].base = groups_base(weave->layout, items[i].pointer, &items[i].offset);
	}
	for (uint32_t i = 0, end; i < weave->accesses.n; i = end) {
		for (end = i + 1; end < weave->accesses.n && !items[end].starts && !items[end].called;)
			end++;
		find_in(weave, (struct stretch){ .first = i, .end = end });
	}
}
