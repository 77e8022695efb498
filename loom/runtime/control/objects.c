/* What reports say about synchronisation objects: a number by first use, who holds
 * it and since which call, and the signals that somebody may have missed. The state
 * that decides anything is in the objects themselves. */
#include "loom/runtime/control/control.h"

#define OBJECTS_MOST (1u << 20)
#define OBJECT_HEADS 256u

#define OBJECTS_NEAR 32u

static struct object *objects, *near_objects; /* the first OBJECTS_NEAR are near ones */
static HOT uint32_t nobjects;
static HOT uint32_t object_heads[OBJECT_HEADS]; /* + 1 */

void objects_prepare(void)
{
	near_objects = runtime_map_near(sizeof *objects * OBJECTS_NEAR);
	objects = runtime_map_far(sizeof *objects * OBJECTS_MOST);
}

static struct object *object_numbered(uint32_t number) /* from 1 */
{
	return number <= OBJECTS_NEAR ? &near_objects[number - 1] : &objects[number - 1];
}

struct object *object_at(uint64_t address)
{
	uint32_t *head = &object_heads[(address >> 3) * 0x9e3779b97f4a7c15u >> 56];
	for (uint32_t at = *head; at; at = object_numbered(at)->next)
		if (object_numbered(at)->address == address)
			return object_numbered(at);
	if (nobjects == OBJECTS_MOST) /* the last one stands for all that came later */
		return object_numbered(nobjects);
	struct object *object = object_numbered(++nobjects);
	*object = (struct object){
		.address = address, .next = *head, .number = nobjects, .holder = AREA_THREAD_GONE
	};
	*head = nobjects;
	return object;
}

void object_held(struct agent *me, const volatile void *address)
{
	struct object *object = object_at((uint64_t)address);
	object->holder = me->number;
	object->holder_site = me->site;
}

void object_entered(struct agent *me, const volatile void *address)
{
	object_held(me, address);
	trace_call(me->thread, me->site, (uint64_t)address, AREA_ACQUIRE);
	if (me->nlocks < LOCKS_KNOWN) {
		me->locks[me->nlocks].object = (uint64_t)address;
		me->locks[me->nlocks].order = agent_order(me);
		me->locks[me->nlocks].signals = control.signals;
		me->locks[me->nlocks++].site = me->site;
	}
}

void object_signalled(struct agent *me, const volatile void *condition, bool to_all, bool unheard)
{
	struct object *object = object_at((uint64_t)condition);
	control.signals++;
	object->missed = unheard;
	object->missed_thread = me->number;
	object->missed_site = me->site;
	if (!to_all)
		return;
	object->broadcast = control.signals;
	object->broadcast_thread = me->number;
	object->broadcast_site = me->site;
}

void object_awaited(struct agent *me, const volatile void *condition, const volatile void *mutex)
{
	const struct object *object = object_at((uint64_t)condition);
	me->missed = false;
	me->taken.site = 0;
	for (uint32_t i = me->nlocks; object->broadcast && i-- > 0;)
		if (me->locks[i].object == (uint64_t)mutex) {
			me->missed = object->broadcast > me->locks[i].signals;
			return;
		}
}

void object_left(struct agent *me, const volatile void *address)
{
	trace_call(me->thread, me->site, (uint64_t)address, AREA_RELEASE);
	for (uint32_t i = me->nlocks; i-- > 0;)
		if (me->locks[i].object == (uint64_t)address) {
			for (me->nlocks--; i < me->nlocks; i++)
				me->locks[i] = me->locks[i + 1];
			return;
		}
}

void object_released(const volatile void *address)
{
	object_at((uint64_t)address)->holder = AREA_THREAD_GONE;
}
