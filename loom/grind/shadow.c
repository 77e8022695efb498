/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is known of every location. A granule has a cell (shadow.h) as long as its
 * halves belong to one thread each; when a second one comes it is shared (shared.c)
 * or gets parts (parts.c). All tell exactly what tests/reference.c tells byte by byte;
 * only orders of private bytes are those of the last access to their half, and those of
 * shared bytes of the thread's last access to the granule. The usual access to private
 * memory does not come here: quick.c.
 *
 * An access is a word: its site, and its order in its thread. */
#include "loom/grind/shadow.h"

#include "loom/grind/control.h"

#define MAP_RESERVED 0x104022 /* private, anonymous, noreserve, fixed_noreplace */
#define MADV_DONTDUMP 16

struct shadow shadow;

static void reserve(Addr at, SizeT size)
{
	if (raw_call(__NR_mmap, (long)at, (long)size, VKI_PROT_READ | VKI_PROT_WRITE, MAP_RESERVED, -1, 0) !=
	    (long)at)
		VG_(tool_panic)("there is no room for the tables of what is known of the program");
	raw_call(__NR_madvise, (long)at, (long)size, MADV_DONTDUMP, 0, 0, 0);
}

void shadow_start(void)
{
	reserve(CELLS_BASE, (CELL_SIZE / 8ull) << NEAR_BITS);
	reserve(PARTS_BASE, (CELL_SIZE / 8ull) << NEAR_BITS);
	reserve(MORE_BASE, (MORE_SIZE / 8ull) << NEAR_BITS);
	reserve(CONTEXTS_BASE, 2ull << NEAR_BITS);
	shadow.quick = grind_reserve(AREA_PLACES);
	shadow.touched = grind_reserve(1ull << (NEAR_BITS - CHUNK_BITS));
}

void shadow_forget_sites(void)
{
	VG_(memset)(shadow.quick, 0, shadow.quick_end);
	shadow.quick_end = 0;
}

/* What instrumented code compares tags with: those of the running thread's own memory, unless every access has to go
 * the long way. */
void shadow_choose_way(void)
{
	bool quick = grind.observed && !control_wants_all();
	uint64_t tag = tag_of(grind.thread->number) | TAG_FULL;

	grind.own = quick ? tag | tag << 32 : UINT64_MAX;
}

static bool is_far(Addr address, Addr end)
{
	return end >> NEAR_BITS || end < address;
}

static uint32_t start_in(Addr granule, Addr address)
{
	return address > granule ? (uint32_t)(address - granule) : 0;
}

static uint32_t end_in(Addr granule, Addr end)
{
	return end < granule + 8 ? (uint32_t)(end - granule) : 8;
}

/* ---- accesses ---- */

static bool is_mine(uint32_t tag)
{
	return !(tag & TAG_SHARED) &&
	       (!(tag & TAG_OWNED) || !((tag ^ tag_of(grind.thread->number)) & TAG_OWNER));
}

static bool are_mine(const struct cell *cell, uint32_t from, uint32_t to)
{
	return is_mine(cell->tags[from / 4]) && is_mine(cell->tags[(to - 1) / 4]);
}

static void set_four(uint16_t *four, uint32_t site)
{
	*(uint64_t *)four = site * 0x0001000100010001u;
}

/* The same as four times byte_access, where the first read of a byte is no edge. */
static void half_access(struct cell *cell, uint32_t half, uint32_t site, bool write)
{
	if (write)
		set_four(cell->write + 4 * half, site);
	set_four(cell->read + 4 * half, write ? 0 : site);
}

static void byte_access(struct cell *cell, Addr granule, uint32_t at, uint32_t site, bool write)
{
	if (write) {
		cell->write[at] = (uint16_t)site;
		cell->read[at] = 0;
		if (grind.observes & OBSERVE_EDGES)
			contexts_at(granule)[at] = (uint16_t)grind.thread->context;
		return;
	}
	if (!cell->write[at] && !cell->read[at])
		log_edge(0, 0, site, grind.thread->context, false);
	cell->read[at] = (uint16_t)site;
}

static void bytes_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint32_t site,
			 bool write)
{
	bool halves = !((from | to) & 3) && !(grind.observes & OBSERVE_EDGES);

	for (uint32_t half = from / 4; halves && half < to / 4; half++)
		half_access(cell, half, site, write);
	for (uint32_t at = from; !halves && at < to; at++)
		byte_access(cell, granule, at, site, write);
}

static bool is_touched(const struct cell *cell, uint32_t half)
{
	for (uint32_t at = 4 * half; at < 4 * half + 4; at++)
		if (!cell->write[at] && !cell->read[at])
			return false;
	return true;
}

static void private_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word,
			   bool write)
{
	uint32_t site = WORD_SITE(word);
	/* The first read of what nobody has written is an edge of its own in every context. */
	bool bytes_differ = grind.observes & OBSERVE_EDGES;

	log_predecessor(site, 0);
	bytes_access(cell, granule, from, to, site, write);
	for (uint32_t half = from / 4; half <= (to - 1) / 4; half++) {
		(write ? cell->write_order : cell->read_order)[half] = (uint32_t)WORD_ORDER(word);
		cell->tags[half] = (cell->tags[half] & TAG_DEAD) | tag_of(grind.thread->number) |
				   (bytes_differ && !is_touched(cell, half) ? 0 : TAG_FULL);
	}
	shadow.quick[site] = !grind.controlled || !points_always(site);
	if (site >= shadow.quick_end)
		shadow.quick_end = site + 1;
}

static void granule_access(Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	struct cell *cell = cell_at(granule);

	if (UNLIKELY(shadow.touched[granule >> CHUNK_BITS] == NOTED))
		note_to_cells(granule >> CHUNK_BITS);
	shadow.touched[granule >> CHUNK_BITS] = TOUCHED;
	shadow.touched_dead |= ((cell->tags[from / 4] | cell->tags[(to - 1) / 4]) & TAG_DEAD) != 0;
	if (are_mine(cell, from, to) && WORD_SITE(word) < QUICK_SITES) {
		private_access(cell, granule, from, to, word, write);
		return;
	}
	if (!(cell->tags[0] & TAG_SHARED) && !(shadow.inside && shared_make(cell, granule)))
		parts_make(cell, granule);
	if (cell->tags[0] & TAG_INSIDE) {
		if (shared_access(cell, granule, from, to, word, write))
			return;
		shared_to_parts(cell);
	}
	parts_access(cell, granule, from, to, word, write);
}

static bool is_own(const struct cell *cell, uint32_t from, uint32_t to)
{
	return cell->tags[from / 4] == (uint32_t)grind.own && cell->tags[(to - 1) / 4] == (uint32_t)grind.own;
}

/* In a granule that is_own says is. */
static void own_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint32_t site, bool write)
{
	uint32_t order = (uint32_t)*grind.thread->order;

	bytes_access(cell, granule, from, to, site, write);
	for (uint32_t half = from / 4; half <= (to - 1) / 4; half++)
		(write ? cell->write_order : cell->read_order)[half] = order;
}

bool shadow_access_own(Addr address, SizeT size, uint32_t site, bool write)
{
	Addr end = address + size;

	if (is_far(address, end) || !shadow.quick[site] || site >= QUICK_SITES)
		return false;
	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		if (!is_own(cell_at(granule), start_in(granule, address), end_in(granule, end)))
			return false;
	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		own_access(cell_at(granule), granule, start_in(granule, address), end_in(granule, end), site,
			   write);
	return true;
}

static bool granule_passes_over(Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	struct cell *cell = cell_at(granule);

	return (cell->tags[0] & (TAG_SHARED | TAG_INSIDE)) == TAG_SHARED &&
	       !((cell->tags[0] | cell->tags[1]) & TAG_DEAD) &&
	       (parts_own_access(cell, from, to, word, write) ||
		(!write && parts_read_again(cell, granule, from, to, word)));
}

bool shadow_access_inside(Addr address, SizeT size, uint64_t word, bool write)
{
	struct cell *cell = cell_at(address);
	uint32_t from = address & 7;

	return cell->tags[0] & TAG_INSIDE && from + size <= 8 && !(address >> NEAR_BITS) &&
	       shared_access(cell, address & ~7ull, from, from + (uint32_t)size, word, write);
}

/* What was passed over before one granule has to be told is told once more, which changes nothing. */
bool shadow_passes_over(Addr address, SizeT size, uint64_t word, bool write)
{
	Addr end = address + size;

	if (is_far(address, end))
		return false;
	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		if (!granule_passes_over(granule, start_in(granule, address), end_in(granule, end), word,
					 write))
			return false;
	return true;
}

/* Does the write cover a chunk that begins there, and can be noted for it? */
static bool can_be_noted(Addr granule, Addr end, uint64_t word)
{
	Addr chunk = granule >> CHUNK_BITS;

	return !(granule & (CHUNK - 1)) && end - granule >= CHUNK && shadow.touched[chunk] == UNTOUCHED &&
	       !grind.faults && WORD_SITE(word) < QUICK_SITES;
}

void shadow_access(Addr address, SizeT size, uint64_t word, bool write)
{
	Addr end = address + size, granule = address & ~7ull;

	if (is_far(address, end))
		return;
	while (granule < end) {
		if (write && can_be_noted(granule, end, word)) {
			note_write(granule >> CHUNK_BITS, word);
			log_predecessor(WORD_SITE(word), 0);
			granule += CHUNK;
			continue;
		}
		granule_access(granule, start_in(granule, address), end_in(granule, end), word, write);
		granule += 8;
	}
}

/* ---- ends of lives ---- */

static void forget_bytes(struct cell *cell, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; at < to; at++)
		cell->write[at] = cell->read[at] = 0;
	for (uint32_t half = from / 4; half <= (to - 1) / 4; half++) {
		bool whole = from <= 4 * half && to >= 4 * half + 4;

		if (whole)
			cell->tags[half] = 0;
		else if (grind.observes & OBSERVE_EDGES)
			cell->tags[half] &= ~TAG_FULL;
	}
}

static void forget_granule(Addr granule, uint32_t from, uint32_t to)
{
	struct cell *cell = cell_at(granule);

	if (!cell->tags[0] && !cell->tags[1])
		return;
	if (cell->tags[0] & TAG_SHARED) {
		(cell->tags[0] & TAG_INSIDE ? shared_forget : parts_forget)(cell, from, to);
		if (from || to < 8)
			return;
	}
	forget_bytes(cell, from, to);
}

static void forget_granules(Addr address, Addr end)
{
	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		forget_granule(granule, start_in(granule, address), end_in(granule, end));
}

void shadow_forget(Addr address, SizeT size)
{
	Addr end = address + size;

	if (grind.traced)
		log_event(address, size, 0, AREA_FORGET, 0);
	if (grind.controlled)
		control_forget(address, size);
	if (is_far(address, end))
		return;
	while (address < end) {
		Addr chunk = address >> CHUNK_BITS, until = (chunk + 1) << CHUNK_BITS;
		bool whole = !(address & (CHUNK - 1)) && until <= end;

		if (shadow.touched[chunk] == NOTED && !whole)
			note_to_cells(chunk);
		if (shadow.touched[chunk] == TOUCHED)
			forget_granules(address, until < end ? until : end);
		if (whole)
			shadow.touched[chunk] = UNTOUCHED;
		address = until;
	}
}

/* In halves: of a block whose size is no multiple of 4 the last bytes beyond it are not told from it. */
void shadow_bury(Addr address, SizeT size)
{
	for (Addr half = (address + 3) & ~3ull; half + 4 <= address + size; half += 4) {
		shadow.touched[half >> CHUNK_BITS] = TOUCHED;
		cell_at(half)->tags[half >> 2 & 1] |= TAG_DEAD;
	}
}

/* ---- who has been there ---- */

bool shadow_is_private(Addr address, SizeT size)
{
	Addr end = address + size;

	if (is_far(address, end))
		return true;
	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		if (!are_mine(cell_at(granule), start_in(granule, address), end_in(granule, end)))
			return false;
	return true;
}

/* Of a half that another thread has had to itself. */
static bool half_is_open(const struct cell *cell, uint32_t half, uint32_t from, uint32_t to, bool write)
{
	uint32_t owner = tag_thread(cell->tags[half]);
	const struct thread *thread = thread_numbered(owner);
	bool wrote = false, read = false;

	if (is_mine(cell->tags[half]))
		return false;
	for (uint32_t at = from; at < to; at++) {
		wrote |= at / 4 == half && cell->write[at];
		read |= at / 4 == half && cell->read[at];
	}
	return (wrote && order_is_open(thread, order_of(cell->write_order[half], owner))) ||
	       (write && read && order_is_open(thread, order_of(cell->read_order[half], owner)));
}

static bool granule_is_open(Addr granule, uint32_t from, uint32_t to, bool write)
{
	struct cell *cell = cell_at(granule);

	if (cell->tags[0] & TAG_SHARED)
		return parts_are_open(cell, from, to, write);
	return half_is_open(cell, 0, from, to, write) || half_is_open(cell, 1, from, to, write);
}

bool shadow_is_open(Addr address, SizeT size, bool write)
{
	Addr end = address + size;

	if (is_far(address, end))
		return false;
	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		if (granule_is_open(granule, start_in(granule, address), end_in(granule, end), write))
			return true;
	return false;
}
