/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls that wait for input or for room. A thread that would wait is left out
 * until what it waits for is there. When nobody can run the process waits in
 * reality, unless what they wait for could only come from itself. */
#include "loom/grind/system_calls.h"

#define POLL_OUT 4

static bool is_there(struct vki_pollfd *polled, uint32_t n, long milliseconds)
{
	return raw_call(__NR_poll, (long)polled, n, milliseconds, 0, 0, 0) != 0;
}

/* Ends of pipes and the like that this process made: as long as it has not forked nobody else can write there. */
#define OWN_MOST 4096u
static uint8_t own_descriptors[OWN_MOST];

void note_own(int fd, bool own)
{
	if (fd >= 0 && (uint32_t)fd < OWN_MOST)
		own_descriptors[fd] = own;
}

void note_descriptors(const struct call *call)
{
	long result = (long)guest_word(call->tid, REGISTER(RAX));
	const int *ends = (const int *)(call->number == __NR_socketpair ? call->a[3] : call->a[0]);

	if (result < 0)
		return;
	switch (call->number) {
	case __NR_pipe:
	case __NR_pipe2:
	case __NR_socketpair:
		note_own(ends[0], true);
		note_own(ends[1], true);
		break;
	case __NR_eventfd:
	case __NR_eventfd2:
		note_own((int)result, true);
		break;
	case __NR_close:
		note_own((int)call->a[0], false);
		break;
	case __NR_fork:
	case __NR_vfork:
	case __NR_clone:
		if (call->number != __NR_clone || !(call->a[0] & CLONE_THREAD))
			children_note((int)result);
		break;
	default:
		break;
	}
}

/* Could what it waits for come from outside? */
static bool comes_from_outside(const struct agent *agent)
{
	if (agent->foreign)
		return true;
	for (uint32_t i = 0; i < agent->npolled; i++)
		if (children_made || (uint32_t)agent->polled[i].fd >= OWN_MOST ||
		    !own_descriptors[agent->polled[i].fd])
			return true;
	return false;
}

bool outside_can_come(void)
{
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->look && comes_from_outside(control.blocked[i]))
			return true;
	return children_alive() || (signals_from_outside && !children_made);
}

#define MOST_WAITED 64u
#define LONGEST_MS 1000000000u
#define PAUSE_MS 2u /* between two looks at what other processes may have changed: nothing tells of that */

/* Until something is there that somebody waits for, for so many milliseconds at most. */
static void wait_in_reality(uint64_t most)
{
	struct vki_pollfd all[MOST_WAITED];
	uint32_t n = 0;
	bool looks = signals_from_outside;

	for (uint32_t i = 0; i < control.nblocked; i++) {
		looks |= control.blocked[i]->foreign;
		for (uint32_t k = 0; control.blocked[i]->look && k < control.blocked[i]->npolled; k++)
			if (n < MOST_WAITED)
				all[n++] = control.blocked[i]->polled[k];
	}
	if (looks && most > PAUSE_MS)
		most = PAUSE_MS;
	control_uncontrolled("input from outside");
	is_there(all, n, most > LONGEST_MS ? -1 : (long)most);
}

static bool look_for_all(void)
{
	bool any = signals_from_outside && signals_arrive();

	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];

		if (agent->look && agent->look(agent)) {
			control_unblock(agent, WAIT_WOKEN);
			any = true;
		} else {
			i++;
		}
	}
	return any;
}

/* Nobody can run: time passes as in reality, until the first sleeper would wake. */
bool blocking_poll(bool wait)
{
	if (!wait)
		return look_for_all();
	uint64_t began = VG_(read_millisecond_timer)(), first = first_deadline();
	uint64_t most = first == NEVER        ? NEVER
			: first > control.now ? (first - control.now) / 1000000u + 1
					      : 0;

	for (;;) {
		/* Before the look: a child may do something and be gone. */
		bool may_come = outside_can_come();
		uint64_t waited = VG_(read_millisecond_timer)() - began;

		if (look_for_all())
			return true;
		if (!may_come || waited >= most)
			return false;
		wait_in_reality(most == NEVER ? NEVER : most - waited);
	}
}

static bool input_is_there(struct agent *agent)
{
	return is_there(agent->polled, agent->npolled, 0);
}

/* Until one of these is ready, or a signal came, so that the call does not wait; false: its time is over. Whoever is
 * woken for input may come behind another one who takes it. */
static bool await_input(const char *name, struct vki_pollfd *polled, uint32_t n, uint64_t deadline,
			const uint64_t *blocked)
{
	struct agent *me = grind.thread->agent;
	enum wait_result result = WAIT_WOKEN;

	control_call(site_of_call(SITE_SYNC, name), 0);
	while (result == WAIT_WOKEN && !control.over && !is_there(polled, n, 0)) {
		signals_let_in(me, blocked);
		if (signals_came(me))
			break;
		result = WAIT_TIMED_OUT;
		if (deadline <= time_of(me))
			break;
		me->polled = polled;
		me->npolled = n;
		me->look = input_is_there;
		me->thread->calls = WAIT_NOTHING;
		result = control_wait(me, WAIT_INPUT, 0, deadline);
		me->polled = NULL;
		me->npolled = 0;
		me->look = NULL;
	}
	signals_let_in(me, NULL);
	return result != WAIT_TIMED_OUT;
}

static bool waits_for_descriptor(long number, const char **name, short *events)
{
	static const struct {
		long number;
		const char *name;
		short events;
	} calls[] = {
		{ __NR_read, "read", VKI_POLLIN },     { __NR_readv, "readv", VKI_POLLIN },
		{ __NR_recvfrom, "recv", VKI_POLLIN }, { __NR_recvmsg, "recvmsg", VKI_POLLIN },
		{ __NR_accept, "accept", VKI_POLLIN }, { __NR_accept4, "accept", VKI_POLLIN },
		{ __NR_write, "write", POLL_OUT },     { __NR_writev, "writev", POLL_OUT },
		{ __NR_sendto, "send", POLL_OUT },     { __NR_sendmsg, "sendmsg", POLL_OUT },
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].number == number) {
			*name = calls[i].name;
			*events = calls[i].events;
			return true;
		}
	return false;
}

#define O_NONBLOCK 2048

static const struct vki_timespec at_once;

static uint64_t deadline_of(const struct vki_timespec *time)
{
	return time ? deadline_in(nanoseconds(time)) : NEVER;
}

/* The time-out of poll and its kin has passed when nothing is there: then they only look. */
static bool poll_or_epoll(const struct call *call, UInt trc)
{
	const UWord *a = call->a;
	struct vki_pollfd own = { .fd = (int)a[0], .events = VKI_POLLIN };
	bool on_set = call->number == __NR_epoll_wait || call->number == __NR_epoll_pwait;
	bool by_time = call->number == __NR_ppoll;
	int argument = on_set ? 3 : 2;
	const uint64_t *blocked = (const uint64_t *)(by_time                            ? a[3]
						     : call->number == __NR_epoll_pwait ? a[4]
											: 0);

	if ((!on_set && !by_time && call->number != __NR_poll) || (!by_time && (int)a[argument] == 0))
		return false;
	uint64_t deadline = by_time                ? deadline_of((const struct vki_timespec *)a[2])
			    : (int)a[argument] < 0 ? NEVER
						   : deadline_in((uint64_t)(int)a[argument] * 1000000u);

	if (await_input("poll", on_set ? &own : (struct vki_pollfd *)a[0], on_set ? 1 : (uint32_t)a[1],
			deadline, blocked))
		return false;
	call_with(call, trc, argument, by_time ? (UWord)&at_once : 0);
	return true;
}

#define SELECT_MOST 64u

/* The descriptors of select's sets. */
static uint32_t polled_of_sets(const struct call *call, struct vki_pollfd *polled)
{
	uint32_t n = 0;

	for (int fd = 0; fd < (int)call->a[0] && n < SELECT_MOST; fd++) {
		short events = 0;

		for (int set = 0; set < 2; set++) {
			const uint64_t *bits = (const uint64_t *)call->a[1 + set];

			if (bits && bits[fd / 64] >> (fd % 64) & 1)
				events = (short)(events | (set ? POLL_OUT : VKI_POLLIN));
		}
		if (events)
			polled[n++] = (struct vki_pollfd){ .fd = fd, .events = events };
	}
	return n;
}

static bool select_call(const struct call *call, UInt trc)
{
	struct vki_pollfd polled[SELECT_MOST];
	bool usual = call->number == __NR_select;
	struct vki_timespec time = { 0 };
	const uint64_t *blocked = NULL;

	if (!usual && call->number != __NR_pselect6)
		return false;
	if (call->a[4])
		time = *(const struct vki_timespec *)call->a[4];
	time.tv_nsec *= usual ? 1000 : 1;
	if (!usual && call->a[5]) /* where they are, and how many bytes */
		blocked = *(const uint64_t *const *)call->a[5];
	if (await_input("select", polled, polled_of_sets(call, polled),
			deadline_of(call->a[4] ? &time : NULL), blocked))
		return false;
	call_with(call, trc, 4, (UWord)&at_once);
	return true;
}

void before_descriptor(const struct call *call)
{
	const char *name;
	short events;

	if (!waits_for_descriptor(call->number, &name, &events))
		return;
	struct vki_pollfd polled = { .fd = (int)call->a[0], .events = events };
	long flags = raw_call(__NR_fcntl, polled.fd, VKI_F_GETFL, 0, 0, 0, 0);

	if (flags < 0 || flags & O_NONBLOCK)
		control_call(site_of_call(SITE_SYNC, name), 0);
	else
		await_input(name, &polled, 1, NEVER, NULL);
}

bool poll_call(const struct call *call, UInt trc)
{
	return poll_or_epoll(call, trc) || select_call(call, trc);
}
