/* Message producer client: application thread enqueues, the broker thread
 * transmits, flush() is called before the client reports its totals. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NMSGS 10

typedef struct msg {
    struct msg *next;
    int         id;
    char        payload[32];
} msg_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t  more, drained;
    msg_t          *head, **tail;
    int             qlen;
    int             terminate;
} msgq_t;

typedef struct {
    pthread_mutex_t lock;
    int             delivered;
    long            bytes;
} dr_stats;

typedef struct {
    msgq_t          outq;
    dr_stats        dr;
    pthread_mutex_t conf_lock;
    int             linger_ms;
} producer_t;

static void producer_init(producer_t *p)
{
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->outq.lock, NULL);
    pthread_cond_init(&p->outq.more, NULL);
    pthread_cond_init(&p->outq.drained, NULL);
    p->outq.tail = &p->outq.head;
    pthread_mutex_init(&p->dr.lock, NULL);
    pthread_mutex_init(&p->conf_lock, NULL);
}

static void produce(producer_t *p, int id)
{
    msg_t *m = calloc(1, sizeof *m);

    m->id = id;
    snprintf(m->payload, sizeof m->payload, "event %d", id);
    pthread_mutex_lock(&p->outq.lock);
    *p->outq.tail = m;
    p->outq.tail = &m->next;
    p->outq.qlen++;
    pthread_cond_signal(&p->outq.more);
    pthread_mutex_unlock(&p->outq.lock);
}

static void delivery_report(producer_t *p, msg_t *m)
{
    size_t n = strlen(m->payload);

    pthread_mutex_lock(&p->dr.lock);
    p->dr.delivered++;
    p->dr.bytes += (long)n;
    pthread_mutex_unlock(&p->dr.lock);
    free(m);
}

static int conf_linger(producer_t *p)
{
    int v;

    pthread_mutex_lock(&p->conf_lock);
    v = p->linger_ms;
    pthread_mutex_unlock(&p->conf_lock);
    return v;
}

static void *broker_main(void *arg)
{
    producer_t *p = arg;
    msgq_t *q = &p->outq;

    for (;;) {
        msg_t *m;

        pthread_mutex_lock(&q->lock);
        while (q->qlen == 0 && !q->terminate)
            pthread_cond_wait(&q->more, &q->lock);
        if (q->qlen == 0) {
            pthread_mutex_unlock(&q->lock);
            return NULL;
        }
        m = q->head;
        q->head = m->next;
        if (!q->head)
            q->tail = &q->head;
        q->qlen--;
        pthread_mutex_unlock(&q->lock);

        if (conf_linger(p) == 0)
            delivery_report(p, m);

        pthread_mutex_lock(&q->lock);
        pthread_cond_broadcast(&q->drained);
        pthread_mutex_unlock(&q->lock);
    }
}

static void flush(producer_t *p)
{
    pthread_mutex_lock(&p->outq.lock);
    while (p->outq.qlen > 0)
        pthread_cond_wait(&p->outq.drained, &p->outq.lock);
    pthread_mutex_unlock(&p->outq.lock);
}

static int delivered_count(producer_t *p)
{
    int n;

    pthread_mutex_lock(&p->dr.lock);
    n = p->dr.delivered;
    pthread_mutex_unlock(&p->dr.lock);
    return n;
}

int main(void)
{
    static producer_t p;
    pthread_t broker;
    int n;

    producer_init(&p);
    pthread_create(&broker, NULL, broker_main, &p);
    for (int i = 0; i < NMSGS; i++)
        produce(&p, i);
    flush(&p);
    n = delivered_count(&p);

    pthread_mutex_lock(&p.outq.lock);
    p.outq.terminate = 1;
    pthread_cond_signal(&p.outq.more);
    pthread_mutex_unlock(&p.outq.lock);
    pthread_join(broker, NULL);

    printf("%d messages, %d delivered at flush, %ld bytes\n", NMSGS, n, p.dr.bytes);
    if (n != NMSGS) {
        fprintf(stderr, "flush returned with %d messages undelivered\n", NMSGS - n);
        return 1;
    }
    return 0;
}
