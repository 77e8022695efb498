/* What reports say about synchronisation objects: a number by first use, who holds
 * it and since which call, and the last signal that nobody waited for. The state
 * that decides anything is in the objects themselves. */
#include "loom/runtime/control.h"

#define OBJECTS_MOST (1u << 20)
#define OBJECT_HEADS 256u

static HOT struct object *objects;
static HOT uint32_t nobjects;
static HOT uint32_t object_heads[OBJECT_HEADS]; /* + 1 */

void objects_prepare(void)
{
	objects = runtime_map(0, sizeof *objects * OBJECTS_MOST);
}

struct object *object_at(uint64_t address)
{
	uint32_t *head = &object_heads[(address >> 3) * 0x9e3779b97f4a7c15u >> 56];
	for (uint32_t at = *head; at; at = objects[at - 1].next)
		if (objects[at - 1].address == address)
			return &objects[at - 1];
	if (nobjects == OBJECTS_MOST) /* the last one stands for all that came later */
		return &objects[nobjects - 1];
	struct object *object = &objects[nobjects++];
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

void object_released(const volatile void *address)
{
	object_at((uint64_t)address)->holder = AREA_THREAD_GONE;
}
