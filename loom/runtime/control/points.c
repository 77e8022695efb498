/* Which accesses are points. Accesses to memory that one thread alone has touched commute with all that
 * others do, so the token need not change hands there. A point is a synchronisation call, an access
 * whose place another thread has touched, in conflict, since that thread's last synchronisation call (the
 * order is open: observe/open.c), and an access at a site of the run's set: where earlier runs saw the end
 * of an open pair, or where an experiment wants to stop. The set is fixed when the run starts.
 * Nothing here may depend on where things lie in memory. */
#include "loom/runtime/control/control.h"

#include <errno.h>

/* What is known of a site, beside how often it was visited. */
#define SITE_LOOKED_UP (1u << 31)
#define SITE_ALWAYS (1u << 30)
#define LEAN_ACCESSES 4096u /* seen in a run, after which the caches of its threads are worth their pages */
#define SITE_VISITS (SITE_ALWAYS - 1)

void points_prepare(void)
{
	control.near_notes = runtime_map_near(sizeof *control.near_notes * NEAR_SITES);
	control.notes = runtime_map(0, sizeof *control.notes * (WORD_SITE_MASK + 1));
}

void points_start(void)
{
	uint32_t n = control.options.nsites;
	control.options.nsites = n < AREA_POINT_SITES ? n : AREA_POINT_SITES;
	control.patience = control.options.everywhere ? 0 : PATIENCE;
}

static uint32_t *note_of(uint32_t site)
{
	return site < NEAR_SITES ? &control.near_notes[site] : &control.notes[site];
}

/* Does the run's set hold this id? */
static bool is_in_set(uint64_t id)
{
	const uint64_t *sites = control.schedule->sites;
	uint32_t low = 0, high = control.options.nsites;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (sites[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < control.options.nsites && sites[low] == id;
}

bool points_always(uint32_t site)
{
	uint32_t *note = note_of(site);
	if (UNLIKELY(!(*note & SITE_LOOKED_UP)))
		*note |= SITE_LOOKED_UP | (control.options.everywhere || is_in_set(units_site_id(site)) ||
							   (control.intervenes && intervene_wants(site))
						   ? SITE_ALWAYS
						   : 0);
	return *note & SITE_ALWAYS;
}

/* Short runs touch as few pages as they can; in longer ones threads remember what they know. */
static void lean_no_more(void)
{
	runtime.lean = false;
	control.stacks_seen = true; /* short ways do not look where an access goes */
	for (uint32_t slot = 1; slot < SLOT_GONE; slot++)
		if (runtime.threads[slot].state == THREAD_LIVE)
			thread_set_ways(&runtime.threads[slot]);
}

void points_look(bool on)
{
	control.looking = on;
	if (!on)
		return;
	units_forget_marks();
	for (uint32_t slot = 1; slot < SLOT_GONE && !runtime.lean; slot++)
		if (runtime.threads[slot].state == THREAD_LIVE)
			units_forget_memos(slot);
}

bool control_must_see(uint32_t site)
{
	return control.looking || points_always(site);
}

bool control_is_open(uint32_t slot, uint32_t order)
{
	const struct thread *thread = &runtime.threads[slot];
	if (!slot || slot == SLOT_GONE || control.agents[slot].joined)
		return false;
	return thread_order(slot, order) > thread->closed;
}

uint32_t points_visit(uint32_t site)
{
	return ++*note_of(site) & SITE_VISITS;
}

/* ---- accesses ---- */

static void take_point(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	struct agent *me = control_enter();
	bool open = granule_is_open(self, address, size, access);
	self->meets_open = open;
	/* Parts of one access have one word. */
	if (!me || word == me->word) {
		if (me && UNLIKELY(control.intervenes))
			intervene_continues(me, address, size);
		return;
	}
	uint32_t site = WORD_SITE(word);
	bool second_half = access == ACCESS_WRITE && me->access == ACCESS_READ && site == me->site &&
			   address == me->address;
	if (!open && !points_always(site) && !(control.intervenes && intervene_covers(self, address, size))) {
		if (UNLIKELY(control.looking))
			spinning_look(me, site, address, access);
		else if (!runtime.lean)
			site_passes(site);
		return;
	}
	me->word = word;
	struct point point = { .site = site, .access = access, .address = address, .size = size };
	if (second_half) { /* the write of an atomic update, which has happened */
		me->access = access;
		me->wrote = true;
		control.still = 0;
		policy_passed(me);
		return;
	}
	if (control.nready > 1 || control.ntimed) {
		me->site = site; /* for the policy */
		policy_weigh(me);
	}
	point_pass(me, point);
	self->meets_open = granule_is_open(self, address, size, access); /* others may have come */
}

bool control_lets_pass(const struct thread *self, uint64_t site, uint64_t address, size_t size,
		       enum access access)
{
	struct agent *me = control.current;
	return me && me->thread == self && !me->inside && !control.intervenes && !must_be_seen(site) &&
	       !granule_is_open(self, address, size, access) && heap_allows(me, site, address, size, access);
}

/* A debugger may stop here: the calling thread is about to do the access that it was asked for. */
EXPORT __attribute__((noinline)) void unsnarl_here(uint64_t address)
{
	__asm__ volatile("" : : "r"(address) : "memory");
}

/* An access to somewhere between the stacks of threads: what of its own stack a thread touches is known. */
static void note_stack(struct thread *self, uint64_t address, size_t size)
{
	if (address < self->stack_low || address + size > self->stack_high) {
		control.stacks_seen = true;
		return;
	}
	if (!self->touched_high || address < self->touched_low)
		self->touched_low = address;
	if (address + size > self->touched_high)
		self->touched_high = address + size;
}

void control_access(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	if (UNLIKELY(address < control.stacks_high && address + size > control.stacks_low))
		note_stack(self, address, size);
	if (UNLIKELY(runtime.lean) && ++control.seen == LEAN_ACCESSES)
		lean_no_more();
	take_point(self, word, address, size, access);
	if (UNLIKELY(control.options.stop_order && WORD_ORDER(word) == (uint32_t)control.options.stop_order &&
		     self->number == control.options.stop_thread))
		unsnarl_here(address);
}

/* ---- loops that may wait ---- */

/* Called by compiled code when its thread's patience is at an end. */
EXPORT __attribute__((preserve_most)) void unsnarl_lingers(void)
{
	int saved = errno;
	struct agent *me = control_me();
	if (me) {
		me->repeated = true;
		point_pass(me, (struct point){ .access = POINT_LINGER });
	}
	errno = saved;
}

/* ---- synchronisation calls ---- */

static struct point point_of_call(const struct agent *me, const volatile void *object)
{
	return (struct point){
		.site = me->thread->sync, .access = POINT_SYNC, .address = (uint64_t)object, .size = 1
	};
}

void control_note_site(struct agent *me, const volatile void *object)
{
	struct point point = point_of_call(me, object);
	me->site = point.site;
	me->access = point.access;
	me->address = point.address;
	me->size = point.size;
	me->repeated = false;
}

void control_call(struct agent *me, const volatile void *object)
{
	int saved = errno;
	me->repeated = false;
	point_pass(me, point_of_call(me, object));
	errno = saved;
}
