#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 4
#define NOPS 5
#define HEAP_MAX 64

enum op { OP_NONE, OP_INSERT, OP_REMOVE_MIN };

struct request {
    atomic_int op;
    long argument;
    long result;
};

struct heap {
    long keys[HEAP_MAX];
    int size;
};

struct combiner {
    pthread_mutex_t lock;
    struct request requests[NTHREADS];
    struct heap heap;
    int passes;
    int combined;
};

static struct combiner fc = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void heap_insert(struct heap *h, long key)
{
    int i;
    if (h->size == HEAP_MAX)
        abort();
    for (i = h->size++; i > 0 && h->keys[i - 1] < key; i--)
        h->keys[i] = h->keys[i - 1];
    h->keys[i] = key;
}

static long heap_remove_min(struct heap *h)
{
    return h->size > 0 ? h->keys[--h->size] : -1;
}

static void serve(struct combiner *c, struct request *r)
{
    int op = atomic_load_explicit(&r->op, memory_order_acquire);
    if (op == OP_NONE)
        return;
    if (op == OP_INSERT) {
        heap_insert(&c->heap, r->argument);
        r->result = 0;
    } else {
        r->result = heap_remove_min(&c->heap);
    }
    c->combined++;
    atomic_store_explicit(&r->op, OP_NONE, memory_order_release);
}

static void combine(struct combiner *c)
{
    int i;
    c->passes++;
    for (i = 0; i < NTHREADS; i++)
        serve(c, &c->requests[i]);
}

static long submit(struct combiner *c, int id, enum op op, long argument)
{
    struct request *mine = &c->requests[id];
    mine->argument = argument;
    atomic_store_explicit(&mine->op, op, memory_order_release);
    while (atomic_load_explicit(&mine->op, memory_order_acquire) != OP_NONE) {
        if (pthread_mutex_trylock(&c->lock) == 0) {
            combine(c);
            pthread_mutex_unlock(&c->lock);
        } else {
            sched_yield();
        }
    }
    return mine->result;
}

struct user {
    int id;
    long sum;
    int empty;
    pthread_t thread;
};

static void *user_main(void *arg)
{
    struct user *u = arg;
    int i;
    for (i = 0; i < NOPS; i++) {
        long key;
        submit(&fc, u->id, OP_INSERT, 100 * u->id + i);
        submit(&fc, u->id, OP_INSERT, 50 * i);
        key = submit(&fc, u->id, OP_REMOVE_MIN, 0);
        if (key < 0)
            u->empty++;
        else
            u->sum += key;
    }
    return NULL;
}

int main(void)
{
    struct user users[NTHREADS];
    long sum = 0, expected = 0;
    int i, k, empty = 0;
    for (i = 0; i < NTHREADS; i++) {
        users[i] = (struct user) { .id = i };
        pthread_create(&users[i].thread, NULL, user_main, &users[i]);
    }
    for (i = 0; i < NTHREADS; i++) {
        pthread_join(users[i].thread, NULL);
        sum += users[i].sum;
        empty += users[i].empty;
        for (k = 0; k < NOPS; k++)
            expected += 100 * i + k + 50 * k;
    }
    printf("%d left, %d operations combined\n", fc.heap.size, fc.combined);
    for (i = 0; i < fc.heap.size; i++)
        sum += fc.heap.keys[i];
    return empty != 0 || sum != expected || fc.heap.size != NTHREADS * NOPS || fc.combined != 3 * NTHREADS * NOPS;
}
