/* A lock that spins for a while and then parks on a futex, and an event
   counter on top of it, used by a small bounded queue. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 40
#define CAP 4
#define PUT 3
#define TAKE 2
#define ITEMS 120

typedef struct { atomic_int state; } park_t;    /* 0 free, 1 held, 2 held + parked */
typedef struct { atomic_uint seq; atomic_int waiting; } event_t;

static long futex(void *addr, int op, unsigned val, const struct timespec *ts)
{
    return syscall(SYS_futex, addr, op | FUTEX_PRIVATE_FLAG, val, ts, NULL, 0);
}

static void park_lock(park_t *l)
{
    int i, c;

    for (i = 0; i < SPINS; i++) {
        c = 0;
        if (atomic_compare_exchange_weak_explicit(&l->state, &c, 1,
                memory_order_acquire, memory_order_relaxed))
            return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    while (atomic_exchange_explicit(&l->state, 2, memory_order_acquire) != 0)
        futex(&l->state, FUTEX_WAIT, 2, NULL);
}

static void park_unlock(park_t *l)
{
    if (atomic_exchange_explicit(&l->state, 0, memory_order_release) == 2)
        futex(&l->state, FUTEX_WAKE, 1, NULL);
}

/* Wait for a later event than the one in force when the lock was held. */
static void event_wait(event_t *e, park_t *l)
{
    struct timespec nap = { 0, 5000000 };
    unsigned seen;

    atomic_fetch_add(&e->waiting, 1);
    seen = atomic_load(&e->seq);
    park_unlock(l);
    while (atomic_load(&e->seq) == seen)
        futex(&e->seq, FUTEX_WAIT, seen, &nap);
    atomic_fetch_sub(&e->waiting, 1);
    park_lock(l);
}

static void event_fire(event_t *e)
{
    atomic_fetch_add(&e->seq, 1);
    if (atomic_load(&e->waiting) > 0)
        futex(&e->seq, FUTEX_WAKE, 1 << 20, NULL);
}

static park_t qlock;
static event_t not_full, not_empty;
static long ring[CAP];
static unsigned head, tail;
static int open_ends = PUT;
static long put_sum[PUT], take_sum[TAKE], taken;

static void *putter(void *arg)
{
    long me = (long)arg, i;

    for (i = 0; i < ITEMS; i++) {
        park_lock(&qlock);
        while (tail - head == CAP)
            event_wait(&not_full, &qlock);
        ring[tail++ % CAP] = me * 1000 + i;
        event_fire(&not_empty);
        park_unlock(&qlock);
        put_sum[me] += me * 1000 + i;
    }
    park_lock(&qlock);
    open_ends--;
    event_fire(&not_empty);
    park_unlock(&qlock);
    return NULL;
}

static void *taker(void *arg)
{
    long me = (long)arg;

    park_lock(&qlock);
    for (;;) {
        while (tail == head && open_ends > 0)
            event_wait(&not_empty, &qlock);
        if (tail == head)
            break;
        take_sum[me] += ring[head++ % CAP];
        taken++;
        event_fire(&not_full);
    }
    park_unlock(&qlock);
    return NULL;
}

int main(void)
{
    pthread_t p[PUT], t[TAKE];
    long i, in = 0, out = 0;

    for (i = 0; i < TAKE; i++)
        pthread_create(&t[i], NULL, taker, (void *)i);
    for (i = 0; i < PUT; i++)
        pthread_create(&p[i], NULL, putter, (void *)i);
    for (i = 0; i < PUT; i++) {
        pthread_join(p[i], NULL);
        in += put_sum[i];
    }
    for (i = 0; i < TAKE; i++) {
        pthread_join(t[i], NULL);
        out += take_sum[i];
    }
    printf("taken %ld of %d, sums %ld %ld\n", taken, PUT * ITEMS, in, out);
    return taken == PUT * ITEMS && in == out ? 0 : 1;
}
