/* Periodic timer delivering to a notification thread (SIGEV_THREAD). */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BEATS 4

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int beats;
static atomic_int overruns;

static void on_beat(union sigval v)
{
    int *limit = v.sival_ptr;
    pthread_mutex_lock(&m);
    if (beats < *limit) {
        beats++;
        pthread_cond_signal(&c);
    } else {
        atomic_fetch_add(&overruns, 1);
    }
    pthread_mutex_unlock(&m);
}

int main(void)
{
    static int limit = BEATS;           /* stays valid for late notifications */
    struct sigevent ev;
    struct itimerspec its;
    timer_t tm;

    memset(&ev, 0, sizeof ev);
    ev.sigev_notify = SIGEV_THREAD;
    ev.sigev_notify_function = on_beat;
    ev.sigev_value.sival_ptr = &limit;
    if (timer_create(CLOCK_MONOTONIC, &ev, &tm)) {
        perror("timer_create");
        return 2;
    }
    memset(&its, 0, sizeof its);
    its.it_value.tv_nsec = 2000000;
    its.it_interval.tv_nsec = 2000000;
    timer_settime(tm, 0, &its, NULL);
    pthread_mutex_lock(&m);
    while (beats < BEATS)
        pthread_cond_wait(&c, &m);
    int n = beats;
    pthread_mutex_unlock(&m);
    timer_delete(tm);
    printf("%d beats\n", n);
    return n == BEATS ? 0 : 1;
}
