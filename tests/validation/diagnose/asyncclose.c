/* Event loop with handles by which worker threads report that a request is
 * finished.  The loop closes a handle when its callback has run. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NHANDLES 8
#define NWORKERS 3

struct loop;
struct async;

typedef void (*async_cb)(struct async *);

struct async {
    struct loop *loop;
    atomic_int   pending;
    async_cb     cb;
    int          request;
    int          active;
};

struct loop {
    pthread_mutex_t mutex;
    pthread_cond_t  cond;
    int             wakeups;        /* guarded by mutex */
    long            total_wakeups;  /* guarded by mutex */
    struct async    handles[NHANDLES];
    int             nactive;        /* loop thread only */
    long            iterations;     /* loop thread only */
};

struct worker {
    int       id;
    long      work;
    pthread_t thread;
};

static struct loop main_loop;
static long results[NHANDLES];
static int finished[NHANDLES];
static atomic_int next_request;
static unsigned long spins;         /* tuning statistics */

static void loop_wakeup(struct loop *l)
{
    pthread_mutex_lock(&l->mutex);
    l->wakeups++;
    l->total_wakeups++;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->mutex);
}

static void async_init(struct loop *l, struct async *h, async_cb cb, int request)
{
    h->loop = l;
    h->cb = cb;
    h->request = request;
    h->active = 1;
    atomic_init(&h->pending, 0);
    l->nactive++;
}

static void async_send(struct async *h)
{
    if (atomic_load_explicit(&h->pending, memory_order_relaxed) != 0)
        return;
    if (atomic_exchange(&h->pending, 1) == 0) {
        loop_wakeup(h->loop);
    }
}

/* The memory of the handle belongs to its user again. */
static void async_close(struct async *h)
{
    struct loop *l = h->loop;

    l->nactive--;
    memset(h, 0, sizeof(*h));
}

static void loop_run(struct loop *l)
{
    while (l->nactive > 0) {
        pthread_mutex_lock(&l->mutex);
        while (l->wakeups == 0)
            pthread_cond_wait(&l->cond, &l->mutex);
        l->wakeups = 0;
        pthread_mutex_unlock(&l->mutex);

        l->iterations++;
        for (int i = 0; i < NHANDLES; i++) {
            struct async *h = &l->handles[i];

            if (h->active && atomic_exchange(&h->pending, 0) != 0)
                h->cb(h);
        }
    }
}

static void on_done(struct async *h)
{
    finished[h->request] = 1;
    async_close(h);
}

static long compute(int request)
{
    unsigned long x = (unsigned long)request + 17;

    for (int i = 0; i < 200; i++)
        x = x * 6364136223846793005UL + 1442695040888963407UL;
    spins += 200;
    return (long)(x >> 40);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;

    for (;;) {
        int r = atomic_fetch_add(&next_request, 1);

        if (r >= NHANDLES)
            break;
        results[r] = compute(r);
        w->work++;
        async_send(&main_loop.handles[r]);
    }
    return NULL;
}

int main(void)
{
    struct worker w[NWORKERS];
    long done = 0, sum = 0;

    pthread_mutex_init(&main_loop.mutex, NULL);
    pthread_cond_init(&main_loop.cond, NULL);
    for (int i = 0; i < NHANDLES; i++)
        async_init(&main_loop, &main_loop.handles[i], on_done, i);
    memset(w, 0, sizeof(w));
    for (int i = 0; i < NWORKERS; i++) {
        w[i].id = i;
        pthread_create(&w[i].thread, NULL, worker_main, &w[i]);
    }
    loop_run(&main_loop);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(w[i].thread, NULL);
    for (int i = 0; i < NHANDLES; i++) {
        done += finished[i];
        sum += results[i];
    }
    printf("%ld requests, sum %ld, %ld iterations\n", done, sum, main_loop.iterations);
    return done == NHANDLES ? 0 : 1;
}
