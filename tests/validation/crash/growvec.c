/* Growing table of session objects: a slot is reserved under the lock, the
 * object is stored in it afterwards. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct obj {
    int id;
    int weight;
};

struct vec {
    pthread_mutex_t lock;
    struct obj **items;
    int used, cap;
};

static struct vec table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void vec_grow(struct vec *v)
{
    int cap = v->cap ? v->cap * 2 : 2;
    struct obj **n = calloc((size_t)cap, sizeof *n);
    if (v->items)
        memcpy(n, v->items, (size_t)v->used * sizeof *n);
    free(v->items);
    v->items = n;
    v->cap = cap;
}

static int vec_reserve(struct vec *v)
{
    pthread_mutex_lock(&v->lock);
    if (v->used == v->cap)
        vec_grow(v);
    int slot = v->used++;
    pthread_mutex_unlock(&v->lock);
    return slot;
}

static void vec_store(struct vec *v, int slot, struct obj *o)
{
    struct obj **base = v->items;
    base[slot] = o;
}

static struct obj *obj_new(int id)
{
    struct obj *o = malloc(sizeof *o);
    o->id = id;
    o->weight = id * 7 % 31;
    return o;
}

static void *login(void *arg)
{
    int base = *(int *)arg;
    struct obj *o[3];
    for (int i = 0; i < 3; i++)
        o[i] = obj_new(base + i);
    for (int i = 0; i < 3; i++)
        vec_store(&table, vec_reserve(&table), o[i]);
    return NULL;
}

static int total_weight(struct vec *v)
{
    int w = 0;
    for (int i = 0; i < v->used; i++) {
        struct obj *o = v->items[i];
        w += o->weight;
    }
    return w;
}

int main(void)
{
    pthread_t t[2];
    int base[2] = { 10, 20 };

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, login, &base[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d sessions, weight %d\n", table.used, total_weight(&table));
    for (int i = 0; i < table.used; i++)
        free(table.items[i]);
    free(table.items);
    return 0;
}
