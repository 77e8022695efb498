/* Bounded queue of Vyukov: every cell has a sequence number. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define SIZE  8
#define PAIRS 2
#define ITEMS 50

struct cell {
    atomic_uint seq;
    int         data;
};

static struct cell ring[SIZE];
static atomic_uint head, tail;

static int push(int v)
{
    unsigned pos = atomic_load_explicit(&tail, memory_order_relaxed);

    for (;;) {
        struct cell *c = &ring[pos % SIZE];
        unsigned seq = atomic_load_explicit(&c->seq, memory_order_acquire);
        int d = (int)(seq - pos);

        if (d == 0) {
            if (atomic_compare_exchange_weak_explicit(&tail, &pos, pos + 1, memory_order_relaxed,
                                                      memory_order_relaxed)) {
                c->data = v;
                atomic_store_explicit(&c->seq, pos + 1, memory_order_release);
                return 1;
            }
        } else if (d < 0) {
            return 0;
        } else {
            pos = atomic_load_explicit(&tail, memory_order_relaxed);
        }
    }
}

static int pop(int *v)
{
    unsigned pos = atomic_load_explicit(&head, memory_order_relaxed);

    for (;;) {
        struct cell *c = &ring[pos % SIZE];
        unsigned seq = atomic_load_explicit(&c->seq, memory_order_acquire);
        int d = (int)(seq - (pos + 1));

        if (d == 0) {
            if (atomic_compare_exchange_weak_explicit(&head, &pos, pos + 1, memory_order_relaxed,
                                                      memory_order_relaxed)) {
                *v = c->data;
                atomic_store_explicit(&c->seq, pos + SIZE, memory_order_release);
                return 1;
            }
        } else if (d < 0) {
            return 0;
        } else {
            pos = atomic_load_explicit(&head, memory_order_relaxed);
        }
    }
}

static void *producer(void *arg)
{
    int first = *(int *)arg;

    for (int i = 0; i < ITEMS; i++)
        while (!push(first + i))
            sched_yield();
    return NULL;
}

static void *consumer(void *arg)
{
    long *sum = arg;
    int v;

    for (int i = 0; i < ITEMS; i++) {
        while (!pop(&v))
            sched_yield();
        *sum += v;
    }
    return NULL;
}

int main(void)
{
    pthread_t p[PAIRS], c[PAIRS];
    int first[PAIRS];
    long sum[PAIRS] = { 0 }, total = 0;

    for (unsigned i = 0; i < SIZE; i++)
        atomic_init(&ring[i].seq, i);
    for (int i = 0; i < PAIRS; i++) {
        first[i] = 1000 * i;
        pthread_create(&c[i], NULL, consumer, &sum[i]);
        pthread_create(&p[i], NULL, producer, &first[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_join(p[i], NULL);
        pthread_join(c[i], NULL);
        total += sum[i];
    }
    printf("%d items, total %ld\n", PAIRS * ITEMS, total);
    return total == 52450 ? 0 : 1;
}
