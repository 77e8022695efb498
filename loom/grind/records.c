/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the core keeps of each thread, records and host stacks, made smaller. A fork
 * server forks a child for every schedule: each page that is written to in a child
 * costs as much as a hundred accesses of the program. */
#include "loom/grind/core.h"
#include "loom/grind/tool.h"

/* The core has a record for each of the most threads that there may be, and looks at all of them whenever a thread
 * is made or ends; after a fork it makes all of them anew. They take megabytes. So it is told of no more records than
 * have been used, and one. */
static UInt most; /* 0: it knows all of them */

void records_know_few(void)
{
	if (VG_(clo_vgdb)) /* gdb is told the number when it starts */
		return;
	most = VG_N_THREADS;
	VG_N_THREADS = grind.thread->tid + 2; /* it is alone so far */
}

void records_know_one_more(ThreadId tid)
{
	if (most && VG_N_THREADS < tid + 2 && VG_N_THREADS < most)
		VG_N_THREADS = tid + 2;
}

#define GUARD 8192u /* VG_STACK_GUARD_SZB */
#define PATTERN 0xdeadbeefu
#define LOOKED_AT \
	4096u /* so many bytes at the far end does the core look at, for a stack that is nearly full */

extern Word VG_(clo_valgrind_stacksize);
void VG_(am_notify_mprotect)(Addr start, SizeT length, UInt protection);

static void protect(Addr start)
{
	raw_call(__NR_mprotect, (long)start, GUARD, 0, 0, 0, 0);
	VG_(am_notify_mprotect)(start, GUARD, 0);
}

/* A host stack as the core makes it, filled with a pattern only where that is ever looked for. The linker sends the
 * core's calls here. */
void *__wrap_vgPlain_am_alloc_VgStack(Addr *top);
void *__wrap_vgPlain_am_alloc_VgStack(Addr *top)
{
	SizeT size = (SizeT)VG_(clo_valgrind_stacksize);
	SysRes result = VG_(am_mmap_anon_float_valgrind)(size + 2 * GUARD);

	if (sr_isError(result))
		return NULL;
	Addr start = sr_Res(result) + GUARD;

	protect(start - GUARD);
	protect(start + size);
	for (UInt *word = (UInt *)start; word < (UInt *)(start + LOOKED_AT); word++)
		*word = PATTERN;
	*top = (start + size - 8) & ~(Addr)31;
	return (void *)(start - GUARD);
}
