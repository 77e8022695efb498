/* Treiber stack with hazard pointers: nodes are freed for real while other
   threads are still popping. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NT 3
#define OPS 400
#define RETIRE (2 * NT)

struct node {
    struct node *next;
    long value;
};

struct worker {
    pthread_t tid;
    int no;
    long in, out;
    struct node *retired[RETIRE];
    int nretired;
};

static _Atomic(struct node *) top;
static _Atomic(struct node *) hazard[NT];

static void push(long v)
{
    struct node *n = malloc(sizeof *n);

    if (!n)
        abort();
    n->value = v;
    n->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &n->next, n))
        ;
}

static void scan(struct worker *w)
{
    int i, j, keep = 0;

    for (i = 0; i < w->nretired; i++) {
        int used = 0;
        for (j = 0; j < NT; j++)
            if (atomic_load(&hazard[j]) == w->retired[i])
                used = 1;
        if (used)
            w->retired[keep++] = w->retired[i];
        else
            free(w->retired[i]);
    }
    w->nretired = keep;
}

static int pop(struct worker *w, long *v)
{
    struct node *n, *next;

    for (;;) {
        n = atomic_load(&top);
        if (!n)
            return 0;
        atomic_store(&hazard[w->no], n);
        if (atomic_load(&top) != n)
            continue;
        next = n->next;
        if (atomic_compare_exchange_strong(&top, &n, next))
            break;
    }
    atomic_store(&hazard[w->no], NULL);
    *v = n->value;
    w->retired[w->nretired++] = n;
    if (w->nretired == RETIRE)
        scan(w);
    return 1;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    long v;
    int i;

    for (i = 0; i < OPS; i++) {
        push(w->no * OPS + i);
        w->in += w->no * OPS + i;
        if (i % 3 != 0 && pop(w, &v))
            w->out += v;
    }
    atomic_store(&hazard[w->no], NULL);
    return NULL;
}

int main(void)
{
    static struct worker w[NT];
    long in = 0, out = 0, v;
    int i;

    for (i = 0; i < NT; i++) {
        w[i].no = i;
        pthread_create(&w[i].tid, NULL, work, &w[i]);
    }
    for (i = 0; i < NT; i++) {
        pthread_join(w[i].tid, NULL);
        in += w[i].in;
        out += w[i].out;
    }
    while (pop(&w[0], &v))
        out += v;
    for (i = 0; i < NT; i++)
        scan(&w[i]);
    printf("in %ld, balanced %d\n", in, in == out);
    return in == out ? 0 : 1;
}
