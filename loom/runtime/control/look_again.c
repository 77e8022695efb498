/* The claim that a thread, woken from a condition variable, goes on without looking again
 * at what it had waited for. Forbidden: when nothing that it had looked at has another
 * value than before, it waits on, as a loop around the wait would. Forced: the wait ends
 * at once although nobody signalled, as POSIX allows, every other time. */
#include "loom/runtime/control/intervene.h"

#define LOOKED_MOST 8u
#define VALUE_SIZE 8u

struct looked_at {
	uint64_t address;
	uint32_t size;
	uint64_t value; /* when the wait began */
};

static struct looker {
	uint32_t n;
	bool was_woken; /* for nothing, the last time it waited */
	struct looked_at items[LOOKED_MOST];
} lookers[AREA_SLOTS]; /* by slot */

static struct looker *looker_of(const struct agent *me)
{
	return &lookers[me->thread->slot];
}

/* Looks since the last call that synchronises: from there to the wait the thread keeps its lock, so what it
 * looks at stays there. */
void look_again_passes(struct agent *me, uint32_t mark)
{
	struct looker *looker = looker_of(me);
	if (me->access == POINT_SYNC && !(mark & MARK_STEP(1)))
		looker->n = 0;
	if (!(mark & MARK_STEP(0)) || looker->n == LOOKED_MOST || me->size > VALUE_SIZE)
		return;
	looker->items[looker->n++] = (struct looked_at){ .address = me->address, .size = (uint32_t)me->size };
}

static uint64_t value_at(const struct looked_at *looked)
{
	const unsigned char *bytes = (const unsigned char *)(uintptr_t)looked->address;
	uint64_t value = 0;
	for (uint32_t i = 0; i < looked->size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static bool is_waiting_there(const struct agent *me, enum claim_use use)
{
	return control.intervenes && intervene_claim()->kind == CLAIM_LOOK_AGAIN &&
	       intervene_claim()->use == use && intervene_mark(me->site) & MARK_STEP(1);
}

bool look_again_begins(struct agent *me)
{
	struct looker *looker = looker_of(me);
	if (is_waiting_there(me, CLAIM_FORBID))
		for (uint32_t i = 0; i < looker->n; i++)
			looker->items[i].value = value_at(&looker->items[i]);
	if (!is_waiting_there(me, CLAIM_FORCE))
		return false;
	looker->was_woken = !looker->was_woken;
	intervene_counts()->occurred += looker->was_woken;
	return looker->was_woken;
}

bool look_again_waits(struct agent *me)
{
	const struct looker *looker = looker_of(me);
	if (!is_waiting_there(me, CLAIM_FORBID) || !looker->n)
		return false;
	for (uint32_t i = 0; i < looker->n; i++)
		if (looker->items[i].value != value_at(&looker->items[i]))
			return false;
	intervene_counts()->held++;
	return true;
}
