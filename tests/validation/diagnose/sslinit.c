/* Client library that shares the locking callback of a crypto library among
 * its connections: installed with the first one, removed with the last. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NLOCKS   4
#define NCLIENTS 3
#define NROUNDS  3

typedef void (*locking_cb)(int lock, int n);

/* --- crypto library --- */

static _Atomic(locking_cb) crypto_cb;
static unsigned long session_id[NLOCKS];
static atomic_ulong crypto_calls;

static void crypto_lock(int n)
{
    locking_cb cb = atomic_load(&crypto_cb);

    cb(1, n);
}

static void crypto_unlock(int n)
{
    locking_cb cb = atomic_load(&crypto_cb);

    cb(0, n);
}

static unsigned long crypto_next_id(int n)
{
    unsigned long id;

    crypto_lock(n);
    id = ++session_id[n];
    crypto_unlock(n);
    atomic_fetch_add_explicit(&crypto_calls, 1, memory_order_relaxed);
    return id;
}

/* --- client library --- */

struct conn {
    int           client;
    int           slot;
    unsigned long id;
    char          host[24];
};

static pthread_mutex_t ssl_config_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_array[NLOCKS];
static int ssl_open_connections;
static long handshakes;         /* only for the status line */

static void pq_lockingcallback(int lock, int n)
{
    if (lock)
        pthread_mutex_lock(&lock_array[n]);
    else
        pthread_mutex_unlock(&lock_array[n]);
}

static void init_crypto_lib(void)
{
    pthread_mutex_lock(&ssl_config_mutex);
    if (ssl_open_connections++ == 0) {
        if (atomic_load(&crypto_cb) == NULL)
            atomic_store(&crypto_cb, pq_lockingcallback);
    }
    pthread_mutex_unlock(&ssl_config_mutex);
}

static void destroy_crypto_lib(void)
{
    int last;

    pthread_mutex_lock(&ssl_config_mutex);
    last = --ssl_open_connections == 0;
    pthread_mutex_unlock(&ssl_config_mutex);

    if (last) {
        pthread_mutex_lock(&ssl_config_mutex);
        if (atomic_load(&crypto_cb) == pq_lockingcallback)
            atomic_store(&crypto_cb, NULL);
        pthread_mutex_unlock(&ssl_config_mutex);
    }
}

static struct conn *conn_open(int client, const char *host)
{
    struct conn *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    c->client = client;
    c->slot = client % NLOCKS;
    snprintf(c->host, sizeof(c->host), "%s", host);
    init_crypto_lib();
    c->id = crypto_next_id(c->slot);
    handshakes++;
    return c;
}

static void conn_close(struct conn *c)
{
    destroy_crypto_lib();
    free(c);
}

static void *client_main(void *arg)
{
    int id = *(int *)arg;
    unsigned long sum = 0;

    for (int i = 0; i < NROUNDS; i++) {
        struct conn *c = conn_open(id, "db.example.net");

        sum += c->id + strlen(c->host);
        conn_close(c);
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t t[NCLIENTS];
    int ids[NCLIENTS];
    unsigned long total = 0;

    for (int i = 0; i < NLOCKS; i++)
        pthread_mutex_init(&lock_array[i], NULL);
    for (int i = 0; i < NCLIENTS; i++) {
        ids[i] = i;
        pthread_create(&t[i], NULL, client_main, &ids[i]);
    }
    for (int i = 0; i < NCLIENTS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NLOCKS; i++)
        total += session_id[i];
    printf("%lu sessions, %lu calls, %d open\n", total, atomic_load(&crypto_calls),
           ssl_open_connections);
    return total == NCLIENTS * NROUNDS ? 0 : 1;
}
