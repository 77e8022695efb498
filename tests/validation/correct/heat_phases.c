#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NTHREADS 3
#define WIDTH 24
#define STEPS 8

struct grid {
    long cells[2][WIDTH + 2];
    long partial[NTHREADS];
    long history[STEPS];
    int src;
};

struct strip {
    pthread_t tid;
    int id;
    int lo;
    int hi;
};

static struct grid grid;
static pthread_barrier_t phase;

static void relax(const long *in, long *out, int lo, int hi)
{
    int i;
    for (i = lo; i < hi; i++)
        out[i] = in[i - 1] + 2 * in[i] + in[i + 1];
    for (i = lo; i < hi; i++)
        out[i] /= 4;
}

static long strip_sum(const long *row, int lo, int hi)
{
    long sum = 0;
    int i;
    for (i = lo; i < hi; i++)
        sum += row[i];
    return sum;
}

static void finish_step(struct grid *g, int step)
{
    long total = 0;
    int i;
    for (i = 0; i < NTHREADS; i++)
        total += g->partial[i];
    g->history[step] = total;
    g->src = !g->src;
}

static void *strip_main(void *arg)
{
    struct strip *s = arg;
    int step;
    for (step = 0; step < STEPS; step++) {
        const long *in = grid.cells[grid.src];
        long *out = grid.cells[!grid.src];
        int rc;
        relax(in, out, s->lo, s->hi);
        grid.partial[s->id] = strip_sum(out, s->lo, s->hi);
        rc = pthread_barrier_wait(&phase);
        if (rc == PTHREAD_BARRIER_SERIAL_THREAD)
            finish_step(&grid, step);
        pthread_barrier_wait(&phase);
    }
    return NULL;
}

static long serial_total(void)
{
    long a[WIDTH + 2];
    long b[WIDTH + 2];
    int step;
    int i;
    memset(a, 0, sizeof a);
    for (i = 1; i <= WIDTH; i++)
        a[i] = i * 1000;
    for (step = 0; step < STEPS; step++) {
        memset(b, 0, sizeof b);
        relax(a, b, 1, WIDTH + 1);
        memcpy(a, b, sizeof a);
    }
    return strip_sum(a, 1, WIDTH + 1);
}

int main(void)
{
    struct strip s[NTHREADS];
    int per = WIDTH / NTHREADS;
    int i;
    pthread_barrier_init(&phase, NULL, NTHREADS);
    for (i = 1; i <= WIDTH; i++)
        grid.cells[0][i] = i * 1000;
    for (i = 0; i < NTHREADS; i++) {
        s[i].id = i;
        s[i].lo = 1 + i * per;
        s[i].hi = s[i].lo + per;
        pthread_create(&s[i].tid, NULL, strip_main, &s[i]);
    }
    for (i = 0; i < NTHREADS; i++)
        pthread_join(s[i].tid, NULL);
    pthread_barrier_destroy(&phase);
    printf("total %ld\n", grid.history[STEPS - 1]);
    return grid.history[STEPS - 1] == serial_total() ? 0 : 1;
}
