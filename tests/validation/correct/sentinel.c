/* One long computation (some 200 ms) under a mutex while others look in
   from time to time, and a watchdog which would bark after 30 seconds. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define POLLERS 3
#define LIMIT_S 30
#define SIEVE 300000
#define PASSES 270

static pthread_mutex_t result_lock = PTHREAD_MUTEX_INITIALIZER;
static int result, have_result;

static pthread_mutex_t dog_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t dog_cond;
static int all_done, barked;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *watchdog(void *arg)
{
    struct timespec until;
    int err = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LIMIT_S;
    pthread_mutex_lock(&dog_lock);
    while (!all_done && err != ETIMEDOUT)
        err = pthread_cond_timedwait(&dog_cond, &dog_lock, &until);
    if (!all_done) {
        barked = 1;
        fprintf(stderr, "sentinel: no end after %d s\n", LIMIT_S);
        exit(3);
    }
    pthread_mutex_unlock(&dog_lock);
    return arg;
}

static int count_primes(void)
{
    static unsigned char out[SIEVE];
    int pass, i, k, n = 0;

    for (pass = 0; pass < PASSES; pass++) {
        for (i = 0; i < SIEVE; i++)
            out[i] = 0;
        for (i = 2; i * i < SIEVE; i++)
            if (!out[i])
                for (k = i * i; k < SIEVE; k += i)
                    out[k] = 1;
        for (n = 0, i = 2; i < SIEVE; i++)
            n += !out[i];
    }
    return n;
}

static void *compute(void *arg)
{
    pthread_mutex_lock(&result_lock);
    result = count_primes();
    have_result = 1;
    pthread_mutex_unlock(&result_lock);
    return arg;
}

static void *poller(void *arg)
{
    struct timespec nap = { 0, 3000000 };
    int *got = arg, err;

    for (;;) {
        err = pthread_mutex_trylock(&result_lock);
        if (err == 0) {
            int ready = have_result;
            *got = result;
            pthread_mutex_unlock(&result_lock);
            if (ready)
                return NULL;
        } else if (err != EBUSY) {
            die("trylock");
        }
        nanosleep(&nap, NULL);
    }
}

int main(void)
{
    pthread_t dog, calc, p[POLLERS];
    pthread_condattr_t at;
    int got[POLLERS] = { 0 }, i, bad = 0;

    pthread_condattr_init(&at);
    pthread_condattr_setclock(&at, CLOCK_MONOTONIC);
    if (pthread_cond_init(&dog_cond, &at))
        die("pthread_cond_init");
    if (pthread_create(&dog, NULL, watchdog, NULL) ||
        pthread_create(&calc, NULL, compute, NULL))
        die("pthread_create");
    for (i = 0; i < POLLERS; i++)
        if (pthread_create(&p[i], NULL, poller, &got[i]))
            die("pthread_create");
    for (i = 0; i < POLLERS; i++) {
        pthread_join(p[i], NULL);
        bad += got[i] != 25997;     /* primes below 300000 */
    }
    pthread_join(calc, NULL);
    pthread_mutex_lock(&dog_lock);
    all_done = 1;
    pthread_cond_signal(&dog_cond);
    pthread_mutex_unlock(&dog_lock);
    pthread_join(dog, NULL);
    printf("primes %d, wrong %d, barked %d\n", result, bad, barked);
    return bad || barked ? 1 : 0;
}
