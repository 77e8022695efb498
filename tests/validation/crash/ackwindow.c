#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define RING 16
#define NSEND 10

struct window {
    atomic_uint base;
    atomic_uint next;
    unsigned sizes[RING];
};

struct report {
    unsigned first;
    unsigned in_flight;
    unsigned long bytes;
};

struct counters {
    pthread_mutex_t lock;
    unsigned long resets;
    unsigned long reports;
};

static struct window win;
static struct counters cnt = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static void count(unsigned long *c)
{
    pthread_mutex_lock(&cnt.lock);
    (*c)++;
    pthread_mutex_unlock(&cnt.lock);
}

static void window_send(struct window *w, unsigned n)
{
    while (n-- > 0)
        atomic_fetch_add(&w->next, 1);
}

static void window_ack(struct window *w, unsigned n)
{
    atomic_fetch_add(&w->base, n);
}

static void window_reset(struct window *w)
{
    atomic_store(&w->next, 0);
    atomic_store(&w->base, 0);
    count(&cnt.resets);
}

static void take_report(struct window *w, struct report *r)
{
    r->first = atomic_load(&w->base);
    r->in_flight = atomic_load(&w->next) - r->first;
    r->bytes = 0;
}

static void sum_report(const struct window *w, struct report *r)
{
    const unsigned *p = w->sizes + r->first % RING;
    unsigned i;
    for (i = 0; i < r->in_flight; i++)
        r->bytes += p[i];
}

static void *protocol_main(void *arg)
{
    struct window *w = arg;
    int i;
    for (i = 0; i < 3; i++) {
        window_send(w, NSEND);
        window_ack(w, NSEND - 2);
        window_reset(w);
    }
    return NULL;
}

int main(void)
{
    pthread_t t;
    unsigned long bytes = 0;
    int i;
    for (i = 0; i < RING; i++)
        win.sizes[i] = 100u + (unsigned)i;
    pthread_create(&t, NULL, protocol_main, &win);
    for (i = 0; i < 6; i++) {
        struct report r;
        take_report(&win, &r);
        sum_report(&win, &r);
        bytes += r.bytes;
        count(&cnt.reports);
    }
    pthread_join(t, NULL);
    printf("%lu resets, %lu reports, %d\n", cnt.resets, cnt.reports, bytes < 100000);
    return cnt.resets == 3 && cnt.reports == 6 ? 0 : 1;
}
