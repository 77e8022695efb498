/* Bounded queue between sensor readers and an aggregator (C11 threads). */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#define CAP 3
#define PRODUCERS 2
#define PER 8

struct ringq {
    mtx_t m;
    cnd_t changed;
    int item[CAP];
    unsigned put, got;
    int open;
};

static struct ringq rq;

static int rq_put(struct ringq *q, int v)
{
    mtx_lock(&q->m);
    while (q->put - q->got == CAP)
        cnd_wait(&q->changed, &q->m);
    q->item[q->put++ % CAP] = v;
    cnd_broadcast(&q->changed);
    mtx_unlock(&q->m);
    return v;
}

static int rq_get(struct ringq *q, int *v)
{
    int ok = 0;
    mtx_lock(&q->m);
    while (q->put == q->got && q->open)
        cnd_wait(&q->changed, &q->m);
    if (q->put != q->got) {
        *v = q->item[q->got++ % CAP];
        ok = 1;
        cnd_broadcast(&q->changed);
    }
    mtx_unlock(&q->m);
    return ok;
}

static int producer(void *arg)
{
    int base = *(int *)arg;
    for (int i = 0; i < PER; i++)
        rq_put(&rq, base + i * i);
    mtx_lock(&rq.m);
    rq.open--;
    cnd_broadcast(&rq.changed);
    mtx_unlock(&rq.m);
    return 0;
}

static int aggregator(void *arg)
{
    long *sum = arg;
    int v;
    while (rq_get(&rq, &v))
        *sum += v;
    return 0;
}

int main(void)
{
    thrd_t p[PRODUCERS], a[2];
    int base[PRODUCERS] = { 1000, 5000 };
    long sum[2] = { 0, 0 };

    mtx_init(&rq.m, mtx_plain);
    cnd_init(&rq.changed);
    rq.open = PRODUCERS;
    for (int i = 0; i < 2; i++)
        thrd_create(&a[i], aggregator, &sum[i]);
    for (int i = 0; i < PRODUCERS; i++)
        thrd_create(&p[i], producer, &base[i]);
    for (int i = 0; i < PRODUCERS; i++)
        thrd_join(p[i], NULL);
    for (int i = 0; i < 2; i++)
        thrd_join(a[i], NULL);
    printf("sum %ld\n", sum[0] + sum[1]);
    return sum[0] + sum[1] != 48280;
}
