/* Client of a message broker: a request ends by its reply, by its timeout or
 * when the connection is closed; its callback then is called once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NREQ 8

enum status { ST_OK, ST_TIMEOUT, ST_CLOSED };

typedef void (*callback)(void *user, enum status st);

struct request {
    int      id;
    int      pending;
    int      deadline;
    callback cb;
    void    *user;
};

struct client {
    pthread_mutex_t lock;
    struct request  requests[NREQ];
    int             nrequests;
    int             outstanding;
};

struct call {
    int        id;
    atomic_int replies[3];
};

static struct client client = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct call calls[NREQ];
static atomic_int now;
static atomic_long late, bytes_in;

static void on_done(void *user, enum status st)
{
    struct call *c = user;

    atomic_fetch_add(&c->replies[st], 1);
}

static void client_submit(struct client *c, int deadline, struct call *call)
{
    struct request *r;

    pthread_mutex_lock(&c->lock);
    r = &c->requests[c->nrequests];
    r->id = c->nrequests++;
    r->deadline = deadline;
    r->cb = on_done;
    r->user = call;
    r->pending = 1;
    c->outstanding++;
    pthread_mutex_unlock(&c->lock);
}

static struct request *client_lookup(struct client *c, int id)
{
    struct request *r = NULL;

    pthread_mutex_lock(&c->lock);
    if (id < c->nrequests && c->requests[id].pending)
        r = &c->requests[id];
    pthread_mutex_unlock(&c->lock);
    return r;
}

static void client_remove(struct client *c, struct request *r)
{
    pthread_mutex_lock(&c->lock);
    if (r->pending)
        c->outstanding--;
    r->pending = 0;
    pthread_mutex_unlock(&c->lock);
}

static int client_outstanding(struct client *c)
{
    int n;

    pthread_mutex_lock(&c->lock);
    n = c->outstanding;
    pthread_mutex_unlock(&c->lock);
    return n;
}

static void complete(struct client *c, int id, enum status st)
{
    struct request *r = client_lookup(c, id);

    if (!r) {
        atomic_fetch_add_explicit(&late, 1, memory_order_relaxed);
        return;
    }
    r->cb(r->user, st);
    client_remove(c, r);
}

static void *reader_main(void *arg)
{
    struct client *c = arg;

    for (int id = 0; id < NREQ; id++) {
        if (id % 4 == 3)
            continue;           /* the broker never answers these */
        atomic_fetch_add_explicit(&bytes_in, 16 + id, memory_order_relaxed);
        atomic_fetch_add(&now, 1);
        complete(c, id, ST_OK);
    }
    return NULL;
}

static void *timer_main(void *arg)
{
    struct client *c = arg;

    for (int id = 0; id < NREQ; id++)
        if (c->requests[id].deadline <= atomic_load(&now))
            complete(c, id, ST_TIMEOUT);
    return NULL;
}

static void *closer_main(void *arg)
{
    struct client *c = arg;

    for (int id = NREQ - 1; id >= 0 && client_outstanding(c); id--)
        complete(c, id, ST_CLOSED);
    return NULL;
}

int main(void)
{
    pthread_t reader, timer, closer;
    int bad = 0;

    for (int i = 0; i < NREQ; i++) {
        calls[i].id = i;
        client_submit(&client, i / 2, &calls[i]);
    }
    pthread_create(&reader, NULL, reader_main, &client);
    pthread_create(&timer, NULL, timer_main, &client);
    pthread_create(&closer, NULL, closer_main, &client);
    pthread_join(reader, NULL);
    pthread_join(timer, NULL);
    pthread_join(closer, NULL);

    for (int i = 0; i < NREQ; i++) {
        int n = 0;

        for (int st = ST_OK; st <= ST_CLOSED; st++)
            n += atomic_load(&calls[i].replies[st]);
        if (n != 1) {
            fprintf(stderr, "call %d ended %d times\n", i, n);
            bad++;
        }
    }
    printf("%d outstanding, %ld late, %ld bytes\n", client.outstanding,
           atomic_load(&late), atomic_load(&bytes_in));
    return bad ? 1 : 0;
}
