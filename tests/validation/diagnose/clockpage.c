/* Time page published by a clock thread and sampled without locks. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define NREADERS 3
#define NUPDATES 200
#define NSAMPLES 100

typedef struct {
    atomic_uint            seq;
    _Atomic uint64_t       cycle_last;
    _Atomic uint64_t       nsec_base;
    _Atomic uint64_t       mult;
} clock_page;

typedef struct { uint64_t cycle, nsec, mult; } clock_sample;

typedef struct {
    pthread_t tid;
    unsigned  retries;
    unsigned  torn;
    uint64_t  last;
} reader_t;

static clock_page page;
static atomic_int running_readers;
static pthread_mutex_t adj_lock = PTHREAD_MUTEX_INITIALIZER;
static int adjustments;

static void page_write(clock_page *p, uint64_t cycle)
{
    unsigned s = atomic_load_explicit(&p->seq, memory_order_relaxed);

    atomic_store_explicit(&p->seq, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&p->cycle_last, cycle, memory_order_relaxed);
    atomic_store_explicit(&p->nsec_base, cycle * 3, memory_order_relaxed);
    atomic_store_explicit(&p->mult, cycle % 17 + 1, memory_order_relaxed);
    atomic_store_explicit(&p->seq, s + 2, memory_order_release);
}

static unsigned page_read(clock_page *p, clock_sample *out)
{
    unsigned retries = 0;

    for (;;) {
        unsigned s1 = atomic_load_explicit(&p->seq, memory_order_acquire);
        if (!(s1 & 1)) {
            out->cycle = atomic_load_explicit(&p->cycle_last, memory_order_relaxed);
            out->nsec = atomic_load_explicit(&p->nsec_base, memory_order_relaxed);
            out->mult = atomic_load_explicit(&p->mult, memory_order_relaxed);
            atomic_thread_fence(memory_order_acquire);
            if (atomic_load_explicit(&p->seq, memory_order_relaxed) == s1)
                return retries;
        }
        retries++;
        sched_yield();
    }
}

static void *clock_main(void *arg)
{
    (void)arg;
    for (uint64_t c = 2; c <= NUPDATES; c++) {
        page_write(&page, c);
        if (c % 50 == 0) {
            pthread_mutex_lock(&adj_lock);
            adjustments++;
            pthread_mutex_unlock(&adj_lock);
        }
    }
    return NULL;
}

static void *reader_main(void *arg)
{
    reader_t *r = arg;
    clock_sample s;

    atomic_fetch_add(&running_readers, 1);
    for (int i = 0; i < NSAMPLES; i++) {
        r->retries += page_read(&page, &s);
        if (s.nsec != s.cycle * 3 || s.mult != s.cycle % 17 + 1 || s.cycle < r->last)
            r->torn++;
        r->last = s.cycle;
        if (i % 25 == 0) {
            pthread_mutex_lock(&adj_lock);
            adjustments++;
            pthread_mutex_unlock(&adj_lock);
        }
    }
    atomic_fetch_sub(&running_readers, 1);
    return NULL;
}

int main(void)
{
    reader_t r[NREADERS] = { 0 };
    pthread_t clk;
    unsigned torn = 0, retries = 0;

    page_write(&page, 1);
    for (int i = 0; i < NREADERS; i++)
        pthread_create(&r[i].tid, NULL, reader_main, &r[i]);
    pthread_create(&clk, NULL, clock_main, NULL);
    pthread_join(clk, NULL);
    for (int i = 0; i < NREADERS; i++) {
        pthread_join(r[i].tid, NULL);
        torn += r[i].torn;
        retries += r[i].retries;
    }
    printf("torn %u adjustments %d%s\n", torn, adjustments, retries ? " (retried)" : "");
    return torn || atomic_load(&running_readers) ? 1 : 0;
}
