/* A ring buffer between one producer and one consumer, without locks. Each side
 * owns one index and reads the other's; a slot belongs to the side that the
 * indices say. Two rings make a pipeline of three stages. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define SLOTS 16 /* a power of two */
#define BLOCKS 200

struct block {
    int number; /* -1 ends the stream */
    uint32_t sum;
    unsigned char data[24];
};

struct ring {
    struct block slot[SLOTS];
    _Alignas(64) _Atomic unsigned head; /* next slot to read, the consumer's */
    _Alignas(64) _Atomic unsigned tail; /* next slot to write, the producer's */
};

struct pipeline {
    struct ring raw;
    struct ring summed;
};

static void ring_put(struct ring *r, const struct block *b)
{
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    /* pairs with the release in ring_get: the slot has been read */
    while (tail - atomic_load_explicit(&r->head, memory_order_acquire) == SLOTS)
        sched_yield();
    r->slot[tail % SLOTS] = *b;
    /* the block is in place before the consumer sees the new tail */
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
}

static void ring_get(struct ring *r, struct block *b)
{
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);

    /* pairs with the release in ring_put: the block is complete */
    while (atomic_load_explicit(&r->tail, memory_order_acquire) == head)
        sched_yield();
    *b = r->slot[head % SLOTS];
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

static void *reader_main(void *arg)
{
    struct pipeline *p = arg;
    struct block b = {.sum = 0};

    for (int i = 0; i < BLOCKS; i++) {
        b.number = i;
        for (size_t k = 0; k < sizeof b.data; k++)
            b.data[k] = (unsigned char)(i * 13 + (int)k * 5);
        if (i % 64 == 0) PAUSE(3);
        ring_put(&p->raw, &b);
    }
    b.number = -1;
    ring_put(&p->raw, &b);
    return NULL;
}

static void *summer_main(void *arg)
{
    struct pipeline *p = arg;
    struct block b;

    for (;;) {
        ring_get(&p->raw, &b);
        if (b.number < 0)
            break;
        b.sum = 1;
        for (size_t k = 0; k < sizeof b.data; k++)
            b.sum = b.sum * 31 + b.data[k];
        if (b.number == BLOCKS / 2) PAUSE(10);
        ring_put(&p->summed, &b);
    }
    ring_put(&p->summed, &b);
    return NULL;
}

int main(void)
{
    static struct pipeline pipeline;
    pthread_t reader, summer;
    struct block b;
    uint32_t total = 0;
    int blocks = 0, out_of_order = 0;

    if (pthread_create(&reader, NULL, reader_main, &pipeline) != 0 ||
        pthread_create(&summer, NULL, summer_main, &pipeline) != 0)
        return 2;
    for (;;) {
        ring_get(&pipeline.summed, &b);
        if (b.number < 0)
            break;
        out_of_order += b.number != blocks;
        blocks++;
        total = total * 3 + b.sum;
    }
    pthread_join(reader, NULL);
    pthread_join(summer, NULL);
    printf("%d blocks, %d out of order, total %08x\n", blocks, out_of_order, (unsigned)total);
    return out_of_order == 0 && blocks == BLOCKS ? 0 : 1;
}
