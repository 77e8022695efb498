/* Workers report heartbeats; a watchdog thread wakes every 30 seconds at
   most, or at once when the work is finished. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define NWORK 3
#define STEPS 200
#define PERIOD 30

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static int running = NWORK;
static unsigned long beats;
static unsigned long warnings;
static unsigned long result[NWORK];

static void *watchdog(void *arg)
{
    struct timespec until;
    int rc;

    (void)arg;
    pthread_mutex_lock(&lock);
    while (running > 0) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += PERIOD;
        rc = 0;
        while (running > 0 && rc != ETIMEDOUT)
            rc = pthread_cond_timedwait(&wake, &lock, &until);
        if (rc == ETIMEDOUT && running > 0) {
            warnings++;
            fprintf(stderr, "still running, %lu beats\n", beats);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *work(void *arg)
{
    unsigned long *r = arg, x = 1;
    int s, i;

    for (s = 0; s < STEPS; s++) {
        for (i = 0; i < 200; i++)
            x = (x * 48271) % 2147483647;
        pthread_mutex_lock(&lock);
        beats++;
        pthread_mutex_unlock(&lock);
    }
    *r = x;
    pthread_mutex_lock(&lock);
    if (--running == 0)
        pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_condattr_t ca;
    pthread_t d, w[NWORK];
    int i, same = 1;

    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &ca);
    pthread_create(&d, NULL, watchdog, NULL);
    for (i = 0; i < NWORK; i++)
        pthread_create(&w[i], NULL, work, &result[i]);
    for (i = 0; i < NWORK; i++) {
        pthread_join(w[i], NULL);
        same &= result[i] == result[0];
    }
    pthread_join(d, NULL);
    pthread_cond_destroy(&wake);
    printf("beats %lu, same %d\n", beats, same);
    return beats == NWORK * STEPS && same ? 0 : 1;
}
