/* Two threads, each computing on its own half of the memory for a long
   time with no synchronisation at all until they end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096
#define STEPS 8000

struct half {
    unsigned *cur, *old;
    unsigned seed;
    unsigned long energy;
};

static void *simulate(void *arg)
{
    struct half *h = arg;
    int s, i;

    for (i = 0; i < N; i++)
        h->cur[i] = h->old[i] = (h->seed * (unsigned)i) & 0xffff;
    for (s = 0; s < STEPS; s++) {
        unsigned *tmp;
        for (i = 1; i < N - 1; i++)
            h->old[i] = (h->cur[i - 1] + h->cur[i + 1] + h->old[i]) & 0xffff;
        tmp = h->cur;
        h->cur = h->old;
        h->old = tmp;
    }
    for (i = 0; i < N; i++)
        h->energy += h->cur[i];
    return NULL;
}

int main(void)
{
    unsigned *mem = malloc(4 * N * sizeof *mem);
    struct half h[2];
    pthread_t t[2];
    int i;

    if (!mem)
        return 2;
    for (i = 0; i < 2; i++) {
        h[i].cur = mem + 2 * N * i;
        h[i].old = mem + 2 * N * i + N;
        h[i].seed = 40503;
        h[i].energy = 0;
        pthread_create(&t[i], NULL, simulate, &h[i]);
    }
    for (i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("energy %s\n", h[0].energy == h[1].energy ? "equal" : "DIFFERENT");
    free(mem);
    return h[0].energy == h[1].energy ? 0 : 1;
}
