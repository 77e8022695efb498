/* Load balancer: a request goes to the backend with the fewest requests in
 * progress. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NBACKENDS 3
#define NTHREADS  4
#define NREQUESTS 6

struct backend {
    const char *name;
    int         busy;               /* requests in progress */
    int         factor;
    long        elected;            /* guarded by the lock of the balancer */
    atomic_long read, transferred;  /* bytes, for the status page */
};

struct balancer {
    pthread_mutex_t lock;
    struct backend  backends[NBACKENDS];
    int             last;
};

struct server_thread {
    int       id;
    long      served;
    pthread_t thread;
};

static struct balancer balancer = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .backends = {
        { .name = "app1", .factor = 1 },
        { .name = "app2", .factor = 1 },
        { .name = "app3", .factor = 1 },
    },
};

/* The least busy; among equals the next one in turn. */
static struct backend *find_best(struct balancer *b)
{
    struct backend *best = NULL;

    for (int i = 1; i <= NBACKENDS; i++) {
        struct backend *w = &b->backends[(b->last + i) % NBACKENDS];

        if (!best || w->busy * best->factor < best->busy * w->factor)
            best = w;
    }
    b->last = (int)(best - b->backends);
    return best;
}

static struct backend *pre_request(struct balancer *b)
{
    struct backend *w;

    pthread_mutex_lock(&b->lock);
    w = find_best(b);
    w->elected++;
    w->busy++;
    pthread_mutex_unlock(&b->lock);
    return w;
}

static void post_request(struct backend *w)
{
    if (w->busy > 0)
        w->busy--;
}

static long handle(struct backend *w, int id, int n)
{
    long bytes = 200 + 10L * id + n;

    atomic_fetch_add_explicit(&w->read, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->transferred, bytes / 2, memory_order_relaxed);
    return bytes;
}

static void *server_main(void *arg)
{
    struct server_thread *t = arg;

    for (int i = 0; i < NREQUESTS; i++) {
        struct backend *w = pre_request(&balancer);

        if (handle(w, t->id, i) > 0)
            t->served++;
        post_request(w);
    }
    return NULL;
}

static int status(struct balancer *b)
{
    int stuck = 0;

    for (int i = 0; i < NBACKENDS; i++) {
        struct backend *w = &b->backends[i];

        printf("%s: %ld elected, %d busy, %ld read\n", w->name, w->elected, w->busy,
               atomic_load(&w->read));
        stuck += w->busy != 0;
    }
    return stuck;
}

int main(void)
{
    struct server_thread t[NTHREADS];
    long served = 0;

    for (int i = 0; i < NTHREADS; i++) {
        t[i] = (struct server_thread){ .id = i };
        pthread_create(&t[i].thread, NULL, server_main, &t[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(t[i].thread, NULL);
        served += t[i].served;
    }
    if (status(&balancer)) {
        fprintf(stderr, "idle, but a backend is busy\n");
        return 1;
    }
    return served == NTHREADS * NREQUESTS ? 0 : 2;
}
