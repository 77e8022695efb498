/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Logical threads: numbered over the whole run in order of creation, never used
 * again, unlike Valgrind's numbers. The running one is grind.thread; what
 * instrumented code needs of it is kept in struct grind itself. */
#include "loom/grind/control.h"
#include "loom/grind/tool.h"

static struct thread **by_tid;     /* VG_N_THREADS */
static struct thread **all;        /* in order of creation */
static uint32_t count, room, base; /* base: number of the first one of this process */

struct thread *thread_of(ThreadId tid)
{
	return by_tid[tid];
}

struct thread *thread_numbered(uint32_t number)
{
	return number >= base && number - base < count ? all[number - base] : NULL;
}

uint32_t thread_last_made(void)
{
	return all[count - 1]->number;
}

bool thread_is_alone(void)
{
	uint32_t living = 0;

	for (uint32_t i = 0; i < count; i++)
		living += !all[i]->ended;
	return living == 1;
}

bool thread_has_stack_at(const struct thread *thread, Addr address)
{
	return address >= thread->stack_low && address <= thread->stack_high;
}

#define DESCRIPTOR_SIZE 0x900u

uint32_t thread_with_id(Addr id)
{
	for (uint32_t i = count; i-- > 0;)
		if (all[i]->clear_tid - id < DESCRIPTOR_SIZE)
			return all[i]->number;
	return AREA_THREAD_GONE;
}

static void give_number(struct thread *thread)
{
	thread->number = grind.head ? __atomic_fetch_add(&grind.head->threads, 1, __ATOMIC_RELAXED) : count;
	thread->order = &thread->own_order;
	thread->context =
		grind.context_events == 8 ? 0 : 1; /* whole contexts have no mark where they begin */
	if (!grind.observed)
		return;
	grind.process->created++;
	grind.process->live++;
	if (grind.process->created < AREA_SLOTS)
		thread->order = &grind.process->slot_order[grind.process->created];
}

/* What instrumented code needs of the running thread has changed. */
static void running_changed(void)
{
	grind.order_at = grind.thread->order;
	grind.linger_at = grind.thread->linger_at;
	thread_context_changed();
	shadow_choose_way();
}

void thread_context_changed(void)
{
	grind.context = grind.thread->context * 0x0001000100010001u;
}

static struct thread *thread_new(ThreadId tid)
{
	struct thread *thread = VG_(calloc)("grind.thread", 1, sizeof *thread);

	if (count == room) {
		room = room ? room * 2 : 64;
		all = VG_(realloc)("grind.threads", all, room * sizeof(struct thread *));
	}
	all[count] = thread;
	thread->index = count;
	thread->slot = count + 1 < AREA_SLOTS ? count + 1 : AREA_SLOTS - 1;
	thread->tid = tid;
	thread->shared_low = ~(Addr)0;
	thread->linger_at = UINT64_MAX;
	thread->clear_tid = calls_child_clear_tid;
	by_tid[tid] = thread;
	return thread;
}

static void before_creation(ThreadId creator, ThreadId child)
{
	(void)creator;
	struct thread *thread = thread_new(child);

	records_know_one_more(child);

	give_number(thread);
	if (!count)
		base = thread->number;
	count++;
	if (count == 1)
		thread_switched(child);
	control_created(thread);
}

static void before_end(ThreadId tid)
{
	struct thread *thread = by_tid[tid];

	thread->ended = true;
	if (!grind.observed)
		return;
	grind.process->live--;
	control_ended(thread);
}

static void before_first(ThreadId tid)
{
	by_tid[tid]->stack_high = VG_(thread_get_stack_max)(tid);
	by_tid[tid]->stack_low = by_tid[tid]->stack_high + 1 - VG_(thread_get_stack_size)(tid);
	control_begin(by_tid[tid]);
}

/* The child of a fork has one thread, which is a new one of the run. */
static void in_child(ThreadId tid)
{
	struct thread *thread = by_tid[tid];

	lock_fork_child(tid);
	if (grind.serves)
		return;
	count = 0;
	area_fork_child();
	sites_fork_child();
	control_fork_child();
	give_number(thread);
	base = thread->number;
	thread->index = 0;
	all[count++] = thread;
	shadow_forget_sites();
	running_changed();
}

void thread_switched(ThreadId tid)
{
	struct thread *next = by_tid[tid];

	if (grind.thread == next)
		return;
	if (grind.thread) {
		grind.thread->call = grind.call;
		grind.thread->own_call = grind.own_call;
		grind.thread->own_sp = grind.own_sp;
		grind.thread->shared_low = grind.shared_low;
		grind.thread->block_order = grind.block_order;
	}
	grind.thread = next;
	grind.call = next->call;
	grind.own_call = next->own_call;
	grind.own_sp = next->own_sp;
	grind.shared_low = next->shared_low;
	grind.loop_low = trail_low(next);
	grind.block_order = next->block_order;
	running_changed();
}

void threads_prepare(void)
{
	VG_(track_pre_thread_ll_create)(before_creation);
	VG_(track_pre_thread_ll_exit)(before_end);
	VG_(track_pre_thread_first_insn)(before_first);
	VG_(atfork)(NULL, NULL, in_child);
}

/* The first thread was there before the area was. */
void threads_enter_area(void)
{
	struct thread *first = all[0];

	give_number(first);
	base = first->number;
	running_changed();
}

void threads_start(void)
{
	by_tid = VG_(calloc)("grind.threads", VG_N_THREADS, sizeof(struct thread *));
}
