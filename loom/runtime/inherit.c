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

void inherit_area(void *head, struct area_process *process, struct area_schedule *schedule)
{
	uint64_t process_end = (uint64_t)process + AREA_PROCESS_SIZE,
		 schedule_end = (uint64_t)schedule + AREA_SCHEDULE_SIZE;
	if (!inherit_tables((uint64_t)head) || !inherit_tables(process_end - PAGE) ||
	    !inherit_tables(schedule_end - PAGE))
		return;
	touch(head, PAGE);
	touch(process, offsetof(struct area_process, paths) + PAGE);
	touch(process->units, PAGE);
	touch(process->pairs, 4 * PAGE);
	touch(process->predecessors, 2 * PAGE);
	touch(process->edges, 4 * PAGE);
	touch(schedule, PAGE);
	touch(schedule->turns, 4 * PAGE);
}
