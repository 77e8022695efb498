/* A watchdog guards a long computation: it would abort the program after
 * 30 seconds without a report; two more threads wait for the result. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
static int done;
static unsigned long answer;

static void *dog(void *arg)
{
    struct timespec limit;
    int rc = 0;
    (void)arg;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 30;
    pthread_mutex_lock(&mx);
    while (!done && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&cv, &mx, &limit);
    if (!done) {
        fputs("watchdog: no result\n", stderr);
        abort();
    }
    pthread_mutex_unlock(&mx);
    return NULL;
}

static void *compute(void *arg)
{
    unsigned long x = 88172645463325252ul, acc = 0;
    (void)arg;
    for (long i = 0; i < 6000000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        acc += x & 0xff;
    }
    pthread_mutex_lock(&mx);
    answer = acc;
    done = 1;
    pthread_cond_broadcast(&cv);
    pthread_mutex_unlock(&mx);
    return NULL;
}

static void *reader(void *arg)
{
    unsigned long *out = arg;
    pthread_mutex_lock(&mx);
    while (!done)
        pthread_cond_wait(&cv, &mx);
    *out = answer;
    pthread_mutex_unlock(&mx);
    return NULL;
}

int main(void)
{
    pthread_t d, w, r[2];
    unsigned long out[2] = { 0, 0 };

    pthread_create(&d, NULL, dog, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&r[i], NULL, reader, &out[i]);
    pthread_create(&w, NULL, compute, NULL);
    pthread_join(w, NULL);
    pthread_join(d, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(r[i], NULL);
    printf("answer %lu\n", out[0]);
    return out[0] == out[1] ? 0 : 1;
}
