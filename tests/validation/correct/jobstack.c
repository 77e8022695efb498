/* Treiber stack with nodes from an arena; nodes are never recycled, so a
 * compare-and-swap cannot be fooled by an address that comes back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PUSHERS 2
#define POPPERS 2
#define EACH 500

struct node {
    struct node *next;
    int value;
};

struct arena {
    pthread_mutex_t lock;
    unsigned char *base;
    size_t used, size;
};

static struct arena ar = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Atomic(struct node *) top;
static atomic_int remaining = PUSHERS * EACH;

static void *arena_alloc(struct arena *a, size_t n)
{
    void *p = NULL;
    n = (n + 15) & ~(size_t)15;
    pthread_mutex_lock(&a->lock);
    if (a->used + n <= a->size) {
        p = a->base + a->used;
        a->used += n;
    }
    pthread_mutex_unlock(&a->lock);
    return p;
}

static void push(struct node *n)
{
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        n->next = old;
    while (!atomic_compare_exchange_weak_explicit(&top, &old, n,
               memory_order_release, memory_order_relaxed));
}

static struct node *pop(void)
{
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old && !atomic_compare_exchange_weak_explicit(&top, &old, old->next,
                      memory_order_acquire, memory_order_acquire))
        ;
    return old;
}

static void *pusher(void *arg)
{
    int first = *(int *)arg;
    for (int i = 0; i < EACH; i++) {
        struct node *n = arena_alloc(&ar, sizeof *n);
        if (!n)
            abort();
        n->value = first + i;
        push(n);
    }
    return NULL;
}

static void *popper(void *arg)
{
    long *sum = arg;
    while (atomic_load_explicit(&remaining, memory_order_relaxed) > 0) {
        struct node *n = pop();
        if (n) {
            *sum += n->value;
            atomic_fetch_sub_explicit(&remaining, 1, memory_order_relaxed);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t a[PUSHERS], b[POPPERS];
    int first[PUSHERS] = { 0, 10000 };
    long sum[POPPERS] = { 0, 0 };

    ar.size = 64 * 1024;
    ar.base = malloc(ar.size);
    for (int i = 0; i < POPPERS; i++)
        pthread_create(&b[i], NULL, popper, &sum[i]);
    for (int i = 0; i < PUSHERS; i++)
        pthread_create(&a[i], NULL, pusher, &first[i]);
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(a[i], NULL);
    for (int i = 0; i < POPPERS; i++)
        pthread_join(b[i], NULL);
    free(ar.base);
    printf("sum %ld\n", sum[0] + sum[1]);
    return sum[0] + sum[1] != 5249500;
}
