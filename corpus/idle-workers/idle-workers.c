/* A small request server. One listener accepts connections and puts them on a
 * board, a fixed pool of workers serves them. The listener accepts only when a
 * worker has reported itself idle, so the board needs no more slots than there
 * are workers. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../pause.h"

#define WORKERS 3
#define CONNECTIONS 24
#define REQUEST_BYTES 512

struct connection {
    int id;
    uint32_t answer;
    unsigned char request[REQUEST_BYTES];
};

/* Who is free. */
struct pool {
    pthread_mutex_t lock;
    pthread_cond_t available;
    int idlers;
};

/* Connections that are accepted and not yet finished; those that no worker has
 * picked up stand in a ring. */
struct board {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct connection *slot[WORKERS];
    int head;
    int waiting;
    int in_use;
    int closed;
};

struct server {
    struct pool pool;
    struct board board;
    struct connection *connections;
};

static uint32_t digest(const unsigned char *data, size_t size, int rounds)
{
    uint32_t h = 2166136261u;
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < size; i++)
            h = (h ^ data[i]) * 16777619u;
    return h;
}

/* Blocks until a worker is free and reserves it. */
static void pool_reserve(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->idlers == 0)
        pthread_cond_wait(&p->available, &p->lock);
    p->idlers--;
    pthread_mutex_unlock(&p->lock);
}

static void pool_release(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->idlers++;
    pthread_cond_signal(&p->available);
    pthread_mutex_unlock(&p->lock);
}

static void board_add(struct board *b, struct connection *c)
{
    pthread_mutex_lock(&b->lock);
    assert(b->in_use < WORKERS);
    b->in_use++;
    b->slot[(b->head + b->waiting) % WORKERS] = c;
    b->waiting++;
    pthread_cond_signal(&b->filled);
    pthread_mutex_unlock(&b->lock);
}

/* The next connection to serve, NULL when the board is closed and empty. */
static struct connection *board_take(struct board *b)
{
    struct connection *c = NULL;

    pthread_mutex_lock(&b->lock);
    while (b->waiting == 0 && !b->closed)
        pthread_cond_wait(&b->filled, &b->lock);
    if (b->waiting > 0) {
        c = b->slot[b->head];
        b->head = (b->head + 1) % WORKERS;
        b->waiting--;
    }
    pthread_mutex_unlock(&b->lock);
    return c;
}

static void board_finish(struct board *b)
{
    pthread_mutex_lock(&b->lock);
    b->in_use--;
    pthread_mutex_unlock(&b->lock);
}

static void board_close(struct board *b)
{
    pthread_mutex_lock(&b->lock);
    b->closed = 1;
    pthread_cond_broadcast(&b->filled);
    pthread_mutex_unlock(&b->lock);
}

static void *worker_main(void *arg)
{
    struct server *srv = arg;
    struct connection *c;

    while ((c = board_take(&srv->board)) != NULL) {
        c->answer = digest(c->request, sizeof c->request, 8);
        pool_release(&srv->pool); PAUSE(40);
        board_finish(&srv->board);
    }
    return NULL;
}

/* Stands in for accept(): reads the request of the next connection. */
static void accept_connection(struct connection *c, int id)
{
    uint32_t seed = 0;

    c->id = id;
    for (int i = 0; i < REQUEST_BYTES; i++)
        c->request[i] = (unsigned char)(id * 31 + i * 7);
    seed = digest(c->request, sizeof c->request, 60);
    c->request[0] = (unsigned char)seed;
}

int main(void)
{
    static struct server srv = {
        .pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, WORKERS},
        .board = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER},
    };
    pthread_t worker[WORKERS];
    uint32_t sum = 0;

    srv.connections = calloc(CONNECTIONS, sizeof *srv.connections);
    if (srv.connections == NULL)
        return 2;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&worker[i], NULL, worker_main, &srv) != 0)
            return 2;

    for (int i = 0; i < CONNECTIONS; i++) {
        accept_connection(&srv.connections[i], i);
        pool_reserve(&srv.pool);
        board_add(&srv.board, &srv.connections[i]);
    }
    board_close(&srv.board);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);

    for (int i = 0; i < CONNECTIONS; i++)
        sum += srv.connections[i].answer;
    printf("served %d connections, digest %08x\n", CONNECTIONS, (unsigned)sum);
    free(srv.connections);
    return 0;
}
