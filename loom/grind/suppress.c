/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is not executed (SUPPRESS, section 3): planned definitions, and branches, calls,
 * returns, jumps and system calls that depend on suppressed values. Of a branch the
 * conditional structure is left out: forward ones jump over it, backward ones leave the
 * loop; one that is known to lead to a failed check goes the other way. */
#include "loom/grind/define.h"

#include "loom/grind/system_calls.h"

bool suppress_has_key(Addr key)
{
	for (uint32_t i = 0; i < define.area->nplanned; i++)
		if (define.area->planned[i].key == key)
			return true;
	return false;
}

bool suppress_plans(uint32_t definer, Addr key, uint64_t instance)
{
	for (uint32_t i = 0; i < define.area->nplanned; i++) {
		const struct isolate_planned *planned = &define.area->planned[i];

		if (planned->key == key && planned->instance <= instance && instance <= planned->last &&
		    planned->definer == definer && planned->thread == grind.thread->number) {
			define.area->met++;
			return true;
		}
	}
	return false;
}

static bool is_avoided(Addr branch, Addr target)
{
	for (uint32_t i = 0; i < define.area->navoided; i++)
		if (define.area->avoided[i].branch == branch && define.area->avoided[i].taken == target)
			return true;
	return false;
}

static Addr way_out(const struct value_site *site)
{
	Addr target = site->target == site->after && site->beside ? site->beside : site->target;
	Addr other = target == site->target ? site->beside : site->target;

	if (is_avoided(site->pc, target))
		return other;
	if (is_avoided(site->pc, other))
		return target;
	return target > site->pc ? target : other;
}

static void note_deep(struct value_thread *thread, const struct value_site *site, uint64_t mark, Addr taken)
{
	if (!thread->deep)
		thread->deep = VG_(calloc)("define.deep", DEEP_KEPT, sizeof *thread->deep);
	uint32_t at = thread->ndeep++ % DEEP_KEPT;

	thread->deep[at].branch = (struct value_branch){ .site = site, .mark = mark, .taken = taken };
	thread->deep[at].definition = define_next();
}

static void note_branch(const struct value_site *site, uint64_t mark, Addr taken)
{
	static uint64_t when;
	struct value_thread *thread = define_thread();
	uint32_t depth = thread->nreturns < BRANCH_DEPTHS ? thread->nreturns : BRANCH_DEPTHS - 1;
	struct value_branch *kept = thread->branches[depth];
	uint32_t at = 0;

	/* One entry for each branch: loops do not push the others out. */
	while (at < BRANCH_KEPT && kept[at].site && kept[at].site->pc != site->pc)
		at++;
	if (at == BRANCH_KEPT) {
		at = 0;
		for (uint32_t i = 1; i < BRANCH_KEPT; i++)
			if (kept[i].when < kept[at].when)
				at = i;
	}
	thread->decided = mark;
	if (depth == BRANCH_DEPTHS - 1)
		note_deep(thread, site, mark, taken);
	kept[at] = (struct value_branch){ .site = site, .mark = mark, .when = ++when, .taken = taken };
}

VG_REGPARM(3) uint64_t suppress_branch(uint64_t guard, uint64_t mark, const struct value_site *site)
{
	if (define.suppresses && mark & MARK_SUPPRESSED) {
		define.area->branches++;
		return way_out(site) == site->target;
	}
	/* An atomic instruction that is tried again is no decision of the program. */
	if (site->kind == CODE_PROGRAM && define_is_loaded(mark) && site->target != site->pc) {
		guard = define_checked(mark, site) ? !guard : guard;
		note_branch(site, mark, guard ? site->target : site->beside);
	}
	return guard;
}

static void push(struct value_thread *thread, Addr back, Addr sp, uint64_t target)
{
	if (thread->nreturns == thread->returns_room) {
		thread->returns_room = thread->returns_room ? thread->returns_room * 2 : 256;
		thread->returns = VG_(realloc)("define.returns", thread->returns,
					       thread->returns_room * sizeof *thread->returns);
		thread->frames = VG_(realloc)("define.frames", thread->frames,
					      thread->returns_room * sizeof *thread->frames);
		thread->entered = VG_(realloc)("define.returns", thread->entered,
					       thread->returns_room * sizeof *thread->entered);
		thread->targets = VG_(realloc)("define.targets", thread->targets,
					       thread->returns_room * sizeof *thread->targets);
	}
	thread->targets[thread->nreturns] = target;
	thread->entered[thread->nreturns].load = define_next_load();
	thread->entered[thread->nreturns].definition = define_next();
	thread->returns[thread->nreturns] = back;
	thread->frames[thread->nreturns++] = sp;
}

static void note_jump(struct value_thread *thread, Addr target, uint64_t mark, const struct value_site *site)
{
	thread->jump.returns = false;
	thread->jump.site = site;
	thread->jump.address = target;
	thread->jump.mark = mark;
}

/* A call of what is not the program's own, with a suppressed argument, is not made. */
Addr suppress_call(Addr target, uint64_t target_mark, uint64_t arguments, const struct value_site *site,
		   Addr sp)
{
	struct value_thread *thread = define_thread();

	note_jump(thread, target, target_mark, site);
	if (define.suppresses &&
	    (target_mark & MARK_SUPPRESSED || (site->kind == CODE_PROGRAM && arguments & MARK_SUPPRESSED &&
					       code_kind(target) != CODE_PROGRAM))) {
		define.area->calls++;
		return site->after;
	}
	if (site->kind == CODE_PROGRAM && code_kind(target) != CODE_PROGRAM) {
		thread->called.back = site->after;
		thread->called.passed = define.passed;
	}
	push(thread, site->after, sp, target_mark);
	return target;
}

/* `sp` is what it is after the return. */
Addr suppress_return(Addr target, uint64_t mark, const struct value_site *site, Addr sp)
{
	struct value_thread *thread = define_thread();
	Addr back = target;

	note_jump(thread, target, mark, site);
	thread->jump.returns = true;
	while (thread->nreturns && thread->frames[thread->nreturns - 1] < sp)
		back = thread->returns[--thread->nreturns];
	define_left(thread, sp);
	if (define.suppresses && mark & MARK_SUPPRESSED) {
		define.area->branches++;
		return back;
	}
	return target;
}

VG_REGPARM(3) Addr suppress_jump(Addr target, uint64_t mark, const struct value_site *site)
{
	note_jump(define_thread(), target, mark, site);
	return target;
}

/* Only those that hand data over are left out: the others keep the process alive. */
bool suppress_system_call(ThreadId tid, long number)
{
	static const PtrdiffT arguments[] = { REGISTER(RDI), REGISTER(RSI), REGISTER(RDX) };

	define.quiet = 0;
	if (number == __NR_exit_group)
		define_ended();

	if (!define.on || !define.suppresses ||
	    (number != __NR_write && number != __NR_read && number != __NR_writev && number != __NR_sendto &&
	     number != __NR_pwrite64 && number != __NR_pread64 && number != __NR_munmap))
		return false;
	for (int i = 0; i < 3; i++) {
		uint64_t mark;

		VG_(get_shadow_regs_area)(tid, (UChar *)&mark, 1, arguments[i], sizeof mark);
		if (mark & MARK_SUPPRESSED) {
			define.area->system_calls++;
			return true;
		}
	}
	return false;
}

/* What the kernel answers comes from nowhere. */
void suppress_system_call_done(ThreadId tid)
{
	static const uint64_t none;

	if (define.on)
		VG_(set_shadow_regs_area)(tid, 1, REGISTER(RAX), sizeof none, (const UChar *)&none);
}
