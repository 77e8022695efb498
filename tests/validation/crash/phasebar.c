#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NTHREADS 3
#define NPHASES 2
#define WIDTH 12

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int arrived;
    int parties;
    int phase;
};

struct grid {
    struct barrier barrier;
    int cells[2][WIDTH];
    atomic_int changed;
    int note;
};

struct worker {
    struct grid *grid;
    int first;
    int last;
};

static void barrier_wait(struct barrier *b)
{
    pthread_mutex_lock(&b->lock);
    b->arrived++;
    if (b->arrived == b->parties) {
        b->arrived = 0;
        b->phase++;
        pthread_cond_broadcast(&b->all);
    } else {
        while (b->arrived != 0)
            pthread_cond_wait(&b->all, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

static int left_of(const int *row, int i)
{
    return row[i > 0 ? i - 1 : WIDTH - 1];
}

static int right_of(const int *row, int i)
{
    return row[i < WIDTH - 1 ? i + 1 : 0];
}

static int noise(int seed)
{
    unsigned v = (unsigned)seed + 1;
    int i;
    for (i = 0; i < 100000; i++)
        v = v * 1664525u + 1013904223u;
    return (int)(v >> 31) & 1;
}

static void step(struct grid *g, int phase, int first, int last)
{
    const int *from = g->cells[phase % 2];
    int *to = g->cells[(phase + 1) % 2];
    int i, changed = noise(phase);
    for (i = first; i < last; i++) {
        to[i] = left_of(from, i) ^ (from[i] | right_of(from, i));
        changed += to[i] != from[i];
    }
    atomic_fetch_add_explicit(&g->changed, changed, memory_order_relaxed);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    int phase;
    for (phase = 0; phase < NPHASES; phase++) {
        step(w->grid, phase, w->first, w->last);
        barrier_wait(&w->grid->barrier);
        sched_yield();
    }
    return NULL;
}

int main(void)
{
    static struct grid g = { .barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NTHREADS, 0 } };
    struct worker w[NTHREADS];
    pthread_t t[NTHREADS];
    int i, alive = 0;
    g.cells[0][WIDTH / 2] = 1;
    for (i = 0; i < NTHREADS; i++) {
        w[i] = (struct worker){ &g, i * WIDTH / NTHREADS, (i + 1) * WIDTH / NTHREADS };
        pthread_create(&t[i], NULL, worker_main, &w[i]);
    }
    for (i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    for (i = 0; i < WIDTH; i++)
        alive += g.cells[NPHASES % 2][i];
    printf("%d alive after %d phases, %d changes\n", alive, g.barrier.phase, atomic_load(&g.changed));
    return g.barrier.phase != NPHASES;
}
