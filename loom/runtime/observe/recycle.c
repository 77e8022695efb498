/* When every slot has been used once, the slots of ended threads are freed: each
 * event word that names one is rewritten to SLOT_GONE, which keeps site and
 * order and stands for "a thread that has ended". Rare and slow: it walks the
 * cells of all mapped memory. */
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool ended(uint32_t slot)
{
	return slot && slot < SLOT_GONE &&
	       __atomic_load_n(&runtime.threads[slot].state, __ATOMIC_ACQUIRE) ==
		       THREAD_RECYCLING; /* thread_end */
}

/* The upper half of an event word, or such a half in a list. */
static void rename_reader(uint32_t *reader)
{
	uint32_t old = RELAXED_GET(*reader);
	if (ended(READER_SLOT(old)))
		__atomic_compare_exchange_n(reader, &old, READER_SITE(old) | (uint32_t)SLOT_GONE << 22, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void recycle_cell(struct cell *cell)
{
	uint64_t low = cell_low(cell);
	uint32_t mode = OWNER_MODE(LOW_OWNER(low)), slot = OWNER_SLOT(LOW_OWNER(low));
	uint64_t fresh = low;
	if (ended(slot))
		fresh = (fresh << 10 >> 10) | (uint64_t)SLOT_GONE << 54;
	if ((mode == MODE_ONE || mode == MODE_MANY) && ended(HISTORY_WRITER(low)))
		fresh = (fresh & ~(0x3ffull << HISTORY_BITS)) | (uint64_t)SLOT_GONE << HISTORY_BITS;
	if (fresh != low)
		__atomic_compare_exchange_n((uint64_t *)cell, &low, fresh, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

/* And the parts of a granule that is cut. */
static void recycle_granule(struct cell *first)
{
	struct cell now = cell_get(first);
	if (!cell_is_cut(now)) {
		recycle_cell(first);
		return;
	}
	for (uint32_t left = now.context & 0xff; left; left &= left - 1)
		recycle_cell(&cut_at(now.history)->cells[__builtin_ctz(left)]);
}

/* The cells of memory [low, high), page by page, only where pages were touched. */
static void recycle_plane(uint64_t low, uint64_t high)
{
	unsigned char present[256];
	for (uint64_t at = low & ~4095ull; at < high; at += sizeof present * 4096) {
		uint64_t pages = (high - at + 4095) / 4096;
		pages = pages < sizeof present ? pages : sizeof present;
		if (mincore((void *)at, pages * 4096, present) != 0)
			continue;
		for (uint64_t page = 0; page < pages; page++) {
			if (!(present[page] & 1))
				continue;
			/* Cells are 16 bytes from CELLS_START on, which is no page boundary. */
			uint64_t start = at + page * 4096;
			uint64_t origin = start >= CELLS_START + UPPER_DISPLACEMENT
						  ? CELLS_START + UPPER_DISPLACEMENT
						  : CELLS_START;
			uint64_t cell = start < origin ? origin : origin + (start - origin) / 16 * 16;
			for (; cell < start + 4096; cell += 16)
				recycle_granule((struct cell *)cell);
		}
	}
}

/* Calls recycle_plane for each mapping of the program, read from /proc/self/maps. */
static bool recycle_mappings(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	char line[512];
	size_t n = 0;
	char c[4096];
	for (ssize_t got; (got = read(fd, c, sizeof c)) > 0;)
		for (ssize_t i = 0; i < got; i++) {
			if (c[i] != '\n') {
				if (n < sizeof line - 1)
					line[n++] = c[i];
				continue;
			}
			line[n] = '\0';
			n = 0;
			char *dash;
			uint64_t low = strtoull(line, &dash, 16);
			uint64_t high = *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
			bool program = low < 0x010000000000ull || low >= 0x550000000000ull;
			if (!program || high <= low)
				continue;
			recycle_plane((uint64_t)layout_cell(low), (uint64_t)layout_cell(high - 8) + 16);
			recycle_plane((uint64_t)layout_cell(low | 4),
				      (uint64_t)layout_cell((high - 8) | 4) + 16);
		}
	close(fd);
	return true;
}

bool recycle_slots(void)
{
	uint32_t found = 0;
	struct thread *gone = &runtime.threads[SLOT_GONE];
	gone->state = THREAD_ENDED;
	gone->slot = SLOT_GONE;
	gone->number = AREA_THREAD_GONE;
	for (uint32_t slot = 1; slot < SLOT_GONE; slot++) {
		uint32_t state = THREAD_ENDED;
		if (__atomic_compare_exchange_n(&runtime.threads[slot].state, &state, THREAD_RECYCLING, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			found++;
	}
	for (uint32_t slot = 1; slot < SLOT_GONE && found; slot++)
		if (runtime.threads[slot].state == THREAD_RECYCLING)
			reread_put_all(&runtime.threads[slot]);
	if (!found || !recycle_mappings())
		return false;
	__atomic_fetch_add(&runtime.recycled, 1, __ATOMIC_RELAXED);
	readers_recycle(rename_reader);
	for (uint32_t slot = 1; slot < SLOT_GONE; slot++)
		if (runtime.threads[slot].state == THREAD_RECYCLING)
			runtime.threads[slot].state = THREAD_FREE;
	return true;
}
