/* Transfers of several threads share one cache of open connections: an idle
 * connection to the same host is used again instead of opening a new one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAXCONN  16
#define NTHREADS 3
#define NREQ     4

struct conn {
    int  id;
    int  host;
    int  inuse;             /* transfers that are attached to it */
    int  keep;
    long requests;
    char line[48];          /* of the request on the wire, if any */
};

struct conncache {
    pthread_mutex_t lock;
    struct conn     conns[MAXCONN];
    int             nconn;
    long            opened;
};

struct easy {
    int  id;
    int  host;
    int  failed;
    long received;
};

static struct conncache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long stat_reused, stat_attached;

static int conn_matches(const struct conn *c, const struct easy *e)
{
    return c->keep && c->host == e->host;
}

/* An idle connection that fits, or NULL. */
static struct conn *cache_find(struct easy *e)
{
    struct conn *found = NULL;

    pthread_mutex_lock(&cache.lock);
    for (int i = 0; i < cache.nconn && !found; i++) {
        struct conn *c = &cache.conns[i];

        if (conn_matches(c, e) && c->inuse == 0)
            found = c;
    }
    pthread_mutex_unlock(&cache.lock);
    return found;
}

static struct conn *cache_open(struct easy *e)
{
    struct conn *c;

    pthread_mutex_lock(&cache.lock);
    c = &cache.conns[cache.nconn];
    c->id = cache.nconn++;
    c->host = e->host;
    c->keep = 1;
    c->inuse = 1;
    cache.opened++;
    pthread_mutex_unlock(&cache.lock);
    return c;
}

static void conn_attach(struct conn *c)
{
    pthread_mutex_lock(&cache.lock);
    c->inuse++;
    pthread_mutex_unlock(&cache.lock);
    atomic_fetch_add_explicit(&stat_attached, 1, memory_order_relaxed);
}

/* Gives the connection back; it must be idle then. */
static int conn_detach(struct conn *c)
{
    int clean;

    pthread_mutex_lock(&cache.lock);
    c->inuse--;
    clean = c->inuse == 0;
    c->requests++;
    pthread_mutex_unlock(&cache.lock);
    return clean;
}

static void perform(struct easy *e, int n)
{
    struct conn *c = cache_find(e);
    char line[48];

    if (c) {
        conn_attach(c);
        atomic_fetch_add_explicit(&stat_reused, 1, memory_order_relaxed);
    } else {
        c = cache_open(e);
    }
    snprintf(line, sizeof(line), "GET /%d/%d HTTP/1.1", e->id, n);
    strcpy(c->line, line);
    e->received += (long)strlen(c->line);
    if (strcmp(c->line, line) != 0)
        e->failed++;
    if (!conn_detach(c))
        e->failed++;
}

static void *transfer_main(void *arg)
{
    struct easy *e = arg;

    for (int i = 0; i < NREQ; i++)
        perform(e, i);
    return NULL;
}

int main(void)
{
    struct easy easy[NTHREADS], warm = { .id = 9 };
    pthread_t t[NTHREADS];
    long requests = 0;
    int failed = 0;

    perform(&warm, 0);
    for (int i = 0; i < NTHREADS; i++) {
        easy[i] = (struct easy){ .id = i };
        pthread_create(&t[i], NULL, transfer_main, &easy[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(t[i], NULL);
        failed += easy[i].failed;
    }
    for (int i = 0; i < cache.nconn; i++)
        requests += cache.conns[i].requests;
    printf("%ld requests on %ld connections, %ld reused\n", requests, cache.opened,
           atomic_load(&stat_reused));
    if (failed) {
        fprintf(stderr, "%d transfers failed\n", failed);
        return 1;
    }
    return requests == NTHREADS * NREQ + 1 ? 0 : 2;
}
