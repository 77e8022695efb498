/* Load balancer: a server takes a limited number of streams at a time, the
 * others wait in its queue until a stream ends. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAXCONN  2
#define NSTREAMS 4
#define NREQS    3

struct pendconn {
    struct stream   *strm;
    struct pendconn *next;
};

struct server {
    const char      *name;
    atomic_int       served;            /* streams being served */
    int              maxconn;
    pthread_mutex_t  queue_lock;
    struct pendconn *queue_head, **queue_tail;
    int              queue_len;
    long             queued_total;
    atomic_long      cum_sess;
};

struct stream {
    int             id;
    sem_t           wake;
    struct pendconn pend;
    long            bytes;
    pthread_t       thread;
};

static struct server srv = {
    .name = "web1", .maxconn = MAXCONN, .queue_lock = PTHREAD_MUTEX_INITIALIZER
};
static struct stream streams[NSTREAMS];
static atomic_int peak;
static int last_stream;                 /* shown on the stats page */

static int server_take_slot(struct server *s)
{
    int n = atomic_load(&s->served);

    while (n < s->maxconn) {
        if (atomic_compare_exchange_weak(&s->served, &n, n + 1)) {
            if (n + 1 > atomic_load(&peak))
                atomic_store(&peak, n + 1);
            return 1;
        }
    }
    return 0;
}

static void pendconn_add(struct server *s, struct stream *st)
{
    struct pendconn *p = &st->pend;

    p->strm = st;
    p->next = NULL;
    pthread_mutex_lock(&s->queue_lock);
    *s->queue_tail = p;
    s->queue_tail = &p->next;
    s->queue_len++;
    s->queued_total++;
    pthread_mutex_unlock(&s->queue_lock);
}

static struct pendconn *pendconn_first(struct server *s)
{
    struct pendconn *p;

    pthread_mutex_lock(&s->queue_lock);
    p = s->queue_head;
    if (p != NULL && server_take_slot(s)) {
        s->queue_head = p->next;
        if (s->queue_head == NULL)
            s->queue_tail = &s->queue_head;
        s->queue_len--;
    } else {
        p = NULL;
    }
    pthread_mutex_unlock(&s->queue_lock);
    return p;
}

static void process_srv_queue(struct server *s)
{
    struct pendconn *p;

    while ((p = pendconn_first(s)) != NULL)
        sem_post(&p->strm->wake);
}

static void assign_server(struct server *s, struct stream *st)
{
    if (server_take_slot(s))
        return;
    pendconn_add(s, st);
    while (sem_wait(&st->wake) != 0)
        continue;
}

static void release_server(struct server *s)
{
    atomic_fetch_sub(&s->served, 1);
    process_srv_queue(s);
}

static long handle_request(struct stream *st, int n)
{
    char buf[64];
    long len = snprintf(buf, sizeof(buf), "GET /%d/%d HTTP/1.1", st->id, n);

    for (int i = 0; i < 50; i++)
        len += buf[i % 8] & 1;
    return len;
}

static void *stream_main(void *arg)
{
    struct stream *st = arg;

    for (int i = 0; i < NREQS; i++) {
        assign_server(&srv, st);
        last_stream = st->id;
        st->bytes += handle_request(st, i);
        atomic_fetch_add_explicit(&srv.cum_sess, 1, memory_order_relaxed);
        release_server(&srv);
    }
    return NULL;
}

int main(void)
{
    long bytes = 0;

    srv.queue_tail = &srv.queue_head;
    for (int i = 0; i < NSTREAMS; i++) {
        streams[i].id = i;
        sem_init(&streams[i].wake, 0, 0);
        pthread_create(&streams[i].thread, NULL, stream_main, &streams[i]);
    }
    for (int i = 0; i < NSTREAMS; i++) {
        pthread_join(streams[i].thread, NULL);
        bytes += streams[i].bytes;
    }
    printf("%s: %ld sessions, %ld bytes, peak %d\n", srv.name, atomic_load(&srv.cum_sess), bytes,
           atomic_load(&peak));
    return atomic_load(&srv.served) == 0 ? 0 : 1;
}
