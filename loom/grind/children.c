/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Other processes: children are not under control. Who waits for one lets the other threads go on; and whether any is
 * alive tells whether something may still come from outside. */
#include "loom/grind/system_calls.h"

#define CHILDREN 256u
#define P_ALL 0
#define P_PID 1
#define P_PGID 2
#define WNOHANG 1
#define WEXITED 4
#define WNOWAIT 0x1000000
#define WALL 0x40000000

static int children[CHILDREN]; /* those that may be alive */
static uint32_t nchildren;
static bool lost; /* there were more of them */
bool children_made;

void children_note(int pid)
{
	children_made = signals_from_outside = true;
	control_uncontrolled("other processes that it starts: they run free");
	if (nchildren < CHILDREN)
		children[nchildren++] = pid;
	else
		lost = true;
}

/* The state that a wait would tell of: -1 there is no such child, 0 it has none, else there is one. */
static int news_of(UWord kind, UWord id, UWord options)
{
	vki_siginfo_t ended = { 0 };

	if (raw_call(__NR_waitid, (long)kind, (long)id, (long)&ended, (long)(options | WNOHANG | WNOWAIT), 0,
		     0) < 0)
		return -1;
	return ended.si_signo;
}

bool children_alive(void)
{
	for (uint32_t i = 0; i < nchildren;)
		if (news_of(P_PID, (UWord)children[i], WEXITED | WALL) == 0)
			i++;
		else
			children[i] = children[--nchildren];
	return nchildren || (lost && news_of(P_ALL, 0, WEXITED | WALL) >= 0);
}

struct child_wait {
	UWord kind, id, options;
};

static bool child_look(struct agent *agent)
{
	const struct child_wait *wait = agent->looked;

	return news_of(wait->kind, wait->id, wait->options) != 0;
}

/* Until a child has news, or there is none, or a signal comes. */
static void await_child(struct child_wait wait)
{
	struct agent *me = grind.thread->agent;

	me->looked = &wait;
	while (!control.over && !child_look(me)) {
		me->look = child_look;
		me->thread->calls = WAIT_NOTHING;
		if (control_wait(me, WAIT_INPUT, 0, NEVER) == WAIT_INTERRUPTED)
			break;
		me->looked = &wait;
	}
	me->look = NULL;
	me->looked = NULL;
}

void before_child_wait(const struct call *call)
{
	int pid = (int)call->a[0];
	bool is_wait4 = call->number == __NR_wait4;
	UWord options = call->a[is_wait4 ? 2 : 3];
	struct child_wait wait = { call->a[0], call->a[1], options & ~(UWord)WNOWAIT };

	if (!is_wait4 && call->number != __NR_waitid)
		return;
	if (is_wait4)
		wait = (struct child_wait){
			pid == -1 ? P_ALL
			: pid > 0 ? P_PID
				  : P_PGID,
			pid > 0     ? (UWord)pid
			: pid == -1 ? 0
				    : (UWord)-pid,
			WEXITED | (options & ~(UWord)WNOHANG),
		};
	control_call(site_of_call(SITE_SYNC, "wait"), 0);
	if (!(options & WNOHANG))
		await_child(wait);
}
