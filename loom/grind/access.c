/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What instrumented code calls before an access. Most memory is touched by one
 * thread only: there an access is a look at the granule's head and a store.
 * Everything else goes to shadow.c. In controlled runs a point comes first. */
#include "loom/grind/control.h"
#include "loom/grind/shadow.h"

#define FREE_SWITCH \
	256u /* of so many accesses to shared memory one gives way, in runs that are not controlled */

/* In a run that is free, threads change places by themselves only after a hundred thousand blocks, and shorter
 * programs would run one thread after the other. */
static void give_way(Addr address, SizeT size)
{
	static uint32_t left = FREE_SWITCH;

	if (LIKELY(--left) || shadow_is_private(address, size))
		return;
	left = 1 + (uint32_t)(grind_random() % (2 * FREE_SWITCH));
	lock_give_way();
}

static uint64_t next_word(uint32_t site)
{
	return (uint64_t)site << WORD_ORDER_BITS | ++*grind.thread->order;
}

/* What no quick answer is known for. */
static void missed(Addr address, SizeT size, UWord site, bool write)
{
	if (!site || !grind.observed)
		return;
	if (!grind.pointed)
		give_way(address, size);
	shadow_access(address, size, next_word((uint32_t)site), write);
}

/* The granule when it is the running thread's own, in halves, and the site has nothing to tell; else NULL. */
static inline struct page *own_page(Addr address, UWord site)
{
	uint64_t number = address >> PAGE_BITS;
	struct page *page = LIKELY(number < NEAR_PAGES) ? shadow.near[number] : NULL;

	if (UNLIKELY(!page) || UNLIKELY(!shadow.met[site]) ||
	    (uint32_t)page->head[PAGE_GRANULE(address)] != grind.thread->tag)
		return NULL;
	return page;
}

static VG_REGPARM(2) void read_8(Addr address, UWord site)
{
	struct page *page = own_page(address, site);
	struct half *half = page ? &page->halves[2 * PAGE_GRANULE(address)] : NULL;

	if (LIKELY(half && !(address & 7) && (half[0].read | half[0].write) &&
		   (half[1].read | half[1].write)))
		half[0].read = half[1].read = next_word((uint32_t)site);
	else
		missed(address, 8, site, false);
}

static VG_REGPARM(2) void write_8(Addr address, UWord site)
{
	struct page *page = own_page(address, site);

	if (UNLIKELY(!page || address & 7)) {
		missed(address, 8, site, true);
		return;
	}
	uint32_t at = PAGE_GRANULE(address);

	page->head[at] = grind.thread->tag | (uint64_t)(grind.thread->context * 0x10001u) << 32;
	page->halves[2 * at].write = page->halves[2 * at + 1].write = next_word((uint32_t)site);
}

static VG_REGPARM(2) void read_4(Addr address, UWord site)
{
	struct page *page = own_page(address, site);
	struct half *half = page ? &page->halves[(address >> 2) & (2 * PAGE_GRANULES - 1)] : NULL;

	if (LIKELY(half && !(address & 3) && (half->read | half->write)))
		half->read = next_word((uint32_t)site);
	else
		missed(address, 4, site, false);
}

static VG_REGPARM(2) void write_4(Addr address, UWord site)
{
	struct page *page = own_page(address, site);

	if (UNLIKELY(!page || address & 3)) {
		missed(address, 4, site, true);
		return;
	}
	uint64_t *head = &page->head[PAGE_GRANULE(address)];
	uint32_t shift = address & 4 ? 48 : 32;

	*head = (*head & ~(0xffffull << shift)) | (uint64_t)grind.thread->context << shift;
	page->halves[(address >> 2) & (2 * PAGE_GRANULES - 1)].write = next_word((uint32_t)site);
}

/* The row of a granule that the running thread has to itself byte by byte; else NULL. */
static inline struct row *own_row(Addr address, UWord site)
{
	uint64_t number = address >> PAGE_BITS;
	struct page *page = LIKELY(number < NEAR_PAGES) ? shadow.near[number] : NULL;
	uint32_t at = PAGE_GRANULE(address);

	if (UNLIKELY(!page) || UNLIKELY(!shadow.met[site]) ||
	    (uint32_t)page->head[at] != grind.thread->tag + (1u << 24))
		return NULL;
	return &shadow.rows[HEAD_ROW(page->head[at])];
}

static VG_REGPARM(2) void read_1(Addr address, UWord site)
{
	struct row *row = own_row(address, site);
	uint32_t at = address & 7;

	if (LIKELY(row && (row->read[at] | row->write[at]))) {
		row->read[at] = (uint32_t)site;
		row->read_order = ++*grind.thread->order;
	} else {
		missed(address, 1, site, false);
	}
}

static VG_REGPARM(2) void write_1(Addr address, UWord site)
{
	struct row *row = own_row(address, site);
	uint32_t at = address & 7;

	if (UNLIKELY(!row)) {
		missed(address, 1, site, true);
		return;
	}
	row->write[at] = (uint32_t)site;
	row->read[at] = 0;
	row->write_order = ++*grind.thread->order;
	row->context[at] = (uint16_t)grind.thread->context;
}

static VG_REGPARM(2) void read_2(Addr address, UWord site)
{
	struct row *row = own_row(address, site);
	uint32_t at = address & 7;

	if (LIKELY(row && !(address & 1) && (row->read[at] | row->write[at]) &&
		   (row->read[at + 1] | row->write[at + 1]))) {
		row->read[at] = row->read[at + 1] = (uint32_t)site;
		row->read_order = ++*grind.thread->order;
	} else {
		missed(address, 2, site, false);
	}
}

static VG_REGPARM(2) void write_2(Addr address, UWord site)
{
	struct row *row = own_row(address, site);
	uint32_t at = address & 7;

	if (UNLIKELY(!row || address & 1)) {
		missed(address, 2, site, true);
		return;
	}
	row->write[at] = row->write[at + 1] = (uint32_t)site;
	row->read[at] = row->read[at + 1] = 0;
	row->write_order = ++*grind.thread->order;
	row->context[at] = row->context[at + 1] = (uint16_t)grind.thread->context;
}

static access_hook quick_hook(bool write, SizeT size)
{
	switch (size) {
	case 1:
		return write ? write_1 : read_1;
	case 2:
		return write ? write_2 : read_2;
	case 4:
		return write ? write_4 : read_4;
	case 8:
		return write ? write_8 : read_8;
	default:
		return NULL;
	}
}

access_hook access_hook_of(bool write, uint32_t size)
{
	return grind.pointed ? NULL : quick_hook(write, size);
}

/* The access itself is observed, after its point. */
static void perform(Addr address, SizeT size, uint32_t site, bool write)
{
	access_hook quick = quick_hook(write, size);

	if (grind.traced)
		log_event(address, size, site, write ? AREA_WRITE : AREA_READ, *grind.thread->order + 1);
	if (quick)
		quick(address, site);
	else
		missed(address, size, site, write);
}

/* The whole way of an access. */
static void access_full(Addr address, SizeT size, uint32_t site, bool write)
{
	if (!site || !grind.observed)
		return;
	if (grind.controlled)
		control_access(address, size, site, write);
	else if (grind.pointed)
		give_way(address, size);
	shadow.touched_dead = false;
	perform(address, size, site, write);
	if (UNLIKELY(shadow.touched_dead) && grind.faults)
		heap_fault(address, size, write);
}

VG_REGPARM(3) void access_read_any(Addr address, UWord site, UWord size)
{
	access_full(address, size, (uint32_t)site, false);
}

VG_REGPARM(3) void access_write_any(Addr address, UWord site, UWord size)
{
	access_full(address, size, (uint32_t)site, true);
}

/* One point: nothing comes between the read and the write. */
VG_REGPARM(3) void access_update(Addr address, UWord site, UWord size)
{
	access_full(address, size, (uint32_t)site, false);
	if (!site || !grind.observed)
		return;
	if (grind.controlled)
		control_wrote();
	perform(address, size, (uint32_t)site, true);
}

VG_REGPARM(3) void access_library(Addr address, UWord size, UWord write)
{
	if (!grind.call)
		return;
	/* Functions of libc read whole words, beyond the end of what they are asked for; they do not write so. */
	bool faults = grind.faults;

	grind.faults = faults && write;
	access_full(address, size, site_of_call(write ? SITE_WRITE : SITE_READ, NULL), write);
	grind.faults = faults;
}

VG_REGPARM(1) void access_stack(Addr sp)
{
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
	if (grind.observed && size)
		access_full(address, size, site, write);
}

void shadow_by_call(Addr address, SizeT size, bool write)
{
	uint32_t site = site_of_call(write ? SITE_WRITE : SITE_READ, NULL);

	if (site)
		perform(address, size, site, write);
}
