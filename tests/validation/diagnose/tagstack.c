/* Heaps of threads that have ended are kept on a stack without locks, for
 * threads to come; its head counts how often it was changed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define NHEAPS   6
#define NTHREADS 4
#define NROUNDS  5
#define NONE     0xffffffffu

struct heap {
    _Atomic(uint32_t) next;
    int               owner;        /* 0: on the stack */
    long              allocs;
    long              frees;
};

struct job {
    int       id;
    int       shared;
    long      allocs;
    long      empty;
    pthread_t thread;
};

static struct heap heaps[NHEAPS];
static _Atomic(uint64_t) orphans = NONE;    /* change count, index of the top */
static atomic_long adopted, retries;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static long reported;

static uint64_t head_of(uint64_t old, uint32_t index)
{
    return ((old >> 32) + 1) << 32 | index;
}

static void heap_orphan(uint32_t index)
{
    uint64_t old = atomic_load_explicit(&orphans, memory_order_relaxed);

    do {
        atomic_store_explicit(&heaps[index].next, (uint32_t)old, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&orphans, &old, head_of(old, index),
                                                    memory_order_release, memory_order_relaxed));
}

static uint32_t heap_adopt(void)
{
    uint64_t old = atomic_load_explicit(&orphans, memory_order_acquire);

    for (;;) {
        uint32_t index = (uint32_t)old, next;

        if (index == NONE)
            return NONE;
        next = atomic_load_explicit(&heaps[index].next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&orphans, &old, head_of(old, next),
                                                  memory_order_acquire, memory_order_acquire)) {
            atomic_fetch_add_explicit(&adopted, 1, memory_order_relaxed);
            return index;
        }
        atomic_fetch_add_explicit(&retries, 1, memory_order_relaxed);
    }
}

static void heap_use(struct job *j, uint32_t index)
{
    struct heap *h = &heaps[index];

    if (h->owner != 0)
        j->shared++;
    h->owner = j->id;
    for (int i = 0; i < 3; i++) {
        h->allocs++;
        h->frees++;
        j->allocs++;
    }
    if (h->owner != j->id || h->allocs != h->frees)
        j->shared++;
    h->owner = 0;
}

static void *thread_main(void *arg)
{
    struct job *j = arg;

    for (int i = 0; i < NROUNDS; i++) {
        uint32_t a = heap_adopt(), b = heap_adopt();

        if (a != NONE) {
            heap_use(j, a);
            heap_orphan(a);
        } else {
            j->empty++;
        }
        if (b != NONE) {
            heap_use(j, b);
            heap_orphan(b);
        } else {
            j->empty++;
        }
    }
    pthread_mutex_lock(&report_lock);
    reported += j->allocs;
    pthread_mutex_unlock(&report_lock);
    return NULL;
}

int main(void)
{
    struct job j[NTHREADS];
    long allocs = 0;
    int shared = 0, count = 0;

    for (uint32_t i = 0; i < NHEAPS; i++)
        heap_orphan(i);
    for (int i = 0; i < NTHREADS; i++) {
        j[i] = (struct job){ .id = i + 1 };
        pthread_create(&j[i].thread, NULL, thread_main, &j[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(j[i].thread, NULL);
        shared += j[i].shared;
    }
    for (int i = 0; i < NHEAPS; i++)
        allocs += heaps[i].allocs;
    while (heap_adopt() != NONE && count < 2 * NHEAPS)
        count++;
    printf("%d heaps, %ld allocations, %ld adopted, %ld retries\n", count, allocs,
           atomic_load(&adopted), atomic_load(&retries));
    return count == NHEAPS && !shared && allocs == reported ? 0 : 1;
}
