#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NREADERS 3
#define NREADS 30
#define NUPDATES 12

struct clock_page {
    atomic_uint seq;
    _Atomic long base;
    _Atomic long mult;
    _Atomic long shift;
};

struct reading {
    long base;
    long mult;
    long shift;
};

struct reader {
    pthread_t tid;
    int bad;
    long last;
};

static struct clock_page page;

static void page_update(struct clock_page *p, long n)
{
    unsigned s = atomic_load_explicit(&p->seq, memory_order_relaxed);
    atomic_store_explicit(&p->seq, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&p->base, n, memory_order_relaxed);
    atomic_store_explicit(&p->mult, n * 2, memory_order_relaxed);
    atomic_store_explicit(&p->shift, n * 3, memory_order_relaxed);
    atomic_store_explicit(&p->seq, s + 2, memory_order_release);
}

static int page_try_read(struct clock_page *p, struct reading *r)
{
    unsigned before;
    unsigned after;
    before = atomic_load_explicit(&p->seq, memory_order_acquire);
    if (before & 1)
        return 0;
    r->base = atomic_load_explicit(&p->base, memory_order_relaxed);
    r->mult = atomic_load_explicit(&p->mult, memory_order_relaxed);
    r->shift = atomic_load_explicit(&p->shift, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    after = atomic_load_explicit(&p->seq, memory_order_relaxed);
    return before == after;
}

static void page_read(struct clock_page *p, struct reading *r)
{
    while (!page_try_read(p, r))
        sched_yield();
}

static int consistent(const struct reading *r)
{
    if (r->mult != r->base * 2)
        return 0;
    return r->shift == r->base * 3;
}

static void *reader_main(void *arg)
{
    struct reader *self = arg;
    struct reading r;
    int i;
    for (i = 0; i < NREADS; i++) {
        page_read(&page, &r);
        if (!consistent(&r))
            self->bad++;
        if (r.base < self->last)
            self->bad++;
        self->last = r.base;
    }
    return NULL;
}

static void *ticker_main(void *arg)
{
    long i;
    (void)arg;
    for (i = 1; i <= NUPDATES; i++)
        page_update(&page, i * 100);
    return NULL;
}

int main(void)
{
    struct reader r[NREADERS];
    struct reading fin;
    pthread_t ticker;
    int bad = 0;
    int i;
    for (i = 0; i < NREADERS; i++) {
        r[i].bad = 0;
        r[i].last = 0;
        pthread_create(&r[i].tid, NULL, reader_main, &r[i]);
    }
    pthread_create(&ticker, NULL, ticker_main, NULL);
    for (i = 0; i < NREADERS; i++) {
        pthread_join(r[i].tid, NULL);
        bad += r[i].bad;
    }
    pthread_join(ticker, NULL);
    page_read(&page, &fin);
    printf("clock %ld, %d bad\n", fin.base, bad);
    return bad == 0 && fin.base == NUPDATES * 100 ? 0 : 1;
}
