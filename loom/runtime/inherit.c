/* What the children of a fork server find mapped. The kernel copies page tables at a fork only
 * where it must, and lets the child fault in the rest again, page by page: the text of
 * libraries, the area. It must where a mapping has had guard pages; so one is put there and
 * taken away again. Kernels without them (before 6.15) let runs fault, which costs time only. */
#include "loom/runtime/control.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

#define PAGE 4096ull

/* The page tables of the mapping that holds this page are copied at forks from here on. Nothing
 * may need the page in between. */
static bool inherit_tables(uint64_t page)
{
	if (raw_call(SYS_madvise, (long)page, PAGE, MADV_GUARD_INSTALL, 0, 0, 0) != 0)
		return false;
	raw_call(SYS_madvise, (long)page, PAGE, MADV_GUARD_REMOVE, 0, 0, 0);
	return true;
}

/* Pages that most runs write. */
static void touch(const void *start, uint64_t size)
{
	uint64_t low = (uint64_t)start & ~(PAGE - 1),
		 high = ((uint64_t)start + size + PAGE - 1) & ~(PAGE - 1);
	raw_call(SYS_madvise, (long)low, (long)(high - low), MADV_POPULATE_WRITE, 0, 0, 0);
}

void inherit_area(struct area_head *head, struct area_process *process, struct area_schedule *schedule)
{
	/* A page of its own for either mapping, where there is a page table anyway. */
	uint64_t in_front = (uint64_t)(process->pairs) + 16 * PAGE,
		 in_schedule = (uint64_t)(schedule->turns) + 16 * PAGE;
	if (!inherit_tables(in_front & ~(PAGE - 1)) || !inherit_tables(in_schedule & ~(PAGE - 1)))
		return;
	touch(head, AREA_HEAD_SIZE);
	touch(process, offsetof(struct area_process, paths) + PAGE);
	touch(process->units, PAGE);
	touch(process->pairs, 4 * PAGE);
	touch(process->predecessors, 2 * PAGE);
	touch(process->edges, 4 * PAGE);
	touch(schedule, PAGE);
	touch(schedule->turns, 4 * PAGE);
}
