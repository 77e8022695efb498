/* Fork-join sum of squares on work-stealing deques (Chase and Lev).  Idle
   workers spin, then nap; the count of unfinished tasks ends the run. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define WORKERS 3
#define CAP 64
#define ITEMS 2000
#define GRAIN 50

struct deque {
    atomic_long top, bottom;
    _Atomic uint64_t slot[CAP];
};

static struct deque dq[WORKERS];
static atomic_long unfinished;
static unsigned square[ITEMS];
static long runs[WORKERS], steals[WORKERS];

static int push(struct deque *d, uint64_t task)
{
    long b = atomic_load(&d->bottom);

    if (b - atomic_load(&d->top) >= CAP - 1)
        return 0;
    atomic_store(&d->slot[b % CAP], task);
    atomic_store(&d->bottom, b + 1);
    return 1;
}

static int pop(struct deque *d, uint64_t *task)
{
    long b = atomic_load(&d->bottom) - 1, t;
    int got;

    atomic_store(&d->bottom, b);
    t = atomic_load(&d->top);
    if (t > b) {
        atomic_store(&d->bottom, b + 1);
        return 0;
    }
    *task = atomic_load(&d->slot[b % CAP]);
    if (t < b)
        return 1;
    got = atomic_compare_exchange_strong(&d->top, &t, t + 1);
    atomic_store(&d->bottom, b + 1);
    return got;
}

static int steal(struct deque *d, uint64_t *task)
{
    long t = atomic_load(&d->top), b = atomic_load(&d->bottom);

    if (t >= b)
        return 0;
    *task = atomic_load(&d->slot[t % CAP]);
    return atomic_compare_exchange_strong(&d->top, &t, t + 1);
}

static void run_task(int me, uint64_t task)
{
    unsigned lo = (unsigned)(task >> 32), hi = (unsigned)task, mid;

    while (hi - lo > GRAIN) {
        mid = lo + (hi - lo) / 2;
        atomic_fetch_add(&unfinished, 1);
        if (!push(&dq[me], (uint64_t)mid << 32 | hi)) {
            run_task(me, (uint64_t)mid << 32 | hi);
        }
        hi = mid;
    }
    for (; lo < hi; lo++)
        square[lo] += lo * lo;
    runs[me]++;
    atomic_fetch_sub(&unfinished, 1);
}

static void *worker(void *arg)
{
    int me = (int)(long)arg, idle = 0, i;
    uint64_t task;

    while (atomic_load(&unfinished) > 0) {
        int got = pop(&dq[me], &task);

        for (i = 1; !got && i < WORKERS; i++) {
            got = steal(&dq[(me + i) % WORKERS], &task);
            steals[me] += got;
        }
        if (got) {
            run_task(me, task);
            idle = 0;
        } else if (++idle < 20) {
            sched_yield();
        } else {
            struct timespec nap = { 0, 100000 };
            nanosleep(&nap, NULL);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t th[WORKERS];
    unsigned long sum = 0, want = 0;
    long i, total = 0, stolen = 0;

    atomic_store(&unfinished, 1);
    push(&dq[0], (uint64_t)0 << 32 | ITEMS);
    for (i = 0; i < WORKERS; i++)
        pthread_create(&th[i], NULL, worker, (void *)i);
    for (i = 0; i < WORKERS; i++) {
        pthread_join(th[i], NULL);
        total += runs[i];
        stolen += steals[i];
    }
    for (i = 0; i < ITEMS; i++) {
        sum += square[i];
        want += (unsigned long)i * (unsigned long)i;
    }
    printf("%ld tasks (%ld stolen), sum %lu\n", total, stolen, sum);
    return sum == want && total == 64 ? 0 : 1;
}
