#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPKTS 6
#define NROUTES 5

struct route {
    unsigned dest;
    unsigned gateway;
    unsigned long pkts;
};

struct table {
    struct table *retired;
    int cap;
    int used;
    struct route rows[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *cur;
static struct table *retired;

static struct table *table_new(int cap)
{
    struct table *t = calloc(1, sizeof *t + (size_t)cap * sizeof(struct route));
    t->cap = cap;
    return t;
}

static void table_grow(void)
{
    struct table *t = table_new(cur->cap * 2);
    memcpy(t->rows, cur->rows, (size_t)cur->used * sizeof(struct route));
    t->used = cur->used;
    cur->retired = retired;
    retired = cur;
    cur = t;
}

static void route_add(unsigned dest, unsigned gateway)
{
    struct route *r;
    pthread_mutex_lock(&lock);
    if (cur->used == cur->cap)
        table_grow();
    r = &cur->rows[cur->used++];
    r->dest = dest;
    r->gateway = gateway;
    pthread_mutex_unlock(&lock);
}

static struct route *route_lookup(unsigned dest)
{
    struct route *found = NULL;
    int i;
    pthread_mutex_lock(&lock);
    for (i = 0; i < cur->used; i++)
        if (cur->rows[i].dest == dest)
            found = &cur->rows[i];
    pthread_mutex_unlock(&lock);
    return found;
}

static void forward(unsigned dest)
{
    struct route *r = route_lookup(dest);
    unsigned ttl = 64;
    while (ttl > 1)
        ttl /= 2;
    pthread_mutex_lock(&lock);
    r->pkts += ttl;
    pthread_mutex_unlock(&lock);
}

static void *control_main(void *arg)
{
    unsigned i;
    for (i = 1; i < NROUTES; i++) {
        route_add(100 + i, i);
    }
    return arg;
}

static void audit(void)
{
    unsigned long pkts = 0;
    int i;
    for (i = 0; i < cur->used; i++)
        pkts += cur->rows[i].pkts;
    printf("%d routes, %lu packets\n", cur->used, pkts);
    assert(pkts == NPKTS);
}

int main(void)
{
    pthread_t t;
    int i;
    cur = table_new(2);
    route_add(100, 9);
    pthread_create(&t, NULL, control_main, NULL);
    for (i = 0; i < NPKTS; i++)
        forward(100);
    pthread_join(t, NULL);
    audit();
    while (retired) {
        struct table *next = retired->retired;
        free(retired);
        retired = next;
    }
    free(cur);
    return 0;
}
