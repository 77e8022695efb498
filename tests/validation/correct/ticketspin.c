/* A ticket spin lock that yields, and a sense-reversing spin barrier made
   of atomics: four threads relax a small grid in phases. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NT 4
#define CELLS 32
#define PHASES 12

struct ticket_lock {
    atomic_uint next, owner;
};

static struct ticket_lock lk;
static atomic_int waiting;
static atomic_int sense;
static long grid[2][CELLS];
static long trace;
static int trace_n;

static void tl_lock(struct ticket_lock *l)
{
    unsigned me = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);

    while (atomic_load_explicit(&l->owner, memory_order_acquire) != me)
        sched_yield();
}

static void tl_unlock(struct ticket_lock *l)
{
    unsigned me = atomic_load_explicit(&l->owner, memory_order_relaxed);

    atomic_store_explicit(&l->owner, me + 1, memory_order_release);
}

static void barrier(int *local)
{
    *local = !*local;
    if (atomic_fetch_add(&waiting, 1) == NT - 1) {
        atomic_store(&waiting, 0);
        atomic_store(&sense, *local);
    } else {
        while (atomic_load(&sense) != *local)
            sched_yield();
    }
}

static void *relax(void *arg)
{
    int no = *(int *)arg, local = 0, p, i;
    int lo = no * CELLS / NT, hi = (no + 1) * CELLS / NT;

    for (p = 0; p < PHASES; p++) {
        long *src = grid[p & 1], *dst = grid[!(p & 1)], part = 0;
        for (i = lo; i < hi; i++) {
            dst[i] = src[(i + CELLS - 1) % CELLS] + src[(i + 1) % CELLS];
            dst[i] %= 10007;
            part += dst[i];
        }
        tl_lock(&lk);
        trace += part * (p + 1);
        trace_n++;
        tl_unlock(&lk);
        barrier(&local);
    }
    return NULL;
}

static long reference(void)
{
    long g[2][CELLS], t = 0;
    int p, i;

    for (i = 0; i < CELLS; i++)
        g[0][i] = i * i;
    for (p = 0; p < PHASES; p++)
        for (i = 0; i < CELLS; i++) {
            g[!(p & 1)][i] = (g[p & 1][(i + CELLS - 1) % CELLS] + g[p & 1][(i + 1) % CELLS]) % 10007;
            t += g[!(p & 1)][i] * (p + 1);
        }
    return t;
}

int main(void)
{
    pthread_t t[NT];
    int no[NT], i;

    for (i = 0; i < CELLS; i++)
        grid[0][i] = i * i;
    for (i = 0; i < NT; i++) {
        no[i] = i;
        pthread_create(&t[i], NULL, relax, &no[i]);
    }
    for (i = 0; i < NT; i++)
        pthread_join(t[i], NULL);
    printf("entries %d, trace %s\n", trace_n, trace == reference() ? "equal" : "DIFFERENT");
    return trace_n == NT * PHASES && trace == reference() ? 0 : 1;
}
