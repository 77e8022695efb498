/* Timed waits on the monotonic clock: one that is satisfied, one that must run
 * into its time-out. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct lease {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    int             granted;
    int             waiting;
};

static struct lease good, never;

static void lease_init(struct lease *l)
{
    pthread_condattr_t a;

    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&l->changed, &a);
    pthread_condattr_destroy(&a);
}

static struct timespec deadline(long ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += ms % 1000 * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_nsec -= 1000000000;
        ts.tv_sec++;
    }
    return ts;
}

static int lease_wait(struct lease *l, long ms)
{
    struct timespec ts = deadline(ms);
    int rc = 0, granted;

    pthread_mutex_lock(&l->lock);
    l->waiting++;
    while (!l->granted && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&l->changed, &l->lock, &ts);
    granted = l->granted;
    l->waiting--;
    pthread_mutex_unlock(&l->lock);
    return granted;
}

static void *granter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&never.lock);
    pthread_cond_broadcast(&never.changed);     /* nothing changed: they wait on */
    pthread_mutex_unlock(&never.lock);
    pthread_mutex_lock(&good.lock);
    good.granted = 1;
    pthread_cond_broadcast(&good.changed);
    pthread_mutex_unlock(&good.lock);
    return NULL;
}

static void *waiter(void *arg)
{
    int *r = arg;

    r[0] = lease_wait(&good, 60000);
    r[1] = lease_wait(&never, 15);
    return NULL;
}

int main(void)
{
    pthread_t w[2], g;
    int r[2][2];

    lease_init(&good);
    lease_init(&never);
    for (int i = 0; i < 2; i++)
        pthread_create(&w[i], NULL, waiter, r[i]);
    pthread_create(&g, NULL, granter, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    pthread_join(g, NULL);
    printf("granted %d %d, timed out %d %d\n", r[0][0], r[1][0], !r[0][1], !r[1][1]);
    return r[0][0] && r[1][0] && !r[0][1] && !r[1][1] ? 0 : 1;
}
