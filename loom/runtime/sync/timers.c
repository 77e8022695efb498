/* The program's timers in virtual time: alarm, setitimer, timer_create, timerfd. When its time
 * has come a timer sends its signal to the first thread that lets it in, has its function
 * called by a thread that was made for it, or writes to its file: a timer's file is an
 * eventfd, which is read in the same way. */
#include "loom/runtime/sync/blocking.h"
#include "loom/runtime/sync/signals.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define TIMERS 256u

struct timer {
	bool used;
	clockid_t clock;
	uint64_t deadline, interval; /* NEVER = not running; 0 = once */
	int signal;                  /* 0 = none */
	int code;                    /* of the signal: SI_TIMER, SI_KERNEL */
	union sigval value;
	int fd; /* -1 = no file */
	int overrun;
	/* A function of its own: who calls it, how often it still has to. */
	void (*function)(union sigval);
	struct agent *server;
	uint32_t due;
};
static struct timer timers[TIMERS]; /* the first is that of alarm and setitimer */

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
}

static struct timespec time_from(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };
}

static bool is_time(const struct timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)SECOND;
}

static uint64_t left_of(const struct timer *timer)
{
	uint64_t now = time_of(control.current);
	return timer->deadline == NEVER ? 0 : timer->deadline > now ? timer->deadline - now : 1;
}

static void note_first(void)
{
	control.timer_deadline = NEVER;
	for (uint32_t i = 0; i < TIMERS; i++)
		if (timers[i].used && timers[i].deadline < control.timer_deadline)
			control.timer_deadline = timers[i].deadline;
	if (control.timer_deadline < control.next_deadline)
		control.next_deadline = control.timer_deadline;
}

static void fire(struct timer *timer, uint64_t times)
{
	if (timer->fd >= 0) {
		raw_call(SYS_write, timer->fd, (long)&times, sizeof times, 0, 0, 0);
		blocking_moved();
	} else if (timer->server) {
		timer->due++;
		if (timer->server->state == AGENT_BLOCKED && timer->server->serves_timer)
			control_unblock(timer->server, WAIT_WOKEN);
	} else if (timer->signal) {
		siginfo_t info = { .si_signo = timer->signal, .si_code = timer->code };
		info.si_value = timer->value;
		timer->overrun = (int)(times - 1);
		signals_to_process(timer->signal, &info);
	}
}

void timers_fire(void)
{
	uint64_t now = control.timer_deadline > control.now ? control.timer_deadline : control.now;
	for (uint32_t i = 0; i < TIMERS; i++) {
		struct timer *timer = &timers[i];
		if (!timer->used || timer->deadline > now)
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
	note_first();
}

/* ---- alarm, setitimer ---- */

static struct timer *usual_timer(void)
{
	if (!timers[0].used)
		timers[0] = (struct timer){
			.used = true, .deadline = NEVER, .signal = SIGALRM, .code = SI_KERNEL, .fd = -1
		};
	return &timers[0];
}

INTERPOSE unsigned alarm(unsigned seconds)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(alarm)(seconds);
	struct timer *timer = usual_timer();
	uint64_t left = left_of(timer);
	control_call(me, NULL);
	set(timer, seconds ? time_of(me) + seconds * SECOND : NEVER, 0);
	return (unsigned)((left + SECOND - 1) / SECOND);
}

static uint64_t ns_of_timeval(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_usec * 1000;
}

static struct timeval timeval_from(uint64_t ns)
{
	return (struct timeval){ .tv_sec = (time_t)(ns / SECOND),
				 .tv_usec = (suseconds_t)(ns % SECOND / 1000) };
}

INTERPOSE int setitimer(__itimer_which_t which, const struct itimerval *fresh, struct itimerval *old)
{
	struct agent *me = control_me();
	if (!me || which != ITIMER_REAL) {
		if (me)
			control_uncontrolled("timers that count processor time: come in real time");
		return REAL(setitimer)(which, fresh, old);
	}
	struct timer *timer = usual_timer();
	control_call(me, NULL);
	if (old) {
		old->it_value = timeval_from(left_of(timer));
		old->it_interval = timeval_from(timer->interval);
	}
	if (fresh) {
		uint64_t first = ns_of_timeval(&fresh->it_value);
		set(timer, first ? time_of(me) + first : NEVER, ns_of_timeval(&fresh->it_interval));
	}
	return 0;
}

INTERPOSE int getitimer(__itimer_which_t which, struct itimerval *now)
{
	if (!control_me() || which != ITIMER_REAL)
		return REAL(getitimer)(which, now);
	struct timer *timer = usual_timer();
	now->it_value = timeval_from(left_of(timer));
	now->it_interval = timeval_from(timer->interval);
	return 0;
}

/* ---- timers with a clock: of POSIX, of files ---- */

static struct timer *new_timer(clockid_t clock)
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

static bool is_virtual(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}

static void tell_left(const struct timer *timer, struct itimerspec *out)
{
	out->it_value = time_from(left_of(timer));
	out->it_interval = time_from(timer->interval);
}

static int set_spec(struct agent *me, struct timer *timer, bool absolute, const struct itimerspec *fresh,
		    struct itimerspec *old)
{
	uint64_t deadline = NEVER;
	if (!is_time(&fresh->it_value) || !is_time(&fresh->it_interval)) {
		errno = EINVAL;
		return -1;
	}
	control_call(me, NULL);
	if (old)
		tell_left(timer, old);
	if (ns_of(&fresh->it_value)) {
		deadline = time_of(me) + ns_of(&fresh->it_value);
		if (absolute)
			clock_deadline(timer->clock, &fresh->it_value, &deadline);
	}
	set(timer, deadline, ns_of(&fresh->it_interval));
	return 0;
}

/* The thread of a timer that wants a function called. */
static void *serve(void *argument)
{
	struct timer *timer = argument;
	for (;;) {
		struct agent *me = control_me();
		while (me && timer->used && !timer->due) {
			me->serves_timer = true;
			control_wait(me, WAIT_INPUT, 0, NEVER);
		}
		if (!me || !timer->used)
			return NULL;
		timer->due--;
		timer->function(timer->value);
	}
}

static bool make_server(struct timer *timer, const struct sigevent *event)
{
	pthread_attr_t attributes;
	pthread_t id;
	timer->function = event->sigev_notify_function;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool made = pthread_create(&id, &attributes, serve, timer) == 0;
	pthread_attr_destroy(&attributes);
	timer->server = made ? agent_of(id) : NULL;
	return timer->server != NULL;
}

static struct timer *timer_of(timer_t id)
{
	struct timer *timer = (struct timer *)id;
	return timer > timers && timer < timers + TIMERS && timer->used ? timer : NULL;
}

INTERPOSE int timer_create(clockid_t clock, struct sigevent *event, timer_t *id)
{
	struct agent *me = control_me();
	int how = event ? event->sigev_notify : SIGEV_SIGNAL;
	bool modelled =
		is_virtual(clock) && (how == SIGEV_SIGNAL || how == SIGEV_THREAD || how == SIGEV_NONE);
	if (!me || !modelled) {
		if (me)
			control_uncontrolled("timers of one thread or of processor time: come in real time");
		return REAL(timer_create)(clock, event, id);
	}
	struct timer *timer = new_timer(clock);
	if (!timer) {
		errno = EAGAIN;
		return -1;
	}
	timer->value = event ? event->sigev_value : (union sigval){ .sival_ptr = timer };
	timer->signal = how != SIGEV_SIGNAL ? 0 : event ? event->sigev_signo : SIGALRM;
	if (how == SIGEV_THREAD && !make_server(timer, event)) {
		timer->used = false;
		errno = EAGAIN;
		return -1;
	}
	*id = (timer_t)timer;
	return 0;
}

INTERPOSE int timer_settime(timer_t id, int flags, const struct itimerspec *fresh, struct itimerspec *old)
{
	struct agent *me = control_me();
	struct timer *timer = me ? timer_of(id) : NULL;
	return timer ? set_spec(me, timer, flags & TIMER_ABSTIME, fresh, old)
		     : REAL(timer_settime)(id, flags, fresh, old);
}

INTERPOSE int timer_gettime(timer_t id, struct itimerspec *now)
{
	struct timer *timer = control_me() ? timer_of(id) : NULL;
	if (!timer)
		return REAL(timer_gettime)(id, now);
	tell_left(timer, now);
	return 0;
}

INTERPOSE int timer_getoverrun(timer_t id)
{
	struct timer *timer = control_me() ? timer_of(id) : NULL;
	return timer ? timer->overrun : REAL(timer_getoverrun)(id);
}

INTERPOSE int timer_delete(timer_t id)
{
	struct timer *timer = control_me() ? timer_of(id) : NULL;
	if (!timer)
		return REAL(timer_delete)(id);
	timer->used = false;
	note_first();
	if (timer->server && timer->server->state == AGENT_BLOCKED && timer->server->serves_timer)
		control_unblock(timer->server, WAIT_WOKEN);
	return 0;
}

/* ---- timers that are files ---- */

static struct timer *timer_of_file(int fd)
{
	for (uint32_t i = 1; i < TIMERS; i++)
		if (timers[i].used && timers[i].fd == fd)
			return &timers[i];
	return NULL;
}

void timers_close(int fd)
{
	struct timer *timer = control.timer_files ? timer_of_file(fd) : NULL;
	if (!timer)
		return;
	timer->used = false;
	control.timer_files--;
	note_first();
}

_Static_assert(TFD_CLOEXEC == EFD_CLOEXEC && TFD_NONBLOCK == EFD_NONBLOCK, "flags of both files are alike");

INTERPOSE int timerfd_create(clockid_t clock, int flags)
{
	struct timer *timer = control_me() && is_virtual(clock) ? new_timer(clock) : NULL;
	if (!timer)
		return REAL(timerfd_create)(clock, flags);
	timer->fd = eventfd(0, flags);
	timer->used = timer->fd >= 0;
	control.timer_files += timer->used;
	return timer->fd;
}

INTERPOSE int timerfd_settime(int fd, int flags, const struct itimerspec *fresh, struct itimerspec *old)
{
	struct agent *me = control_me();
	struct timer *timer = me ? timer_of_file(fd) : NULL;
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	uint64_t gone;
	if (!timer)
		return REAL(timerfd_settime)(fd, flags, fresh, old);
	/* What it had counted is void. */
	if (raw_call(SYS_poll, (long)&polled, 1, 0, 0, 0, 0) == 1)
		raw_call(SYS_read, fd, (long)&gone, sizeof gone, 0, 0, 0);
	return set_spec(me, timer, flags & TFD_TIMER_ABSTIME, fresh, old);
}

INTERPOSE int timerfd_gettime(int fd, struct itimerspec *now)
{
	struct timer *timer = control_me() ? timer_of_file(fd) : NULL;
	if (!timer)
		return REAL(timerfd_gettime)(fd, now);
	tell_left(timer, now);
	return 0;
}
