/* Heat along a bar in strips: two arrays change roles at every barrier. */
#include <pthread.h>
#include <stdio.h>

#define CELLS   48
#define THREADS 3
#define STEPS   12

static pthread_barrier_t barrier;
static long grid[2][CELLS + 2];
static int done_steps;

static void *strip(void *arg)
{
    int me = *(int *)arg;
    int lo = 1 + me * (CELLS / THREADS), hi = lo + CELLS / THREADS;

    for (int s = 0; s < STEPS; s++) {
        long *from = grid[s % 2], *to = grid[1 - s % 2];

        for (int i = lo; i < hi; i++)
            to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            done_steps++;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    int id[THREADS];
    long sum = 0;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int b = 0; b < 2; b++)
        grid[b][0] = grid[b][CELLS + 1] = 1000000;
    for (int i = 0; i < THREADS; i++) {
        id[i] = i;
        pthread_create(&t[i], NULL, strip, &id[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (int i = 1; i <= CELLS; i++)
        sum += grid[STEPS % 2][i];
    printf("%d steps, heat %ld\n", done_steps, sum);
    return done_steps == STEPS ? 0 : 1;
}
