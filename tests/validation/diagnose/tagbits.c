#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NTAGS 4
#define NQUEUES 3
#define NREQ 4

struct request {
    atomic_int owner;
    int sector;
};

struct host {
    atomic_uint tags;
    struct request rq[NTAGS];
    pthread_mutex_t stat_lock;
    unsigned long completed;
    unsigned long busy;
};

struct hwqueue {
    struct host *host;
    int id;
    int mixed_up;
};

static int tag_get(struct host *h)
{
    unsigned word, bit;
    for (;;) {
        word = atomic_load(&h->tags);
        for (bit = 0; bit < NTAGS; bit++)
            if (!(word & (1u << bit)))
                break;
        if (bit == NTAGS)
            return -1;
        atomic_store(&h->tags, word | (1u << bit));
        return (int)bit;
    }
}

static void tag_put(struct host *h, int tag)
{
    atomic_fetch_and(&h->tags, ~(1u << tag));
}

static void account(struct host *h, unsigned long *counter)
{
    pthread_mutex_lock(&h->stat_lock);
    (*counter)++;
    pthread_mutex_unlock(&h->stat_lock);
}

static int submit(struct hwqueue *q, int sector)
{
    struct host *h = q->host;
    struct request *rq;
    int tag, good;
    while ((tag = tag_get(h)) < 0) {
        account(h, &h->busy);
        sched_yield();
    }
    rq = &h->rq[tag];
    good = atomic_exchange(&rq->owner, q->id) == 0;
    rq->sector = sector;
    account(h, &h->completed);
    if (atomic_exchange(&rq->owner, 0) != q->id)
        good = 0;
    tag_put(h, tag);
    return good;
}

static void *queue_main(void *arg)
{
    struct hwqueue *q = arg;
    int i;
    for (i = 0; i < NREQ; i++)
        if (!submit(q, q->id * 100 + i))
            q->mixed_up++;
    return NULL;
}

int main(void)
{
    static struct host h;
    struct hwqueue q[NQUEUES];
    pthread_t t[NQUEUES];
    int i, mixed = 0;
    pthread_mutex_init(&h.stat_lock, NULL);
    for (i = 0; i < NQUEUES; i++) {
        q[i] = (struct hwqueue){ &h, i + 1, 0 };
        pthread_create(&t[i], NULL, queue_main, &q[i]);
    }
    for (i = 0; i < NQUEUES; i++) {
        pthread_join(t[i], NULL);
        mixed += q[i].mixed_up;
    }
    printf("%lu completed, %d mixed up, tags %x\n", h.completed, mixed, atomic_load(&h.tags));
    return h.completed == NQUEUES * NREQ && mixed == 0 && atomic_load(&h.tags) == 0 ? 0 : 1;
}
