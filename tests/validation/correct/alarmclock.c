/* An alarm clock thread that takes every signal by sigwaitinfo: SIGALRM of an
   interval timer, a queued signal of a POSIX timer, and a request to stop.
   Sleepers wait for ticks under a priority-inheriting mutex that the same
   thread may take twice through a recursive one. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SLEEPERS 3
#define ROUNDS 4

static pthread_mutex_t clock_lock;              /* priority inheritance */
static pthread_mutex_t log_lock;                /* recursive */
static pthread_cond_t ticked = PTHREAD_COND_INITIALIZER;
static unsigned long tick;
static long chimes, log_lines, silent;

static void log_line(int extra)
{
    pthread_mutex_lock(&log_lock);
    log_lines++;
    if (extra > 0)
        log_line(extra - 1);
    pthread_mutex_unlock(&log_lock);
}

static void *alarm_clock(void *arg)
{
    sigset_t *set = arg;
    siginfo_t si;
    int sig;

    for (;;) {
        sig = sigwaitinfo(set, &si);
        if (sig == SIGALRM || sig == SIGRTMIN + 5) {
            pthread_mutex_lock(&clock_lock);
            tick++;
            if (sig != SIGALRM)
                chimes += si.si_value.sival_int;
            pthread_cond_broadcast(&ticked);
            pthread_mutex_unlock(&clock_lock);
        } else if (sig == SIGUSR1) {
            return NULL;
        }
    }
}

static void *sleeper(void *arg)
{
    int me = (int)(long)arg, i;

    for (i = 0; i < ROUNDS; i++) {
        unsigned long from;

        pthread_mutex_lock(&clock_lock);
        from = tick;
        while (tick == from)
            pthread_cond_wait(&ticked, &clock_lock);
        pthread_mutex_unlock(&clock_lock);
        log_line(me);
    }
    return NULL;
}

static void *quiet(void *arg)
{
    struct timespec wait = { 0, 2000000 };
    sigset_t never;
    int i;

    (void)arg;
    sigemptyset(&never);
    sigaddset(&never, SIGRTMIN + 9);            /* nobody sends this */
    for (i = 0; i < 3; i++) {
        while (sigtimedwait(&never, NULL, &wait) < 0 && errno == EINTR)
            ;
        silent += errno == EAGAIN;
    }
    return NULL;
}

int main(void)
{
    struct itimerval every = { { 0, 1500 }, { 0, 1500 } }, off;
    struct itimerspec chime = { { 0, 0 }, { 0, 4000000 } };
    pthread_t clk, s[SLEEPERS], q;
    pthread_mutexattr_t a;
    struct sigevent ev;
    timer_t timer;
    sigset_t set, all;
    long i, want = 0;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&clock_lock, &a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_NONE);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&log_lock, &a);

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 5);
    all = set;
    sigaddset(&all, SIGRTMIN + 9);
    pthread_sigmask(SIG_BLOCK, &all, NULL);

    pthread_create(&clk, NULL, alarm_clock, &set);
    pthread_create(&q, NULL, quiet, NULL);
    for (i = 0; i < SLEEPERS; i++) {
        pthread_create(&s[i], NULL, sleeper, (void *)i);
        want += ROUNDS * (i + 1);
    }
    memset(&ev, 0, sizeof ev);
    ev.sigev_notify = SIGEV_SIGNAL;
    ev.sigev_signo = SIGRTMIN + 5;
    ev.sigev_value.sival_int = 12;
    if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0)
        return 2;
    timer_settime(timer, 0, &chime, NULL);
    setitimer(ITIMER_REAL, &every, NULL);

    for (i = 0; i < SLEEPERS; i++)
        pthread_join(s[i], NULL);
    pthread_join(q, NULL);
    pthread_mutex_lock(&clock_lock);
    while (chimes == 0)
        pthread_cond_wait(&ticked, &clock_lock);
    pthread_mutex_unlock(&clock_lock);
    memset(&off, 0, sizeof off);
    setitimer(ITIMER_REAL, &off, NULL);
    timer_delete(timer);
    kill(getpid(), SIGUSR1);
    pthread_join(clk, NULL);
    printf("log %ld of %ld, chimes %ld, silent %ld\n", log_lines, want, chimes, silent);
    return log_lines == want && chimes == 12 && silent == 3 ? 0 : 1;
}
