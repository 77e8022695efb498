/* Three kinds of timers: SIGEV_THREAD one-shots, a SIGEV_THREAD timer that
   its own callback arms again, and a periodic timerfd read by a thread. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SHOTS 4
#define BEATS 8
#define TICKS 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int shot[SHOTS], shots, beats;
static timer_t beat_timer;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void arm(timer_t t, long us)
{
    struct itimerspec its;

    memset(&its, 0, sizeof its);
    its.it_value.tv_nsec = us * 1000;
    if (timer_settime(t, 0, &its, NULL) != 0)
        die("timer_settime");
}

static void on_shot(union sigval v)
{
    pthread_mutex_lock(&lock);
    shot[v.sival_int]++;
    shots++;
    pthread_cond_signal(&moved);
    pthread_mutex_unlock(&lock);
}

static void on_beat(union sigval v)
{
    (void)v;
    pthread_mutex_lock(&lock);
    /* Armed again under the lock, so that main cannot delete it meanwhile. */
    if (++beats < BEATS)
        arm(beat_timer, 1500);
    pthread_cond_signal(&moved);
    pthread_mutex_unlock(&lock);
}

static timer_t make(void (*fn)(union sigval), int value)
{
    struct sigevent ev;
    timer_t t;

    memset(&ev, 0, sizeof ev);
    ev.sigev_notify = SIGEV_THREAD;
    ev.sigev_notify_function = fn;
    ev.sigev_value.sival_int = value;
    if (timer_create(CLOCK_MONOTONIC, &ev, &t) != 0)
        die("timer_create");
    return t;
}

static void *ticker(void *arg)
{
    struct itimerspec its;
    uint64_t *total = arg, n;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

    if (fd < 0)
        die("timerfd_create");
    memset(&its, 0, sizeof its);
    its.it_value.tv_nsec = its.it_interval.tv_nsec = 2000000;
    if (timerfd_settime(fd, 0, &its, NULL) != 0)
        die("timerfd_settime");
    while (*total < TICKS) {
        ssize_t r = read(fd, &n, sizeof n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r != (ssize_t)sizeof n || n == 0)
            die("timerfd");
        *total += n;            /* more than one when we were late */
    }
    close(fd);
    return NULL;
}

int main(void)
{
    timer_t t[SHOTS];
    uint64_t total = 0;
    pthread_t th;
    int i, bad = 0;

    if (pthread_create(&th, NULL, ticker, &total))
        die("pthread_create");
    for (i = 0; i < SHOTS; i++) {
        t[i] = make(on_shot, i);
        arm(t[i], 1000 + 2000 * i);
    }
    pthread_mutex_lock(&lock);
    beat_timer = make(on_beat, 0);
    arm(beat_timer, 1500);
    while (shots < SHOTS || beats < BEATS)
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);

    pthread_join(th, NULL);
    timer_delete(beat_timer);
    for (i = 0; i < SHOTS; i++)
        timer_delete(t[i]);
    pthread_mutex_lock(&lock);
    for (i = 0; i < SHOTS; i++)
        bad += shot[i] != 1;
    bad += beats != BEATS || shots != SHOTS || total < TICKS;
    printf("shots %d, beats %d, ticks %s\n", shots, beats,
           total >= TICKS ? "enough" : "too few");
    pthread_mutex_unlock(&lock);
    return bad ? 1 : 0;
}
