/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What instrumented code calls before an access. Accesses to memory that one thread
 * has to itself mostly need no call: quick.c. In controlled runs a point comes
 * first. The order of the access is counted by then. */
#include "loom/grind/control.h"
#include "loom/grind/define.h"
#include "loom/grind/parts.h"

/* In a run that is free, threads change places by themselves only after a hundred thousand blocks, and shorter
 * programs would run one thread after the other. So of FREE_SWITCH accesses to shared memory one gives way, and less
 * often the longer the run lasts, since changing places takes as long as hundreds of accesses. */
#define FREE_SWITCH 256u
static void give_way(Addr address)
{
	static uint32_t left = FREE_SWITCH, every = FREE_SWITCH;

	if (LIKELY(left > 1)) {
		left--;
		return;
	}
	if (shadow_is_private(address, 1))
		return;
	left = 1 + (uint32_t)(grind_random() % (2 * every));
	if (lock_give_way())
		every += FREE_SWITCH / 32;
}

/* The access itself is observed, after its point. */
static void perform(Addr address, SizeT size, uint32_t site, bool write)
{
	uint64_t order = *grind.thread->order;

	if (grind.traced)
		log_event(address, size, site, write ? AREA_WRITE : AREA_READ, order);
	if (UNLIKELY(define.on) && grind.traced)
		define_note_led(site);
	shadow_access(address, size, (uint64_t)site << WORD_ORDER_BITS | order, write);
}

static bool pass_over(Addr address, SizeT size, uint32_t site, bool write)
{
	uint64_t order = *grind.thread->order;

	uint64_t word = (uint64_t)site << WORD_ORDER_BITS | order;

	if (!shadow_access_inside(address, size, word, write) &&
	    !shadow_passes_over(address, size, word, write))
		return false;
	if (grind.traced)
		log_event(address, size, site, write ? AREA_WRITE : AREA_READ, order);
	return true;
}

#define BEYOND 160 /* bytes: functions of libc read up to four vectors of 32 beyond what they are asked for */
static void note_library(Addr address)
{
	struct thread *thread = grind.thread;

	thread->last[thread->nlast++ % LIBRARY_ACCESSES] =
		(struct library_access){ .address = address, .call = grind.call, .order = *thread->order };
}

/* Had the same call of the program's, with no access of its own in between, been near there before? Then the last read is
 * perhaps more than it was asked for. */
static bool goes_on(Addr address)
{
	const struct thread *thread = grind.thread;

	for (uint32_t i = 1; i < LIBRARY_ACCESSES && i < thread->nlast; i++) {
		const struct library_access *at = &thread->last[(thread->nlast - 1 - i) % LIBRARY_ACCESSES];

		if (at->call != grind.call || at->order + i != *thread->order)
			return false;
		if (at->address + BEYOND > address && address + BEYOND > at->address)
			return true;
	}
	return false;
}

/* The whole way of an access. `strays`: it may leave its block, and go on into one that was freed. Others run in the middle of it, so that is said here and
 * kept nowhere. */
static void access_whole(Addr address, SizeT size, uint32_t site, bool write, bool strays)
{
	if (grind.controlled)
		control_access(address, size, site, write);
	else
		give_way(address);
	if (!grind.controlled && pass_over(address, size, site, write))
		return;
	shadow.touched_dead = false;
	perform(address, size, site, write);
	if (UNLIKELY(shadow.touched_dead) && grind.faults &&
	    (!strays || (heap_is_kept(address) && !goes_on(address))))
		heap_fault(address, size, write);
}

static void access_full(Addr address, SizeT size, uint32_t site, bool write)
{
	access_whole(address, size, site, write, false);
}

static bool inside_reads_again(struct cell *cell, Addr address, UWord what)
{
	uint64_t order = grind.block_order + ACCESS_COUNT(what);

	if (!shared_read_again(cell, address & 7, ACCESS_SIZE(what), ACCESS_SITE(what), order))
		return false;
	if (UNLIKELY(grind.traced))
		log_event(address, ACCESS_SIZE(what), ACCESS_SITE(what), AREA_READ, order);
	return true;
}

/* The usual access to shared memory: a read that came before, of another place than the last one. Who reads one place
 * over and over may wait for another thread, and has to give way. */
static bool reads_again(Addr address, UWord what)
{
	static Addr last;
	struct cell *cell = cell_at(address);
	struct again *again = &cell->again[address / 4 % 2];
	bool spins = address == last;

	last = address;
	if ((cell->tags[0] & TAG_INSIDE) && !spins && !(address >> NEAR_BITS) && !ACCESS_WRITES(what))
		return inside_reads_again(cell, address, what);
	if (spins || address >> NEAR_BITS || ACCESS_WRITES(what) ||
	    ((cell->tags[0] | cell->tags[1]) & (TAG_SHARED | TAG_DEAD)) != TAG_SHARED ||
	    again->key != again_key(grind.thread->number, address & 7, (uint32_t)ACCESS_SIZE(what),
				    ACCESS_SITE(what)))
		return false;
	uint64_t order = grind.block_order + ACCESS_COUNT(what);

	if (UNLIKELY(grind.traced))
		log_event(address, ACCESS_SIZE(what), ACCESS_SITE(what), AREA_READ, order);
	again->reader->word = (uint64_t)ACCESS_SITE(what) << WORD_ORDER_BITS | order;
	return true;
}

VG_REGPARM(2) void access_missed(Addr address, UWord what)
{
	if (reads_again(address, what) || !grind.observed)
		return;
	*grind.thread->order = grind.block_order + ACCESS_COUNT(what);
	/* One that crosses granules, say. */
	if (!grind.pointed &&
	    shadow_access_own(address, ACCESS_SIZE(what), ACCESS_SITE(what), ACCESS_WRITES(what)))
		return;
	access_full(address, ACCESS_SIZE(what), ACCESS_SITE(what), ACCESS_WRITES(what));
}

VG_REGPARM(2) void access_any(Addr address, UWord what)
{
	if (!grind.observed)
		return;
	++*grind.thread->order;
	access_full(address, ACCESS_SIZE(what), ACCESS_SITE(what), ACCESS_WRITES(what));
}

/* One point: nothing comes between the read and the write. */
VG_REGPARM(3) void access_update(Addr address, UWord site, UWord size)
{
	if (!grind.observed)
		return;
	++*grind.thread->order;
	access_full(address, size, (uint32_t)site, false);
	if (grind.controlled)
		control_wrote();
	++*grind.thread->order;
	perform(address, size, (uint32_t)site, true);
}

VG_REGPARM(3) void access_library(Addr address, UWord size, UWord write)
{
	uint32_t site = grind.observed ? site_of_call(write ? SITE_WRITE : SITE_READ, NULL) : 0;

	if (!site)
		return;
	++*grind.thread->order;
	note_library(address);
	if (shadow_access_own(address, size, site, write))
		return;
	/* Functions of libc read whole words, beyond the end of what they are asked for; they do not write so. */
	access_whole(address, size, site, write, !write);
}

/* Who led there has returned already: it was a function of the program that the header called back, say. */
VG_REGPARM(1) void access_header_call(Addr sp)
{
	if (sp >= grind.own_sp)
		grind.own_call = grind.own_sp = 0;
}

VG_REGPARM(1) void access_stack(Addr sp)
{
	if (!thread_has_stack_at(grind.thread, sp)) /* a coroutine's, say */
		return;
	shadow_forget(grind.shared_low, sp - grind.shared_low);
	grind.shared_low = ~(Addr)0;
}

void access_yield(void)
{
	if (grind.controlled)
		control_yield();
	else
		lock_give_way();
}

void access_by_call(Addr address, SizeT size, bool write, uint32_t site)
{
	if (!grind.observed || !size || !site)
		return;
	++*grind.thread->order;
	access_full(address, size, site, write);
}

void shadow_by_call(Addr address, SizeT size, bool write, uint32_t site)
{
	if (!grind.observed || !size || !site)
		return;
	++*grind.thread->order;
	perform(address, size, site, write);
}
