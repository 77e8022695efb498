/* Event loop in a thread of its own; connections are opened and closed by
 * other threads, which take the event of a connection out of the loop first. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NOWNERS 2
#define NCONNS  3
#define MAXACT  16

struct event {
    void       (*callback)(void *arg);
    void        *arg;
    int          queued;
};

struct event_base {
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    struct event   *active[MAXACT];
    int             nactive;
    int             stop;
    long            dispatched;
};

struct conn {
    struct event    ev;
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    int             served;         /* guarded by lock */
    char           *buf;
    int             len;
};

static struct event_base base = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
};
static atomic_long bytes_read, closed;

static void event_active(struct event_base *b, struct event *ev)
{
    pthread_mutex_lock(&b->lock);
    if (!ev->queued) {
        ev->queued = 1;
        b->active[b->nactive++] = ev;
        pthread_cond_signal(&b->wake);
    }
    pthread_mutex_unlock(&b->lock);
}

static void event_del(struct event_base *b, struct event *ev)
{
    pthread_mutex_lock(&b->lock);
    if (ev->queued) {
        int n = 0;

        for (int i = 0; i < b->nactive; i++)
            if (b->active[i] != ev)
                b->active[n++] = b->active[i];
        b->nactive = n;
        ev->queued = 0;
    }
    pthread_mutex_unlock(&b->lock);
}

static struct event *base_next(struct event_base *b)
{
    struct event *ev = b->active[0];

    for (int i = 1; i < b->nactive; i++)
        b->active[i - 1] = b->active[i];
    b->nactive--;
    ev->queued = 0;
    b->dispatched++;
    return ev;
}

static void *loop_main(void *arg)
{
    struct event_base *b = arg;

    pthread_mutex_lock(&b->lock);
    while (!b->stop) {
        struct event *ev;

        if (b->nactive == 0) {
            pthread_cond_wait(&b->wake, &b->lock);
            continue;
        }
        ev = base_next(b);
        pthread_mutex_unlock(&b->lock);
        ev->callback(ev->arg);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void conn_readable(void *arg)
{
    struct conn *c = arg;

    c->buf[c->len++] = 'x';
    atomic_fetch_add_explicit(&bytes_read, 1, memory_order_relaxed);
    pthread_mutex_lock(&c->lock);
    c->served++;
    pthread_cond_signal(&c->cond);
    pthread_mutex_unlock(&c->lock);
}

static void conn_open(struct conn *c)
{
    c->ev = (struct event){ conn_readable, c, 0 };
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->cond, NULL);
    c->served = 0;
    c->len = 0;
    c->buf = calloc(1, 64);
}

static void conn_close(struct conn *c)
{
    event_del(&base, &c->ev);
    free(c->buf);
    c->buf = NULL;
    atomic_fetch_add_explicit(&closed, 1, memory_order_relaxed);
}

/* One request and its answer; then the peer goes away. */
static void conn_session(struct conn *c)
{
    conn_open(c);
    event_active(&base, &c->ev);
    pthread_mutex_lock(&c->lock);
    while (c->served == 0)
        pthread_cond_wait(&c->cond, &c->lock);
    pthread_mutex_unlock(&c->lock);
    event_active(&base, &c->ev);
    conn_close(c);
}

static void *owner_main(void *arg)
{
    struct conn *conns = arg;

    for (int i = 0; i < NCONNS; i++)
        conn_session(&conns[i]);
    return NULL;
}

int main(void)
{
    static struct conn conns[NOWNERS][NCONNS];
    pthread_t loop, owner[NOWNERS];

    pthread_create(&loop, NULL, loop_main, &base);
    for (int i = 0; i < NOWNERS; i++)
        pthread_create(&owner[i], NULL, owner_main, conns[i]);
    for (int i = 0; i < NOWNERS; i++)
        pthread_join(owner[i], NULL);
    pthread_mutex_lock(&base.lock);
    base.stop = 1;
    pthread_cond_signal(&base.wake);
    pthread_mutex_unlock(&base.lock);
    pthread_join(loop, NULL);
    printf("%ld closed, %ld bytes, %ld dispatched\n", atomic_load(&closed),
           atomic_load(&bytes_read), base.dispatched);
    return atomic_load(&closed) == NOWNERS * NCONNS ? 0 : 1;
}
