/* Event loop on one edge-triggered epoll: a signalfd with queued signals, a
   periodic timerfd and a semaphore eventfd.  Producers hand jobs over by
   eventfd and report progress by real-time signals; the last one asks the
   loop to stop with SIGTERM. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define PRODUCERS 3
#define JOBS 6
#define MIN_TICKS 3

struct loop {
    int ep, sig, tick, ev;
    int stop_asked;
    long progress, progress_sum, jobs, job_sum;
    uint64_t ticks;
};

static struct loop lp;
static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static int job_queue[PRODUCERS * JOBS];
static int job_head, job_tail;
static atomic_int producers_left = PRODUCERS;

static void *producer(void *arg)
{
    int base = (int)(long)arg * 100, i;

    for (i = 1; i <= JOBS; i++) {
        uint64_t one = 1;
        union sigval v;

        pthread_mutex_lock(&jobs_lock);
        job_queue[job_tail++] = base + i;
        pthread_mutex_unlock(&jobs_lock);
        while (write(lp.ev, &one, sizeof one) < 0)
            sched_yield();
        memset(&v, 0, sizeof v);
        v.sival_int = i;
        while (sigqueue(getpid(), SIGRTMIN + 3, v) != 0)
            sched_yield();              /* EAGAIN: queue of signals full */
    }
    if (atomic_fetch_sub(&producers_left, 1) == 1)
        kill(getpid(), SIGTERM);
    return NULL;
}

static void on_signals(void)
{
    struct signalfd_siginfo si;

    while (read(lp.sig, &si, sizeof si) == (ssize_t)sizeof si) {
        if (si.ssi_signo == (uint32_t)SIGTERM) {
            lp.stop_asked = 1;
        } else {
            lp.progress++;
            lp.progress_sum += si.ssi_int;
        }
    }
}

static void on_jobs(void)
{
    uint64_t one;

    while (read(lp.ev, &one, sizeof one) == (ssize_t)sizeof one) {
        pthread_mutex_lock(&jobs_lock);
        lp.job_sum += job_queue[job_head++];
        pthread_mutex_unlock(&jobs_lock);
        lp.jobs++;
    }
}

static void on_tick(void)
{
    uint64_t n;

    while (read(lp.tick, &n, sizeof n) == (ssize_t)sizeof n)
        lp.ticks += n;
}

static void add_fd(int fd)
{
    struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.fd = fd };

    epoll_ctl(lp.ep, EPOLL_CTL_ADD, fd, &e);
}

static int finished(void)
{
    return lp.stop_asked && lp.progress == PRODUCERS * JOBS &&
           lp.jobs == PRODUCERS * JOBS && lp.ticks >= MIN_TICKS;
}

int main(void)
{
    struct itimerspec every = { { 0, 2000000 }, { 0, 2000000 } };
    pthread_t th[PRODUCERS];
    sigset_t set;
    long i, want_jobs = 0, want_progress = PRODUCERS * JOBS * (JOBS + 1) / 2;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    lp.ep = epoll_create1(EPOLL_CLOEXEC);
    lp.sig = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    lp.tick = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    lp.ev = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE | EFD_CLOEXEC);
    if (lp.ep < 0 || lp.sig < 0 || lp.tick < 0 || lp.ev < 0)
        return 2;
    add_fd(lp.sig);
    add_fd(lp.tick);
    add_fd(lp.ev);
    timerfd_settime(lp.tick, 0, &every, NULL);
    for (i = 0; i < PRODUCERS; i++)
        pthread_create(&th[i], NULL, producer, (void *)i);
    while (!finished()) {
        struct epoll_event got[4];
        int k, n = epoll_wait(lp.ep, got, 4, -1);

        if (n < 0 && errno != EINTR)
            return 3;
        for (k = 0; k < n; k++) {
            if (got[k].data.fd == lp.sig)
                on_signals();
            else if (got[k].data.fd == lp.ev)
                on_jobs();
            else
                on_tick();
        }
    }
    for (i = 0; i < PRODUCERS; i++) {
        pthread_join(th[i], NULL);
        want_jobs += i * 100 * JOBS + JOBS * (JOBS + 1) / 2;
    }
    printf("jobs %ld/%ld progress %ld/%ld\n", lp.job_sum, want_jobs,
           lp.progress_sum, want_progress);
    return lp.job_sum == want_jobs && lp.progress_sum == want_progress ? 0 : 1;
}
