/* Table in memory: one thread inserts into a skip list, others read it at the
 * same time without a lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXHEIGHT 4
#define NKEYS     24
#define NREADERS  3
#define NSCANS    4

struct node {
    int                    key;
    long                   value;
    _Atomic(struct node *) next[MAXHEIGHT];
};

struct list {
    struct node  head;
    atomic_int   height;
    unsigned     seed;              /* of the writer */
    struct node *arena;
    int          used;
};

struct reader {
    int       id;
    int       wrong;
    long      seen;
    pthread_t thread;
};

static struct list list;
static atomic_int inserted;
static atomic_long lookups;

static long value_of(int key)
{
    return key * 3L + 1;
}

static int random_height(struct list *l)
{
    int h = 1;

    l->seed = l->seed * 1103515245u + 12345u;
    while (h < MAXHEIGHT && (l->seed >> (16 + h)) & 1)
        h++;
    return h;
}

/* The last node before the key on each level; may start at any height. */
static struct node *find(struct list *l, int key, struct node **prev)
{
    struct node *x = &l->head, *next = NULL;

    for (int level = atomic_load_explicit(&l->height, memory_order_relaxed) - 1; level >= 0; level--) {
        next = atomic_load_explicit(&x->next[level], memory_order_acquire);
        while (next && next->key < key) {
            x = next;
            next = atomic_load_explicit(&x->next[level], memory_order_acquire);
        }
        if (prev)
            prev[level] = x;
    }
    return next;
}

static void insert(struct list *l, int key)
{
    struct node *prev[MAXHEIGHT], *n = &l->arena[l->used++];
    int height = random_height(l);

    find(l, key, prev);
    for (int level = atomic_load_explicit(&l->height, memory_order_relaxed); level < height; level++)
        prev[level] = &l->head;
    if (height > atomic_load_explicit(&l->height, memory_order_relaxed))
        atomic_store_explicit(&l->height, height, memory_order_relaxed);
    n->key = key;
    n->value = value_of(key);
    for (int level = 0; level < height; level++) {
        struct node *next = atomic_load_explicit(&prev[level]->next[level], memory_order_relaxed);

        atomic_store_explicit(&n->next[level], next, memory_order_relaxed);
        atomic_store_explicit(&prev[level]->next[level], n, memory_order_release);
    }
}

static void *writer_main(void *arg)
{
    struct list *l = arg;

    for (int i = 0; i < NKEYS; i++) {
        insert(l, (i * 7) % NKEYS);
        atomic_store_explicit(&inserted, i + 1, memory_order_release);
    }
    return NULL;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;

    for (int scan = 0; scan < NSCANS; scan++) {
        int least = atomic_load_explicit(&inserted, memory_order_acquire), count = 0, last = -1;
        int key = (r->id * 5 + scan) % NKEYS;
        struct node *n;

        for (n = atomic_load_explicit(&list.head.next[0], memory_order_acquire); n;
             n = atomic_load_explicit(&n->next[0], memory_order_acquire)) {
            if (n->key <= last || n->value != value_of(n->key))
                r->wrong++;
            last = n->key;
            count++;
        }
        if (count < least)
            r->wrong++;
        n = find(&list, key, NULL);
        if (n && n->key < key)
            r->wrong++;
        atomic_fetch_add_explicit(&lookups, 1, memory_order_relaxed);
        r->seen = count;
    }
    return NULL;
}

int main(void)
{
    struct reader r[NREADERS];
    pthread_t writer;
    int wrong = 0, count = 0;

    list.seed = 42;
    list.height = 1;
    list.arena = calloc(NKEYS, sizeof(struct node));
    pthread_create(&writer, NULL, writer_main, &list);
    for (int i = 0; i < NREADERS; i++) {
        r[i] = (struct reader){ .id = i };
        pthread_create(&r[i].thread, NULL, reader_main, &r[i]);
    }
    pthread_join(writer, NULL);
    for (int i = 0; i < NREADERS; i++) {
        pthread_join(r[i].thread, NULL);
        wrong += r[i].wrong;
    }
    for (struct node *n = list.head.next[0]; n; n = n->next[0])
        count++;
    printf("%d keys, height %d, %ld lookups\n", count, list.height, atomic_load(&lookups));
    free(list.arena);
    return count == NKEYS && !wrong ? 0 : 1;
}
