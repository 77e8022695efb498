#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCONNECTIONS 2
#define NWORKERS 5
#define NQUERIES 2

struct connection {
    struct connection *next;
    int number;
    int in_use;
    long queries;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t available;
    struct connection *idle;
    int idle_count;
    int waited;
};

struct worker {
    struct pool *pool;
    int id;
    long rows;
    pthread_t thread;
};

static struct connection connections[NCONNECTIONS];
static atomic_long total_rows;

static struct connection *pool_acquire(struct pool *p)
{
    struct connection *c;
    pthread_mutex_lock(&p->lock);
    while (p->idle == NULL) {
        p->waited++;
        pthread_cond_wait(&p->available, &p->lock);
    }
    c = p->idle;
    p->idle = c->next;
    p->idle_count--;
    c->in_use = 1;
    pthread_mutex_unlock(&p->lock);
    return c;
}

static void pool_release(struct pool *p, struct connection *c)
{
    int was_empty;
    pthread_mutex_lock(&p->lock);
    was_empty = p->idle == NULL;
    c->in_use = 0;
    c->next = p->idle;
    p->idle = c;
    p->idle_count++;
    if (was_empty)
        pthread_cond_signal(&p->available);
    pthread_mutex_unlock(&p->lock);
}

static void pool_init(struct pool *p)
{
    int i;
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->available, NULL);
    for (i = 0; i < NCONNECTIONS; i++) {
        connections[i].number = i;
        connections[i].next = p->idle;
        p->idle = &connections[i];
        p->idle_count++;
    }
}

static long run_query(struct connection *c, int id, int n)
{
    char text[48];
    snprintf(text, sizeof text, "select %d from t%d", n, id);
    c->queries++;
    return (long)strlen(text);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    int i;
    for (i = 0; i < NQUERIES; i++) {
        struct connection *c = pool_acquire(w->pool);
        w->rows += run_query(c, w->id, i);
        pool_release(w->pool, c);
    }
    atomic_fetch_add_explicit(&total_rows, w->rows, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    static struct pool pool;
    struct worker workers[NWORKERS];
    long queries = 0;
    int i;
    pool_init(&pool);
    for (i = 0; i < NWORKERS; i++) {
        workers[i] = (struct worker) { .pool = &pool, .id = i };
        pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
    }
    for (i = 0; i < NWORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    for (i = 0; i < NCONNECTIONS; i++)
        queries += connections[i].queries;
    printf("%ld queries, %ld rows, %d waits, %d idle\n", queries, atomic_load(&total_rows), pool.waited,
           pool.idle_count);
    return queries != NWORKERS * NQUERIES || pool.idle_count != NCONNECTIONS;
}
