/* Lamport's bakery lock out of sequentially consistent atomics. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define N      3
#define ROUNDS 60

static atomic_int choosing[N], number[N];
static long loaves;
static long by[N];

static void lock(int me)
{
    int max = 0;

    atomic_store(&choosing[me], 1);
    for (int i = 0; i < N; i++) {
        int n = atomic_load(&number[i]);

        if (n > max)
            max = n;
    }
    atomic_store(&number[me], max + 1);
    atomic_store(&choosing[me], 0);
    for (int i = 0; i < N; i++) {
        if (i == me)
            continue;
        while (atomic_load(&choosing[i]))
            sched_yield();
        for (;;) {
            int n = atomic_load(&number[i]), mine = atomic_load(&number[me]);

            if (n == 0 || n > mine || (n == mine && i > me))
                break;
            sched_yield();
        }
    }
}

static void unlock(int me)
{
    atomic_store(&number[me], 0);
}

static void *customer(void *arg)
{
    int me = *(int *)arg;

    for (int i = 0; i < ROUNDS; i++) {
        lock(me);
        loaves++;
        by[me]++;
        unlock(me);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    int id[N];

    for (int i = 0; i < N; i++) {
        id[i] = i;
        pthread_create(&t[i], NULL, customer, &id[i]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    printf("%ld loaves: %ld %ld %ld\n", loaves, by[0], by[1], by[2]);
    return loaves == N * ROUNDS ? 0 : 1;
}
