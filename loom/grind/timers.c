/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's timers in virtual time: alarm, setitimer, timer_create, timerfd. When its time has come a timer sends
 * its signal, or writes to its file: a timer's file is an eventfd, which is read in the same way. */
#include "loom/grind/system_calls.h"

#define TIMERS 256u
#define FIRST_ID 0x1000000 /* the kernel's are smaller */
#define SI_TIMER (-2)
#define SI_KERNEL 0x80
#define SIGEV_SIGNAL 0
#define SIGEV_NONE 1
#define SIGEV_THREAD_ID 4
#define ITIMER_REAL 0
#define ABSOLUTE 1

struct timer {
	bool used;
	bool in_vain; /* nobody was woken by it, and nobody has run since: it would be the same again */
	UWord clock;
	uint64_t deadline, interval; /* NEVER = not running; 0 = once */
	int signal;                  /* 0 = none */
	int code;                    /* of the signal */
	vki_sigval_t value;
	int lwp; /* the thread that gets it; 0 = any */
	int fd;  /* -1 = no file */
	int overrun;
};
static struct timer timers[TIMERS]; /* the first is that of alarm and setitimer */
static uint32_t nfiles;
bool timers_in_vain;

static uint64_t left_of(const struct timer *timer)
{
	uint64_t now = time_of(grind.thread->agent);

	return timer->deadline == NEVER ? 0 : timer->deadline > now ? timer->deadline - now : 1;
}

static void note_first(void)
{
	control.timer_deadline = NEVER;
	for (uint32_t i = 0; i < TIMERS; i++)
		if (timers[i].used && !timers[i].in_vain && timers[i].deadline < control.timer_deadline)
			control.timer_deadline = timers[i].deadline;
	if (control.timer_deadline < control.next_deadline)
		control.next_deadline = control.timer_deadline;
}

void timers_revive(void)
{
	timers_in_vain = false;
	for (uint32_t i = 0; i < TIMERS; i++)
		timers[i].in_vain = false;
	note_first();
}

static void fire(struct timer *timer, uint64_t times)
{
	vki_siginfo_t info = { .si_signo = timer->signal, .si_code = timer->code };

	timer->overrun = (int)(times - 1);
	info._sifields._timer._tid = (int)(timer - timers) + FIRST_ID;
	info._sifields._timer._overrun = timer->overrun;
	info._sifields._timer._sigval = timer->value;
	if (timer->fd >= 0)
		raw_call(__NR_write, timer->fd, (long)&times, sizeof times, 0, 0, 0);
	else if (timer->lwp)
		signals_to_thread(timer->lwp, &info);
	else if (timer->signal)
		signals_to_process(&info);
	if (timer->fd >= 0)
		blocking_poll(false);
	timer->in_vain = !control.nready;
	timers_in_vain |= timer->in_vain;
}

void timers_fire(void)
{
	uint64_t now = control.timer_deadline > control.now ? control.timer_deadline : control.now;

	for (uint32_t i = 0; i < TIMERS; i++) {
		struct timer *timer = &timers[i];

		if (!timer->used || timer->in_vain || timer->deadline > now)
			continue;
		uint64_t times = timer->interval ? 1 + (now - timer->deadline) / timer->interval : 1;

		timer->deadline = timer->interval ? timer->deadline + times * timer->interval : NEVER;
		fire(timer, times);
	}
	note_first();
}

static void set(struct timer *timer, uint64_t deadline, uint64_t interval)
{
	timer->deadline = deadline;
	timer->interval = interval;
	timer->overrun = 0;
	timer->in_vain = false;
	note_first();
}

/* Of a process that is not under control, such as a wrapper that ends what it has started, timers are the kernel's. */
static bool is_virtual(const struct call *call)
{
	bool controlled = grind.controlled && grind.thread->agent;

	signals_from_outside |= !controlled && call->number != __NR_alarm && call->number != __NR_setitimer;
	return controlled;
}

/* ---- alarm, setitimer ---- */

static struct timer *usual_timer(void)
{
	if (!timers[0].used)
		timers[0] = (struct timer){
			.used = true, .deadline = NEVER, .signal = VKI_SIGALRM, .code = SI_KERNEL, .fd = -1
		};
	return &timers[0];
}

/* Of struct timeval and of struct timespec: the parts of a second are as many nanoseconds. */
static uint64_t read_span(const long *words, uint64_t fraction)
{
	return (uint64_t)words[0] * SECOND + (uint64_t)words[1] * fraction;
}

/* What it has set before goes on in virtual time. */
void timers_take_over(void)
{
	static const long none[4];
	long left[4];

	if (raw_call(__NR_setitimer, ITIMER_REAL, (long)none, (long)left, 0, 0, 0) >= 0 &&
	    (left[2] || left[3]))
		set(usual_timer(), deadline_in(read_span(left + 2, 1000)), read_span(left, 1000));
}

static void alarm_call(const struct call *call)
{
	struct timer *timer = usual_timer();
	uint64_t left = left_of(timer), seconds = (uint32_t)call->a[0];

	set(timer, seconds ? deadline_in(seconds * SECOND) : NEVER, 0);
	answer(call, (long)((left + SECOND - 1) / SECOND));
}

static void write_span(long *words, uint64_t span, uint64_t fraction)
{
	words[0] = (long)(span / SECOND);
	words[1] = (long)(span % SECOND / fraction);
}

/* The interval comes first, then what is left. */
static void tell_left(const struct timer *timer, Addr place, uint64_t fraction)
{
	if (!place)
		return;
	write_span((long *)place, timer->interval, fraction);
	write_span((long *)place + 2, left_of(timer), fraction);
}

static long set_timer(struct timer *timer, bool absolute, Addr fresh, Addr old, uint64_t fraction)
{
	const long *words = (const long *)fresh;
	long most = (long)(SECOND / fraction);

	tell_left(timer, old, fraction);
	if (!fresh)
		return 0;
	if (words[0] < 0 || words[2] < 0 || words[1] < 0 || words[3] < 0 || words[1] >= most ||
	    words[3] >= most)
		return -VKI_EINVAL;
	const struct vki_timespec when = { words[2], words[3] * (long)fraction };
	uint64_t first = nanoseconds(&when);

	set(timer,
	    !first     ? NEVER
	    : absolute ? deadline_at(timer->clock, &when)
		       : deadline_in(first),
	    read_span(words, fraction));
	return 0;
}

/* ---- timers with a clock: of POSIX, of files ---- */

static struct timer *new_timer(UWord clock)
{
	for (uint32_t i = 1; i < TIMERS; i++)
		if (!timers[i].used) {
			timers[i] = (struct timer){
				.used = true, .clock = clock, .deadline = NEVER, .code = SI_TIMER, .fd = -1
			};
			return &timers[i];
		}
	return NULL;
}

static bool create_timer(const struct call *call)
{
	const vki_sigevent_t *event = (const vki_sigevent_t *)call->a[1];
	int how = event ? event->sigev_notify : SIGEV_SIGNAL;
	bool modelled = call->a[0] <= 1 || call->a[0] == 7; /* realtime, monotonic, boot time */
	struct timer *timer = NULL;

	if (modelled && (how == SIGEV_SIGNAL || how == SIGEV_NONE || how == SIGEV_THREAD_ID) &&
	    is_virtual(call))
		timer = new_timer(call->a[0]);
	if (!timer) {
		control_uncontrolled("timers of processor time: come in real time");
		return false;
	}
	int id = (int)(timer - timers) + FIRST_ID;

	timer->value.sival_ptr = event ? event->sigev_value.sival_ptr : (void *)(Addr)id;
	timer->signal = how == SIGEV_NONE ? 0 : event ? event->sigev_signo : VKI_SIGALRM;
	timer->lwp = how == SIGEV_THREAD_ID ? event->_sigev_un._tid : 0;
	*(int *)call->a[2] = id;
	answer(call, 0);
	return true;
}

static struct timer *timer_numbered(UWord id)
{
	struct timer *timer = &timers[((uint32_t)id - FIRST_ID) % TIMERS];

	return (uint32_t)id - FIRST_ID < TIMERS && timer->used ? timer : NULL;
}

static struct timer *timer_of_file(UWord fd)
{
	for (uint32_t i = 1; i < TIMERS && nfiles; i++)
		if (timers[i].used && timers[i].fd == (int)fd)
			return &timers[i];
	return NULL;
}

static bool create_file(const struct call *call, UInt trc)
{
	struct timer *timer = is_virtual(call) ? new_timer(call->a[0]) : NULL;
	struct call eventfd = *call;

	if (!timer)
		return false;
	eventfd.number = __NR_eventfd2; /* of as many descriptors, with the same flags */
	call_with(&eventfd, trc, 0, 0);
	timer->fd = (int)guest_word(call->tid, REGISTER(RAX));
	timer->used = timer->fd >= 0;
	nfiles += timer->used;
	if (timer->used)
		note_own(timer->fd, true);
	return true;
}

/* What it had counted is void. */
static void empty_file(int fd)
{
	struct vki_pollfd polled = { .fd = fd, .events = VKI_POLLIN };
	uint64_t gone;

	if (raw_call(__NR_poll, (long)&polled, 1, 0, 0, 0, 0) == 1)
		raw_call(__NR_read, fd, (long)&gone, sizeof gone, 0, 0, 0);
}

static void close_file(UWord fd)
{
	struct timer *timer = timer_of_file(fd);

	if (!timer)
		return;
	timer->used = false;
	nfiles--;
	note_first();
}

static bool known_timer_call(const struct call *call, struct timer *timer)
{
	const UWord *a = call->a;

	if (!timer)
		return false;
	switch (call->number) {
	case __NR_timerfd_settime:
		empty_file(timer->fd);
		/* fall through */
	case __NR_timer_settime:
		answer(call, set_timer(timer, a[1] & ABSOLUTE, a[2], a[3], 1));
		return true;
	case __NR_timer_gettime:
	case __NR_timerfd_gettime:
		tell_left(timer, a[1], 1);
		answer(call, 0);
		return true;
	case __NR_timer_getoverrun:
		answer(call, timer->overrun);
		return true;
	default:
		timer->used = false;
		note_first();
		answer(call, 0);
		return true;
	}
}

bool timer_call(const struct call *call, UInt trc)
{
	const UWord *a = call->a;

	switch (call->number) {
	case __NR_alarm:
		if (!is_virtual(call))
			return false;
		alarm_call(call);
		return true;
	case __NR_setitimer:
	case __NR_getitimer:
		if (a[0] != ITIMER_REAL || !is_virtual(call))
			return false;
		if (call->number == __NR_getitimer)
			tell_left(usual_timer(), a[1], 1000);
		answer(call, call->number == __NR_getitimer
				     ? 0
				     : set_timer(usual_timer(), false, a[1], a[2], 1000));
		return true;
	case __NR_timer_create:
		return create_timer(call);
	case __NR_timerfd_create:
		return create_file(call, trc);
	case __NR_timer_settime:
	case __NR_timer_gettime:
	case __NR_timer_getoverrun:
	case __NR_timer_delete:
		return known_timer_call(call, timer_numbered(a[0]));
	case __NR_timerfd_settime:
	case __NR_timerfd_gettime:
		return known_timer_call(call, timer_of_file(a[0]));
	case __NR_close:
		close_file(a[0]);
		return false;
	default:
		return false;
	}
}
