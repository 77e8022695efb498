/* Deferred freeing: objects are handed to a reclaim thread, which is woken by
 * an event. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUPDATERS 2
#define NUPDATES  4

/* Event that stays set until it is reset. */
struct event {
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    int             value;
};

struct rcu_head {
    struct rcu_head *next;
    void           (*func)(struct rcu_head *);
};

struct config {
    struct rcu_head rcu;
    int             version;
    int             limits[4];
};

struct barrier {
    struct rcu_head rcu;
    struct event    done;
};

static struct event call_ready = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0
};
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rcu_head *queue_head, **queue_tail = &queue_head;
static atomic_int call_count;

static _Atomic(struct config *) current;
static atomic_int reclaimed;
static long grace_periods;              /* reclaim thread only */
static int last_version;
static int stopping;                    /* reclaim thread only */

static void event_set(struct event *ev)
{
    pthread_mutex_lock(&ev->lock);
    ev->value = 1;
    pthread_cond_broadcast(&ev->cond);
    pthread_mutex_unlock(&ev->lock);
}

static void event_reset(struct event *ev)
{
    pthread_mutex_lock(&ev->lock);
    ev->value = 0;
    pthread_mutex_unlock(&ev->lock);
}

static void event_wait(struct event *ev)
{
    pthread_mutex_lock(&ev->lock);
    while (ev->value == 0)
        pthread_cond_wait(&ev->cond, &ev->lock);
    pthread_mutex_unlock(&ev->lock);
}

static void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *))
{
    head->func = func;
    head->next = NULL;
    pthread_mutex_lock(&queue_lock);
    *queue_tail = head;
    queue_tail = &head->next;
    pthread_mutex_unlock(&queue_lock);
    atomic_fetch_add(&call_count, 1);
    event_set(&call_ready);
}

static struct rcu_head *try_dequeue(void)
{
    struct rcu_head *h;

    pthread_mutex_lock(&queue_lock);
    h = queue_head;
    if (h != NULL) {
        queue_head = h->next;
        if (queue_head == NULL)
            queue_tail = &queue_head;
    }
    pthread_mutex_unlock(&queue_lock);
    return h;
}

static void *reclaim_main(void *arg)
{
    (void)arg;
    while (!stopping) {
        int n = atomic_load(&call_count);

        if (n == 0) {
            event_reset(&call_ready);
            event_wait(&call_ready);
            continue;
        }
        atomic_fetch_sub(&call_count, n);
        grace_periods++;
        while (n-- > 0) {
            struct rcu_head *h = try_dequeue();

            h->func(h);
        }
    }
    return NULL;
}

static void free_config(struct rcu_head *h)
{
    struct config *c = (struct config *)h;

    last_version = c->version;
    free(c);
    atomic_fetch_add(&reclaimed, 1);
}

static void barrier_done(struct rcu_head *h)
{
    event_set(&((struct barrier *)h)->done);
}

static void stop_reclaim(struct rcu_head *h)
{
    (void)h;
    stopping = 1;
}

/* Returns when everything handed over so far has been freed. */
static void rcu_barrier(void)
{
    static struct barrier b = { .done = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 } };

    event_reset(&b.done);
    call_rcu(&b.rcu, barrier_done);
    event_wait(&b.done);
}

static struct config *config_new(int version)
{
    struct config *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    c->version = version;
    for (int i = 0; i < 4; i++)
        c->limits[i] = version * 10 + i;
    return c;
}

static void *updater_main(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NUPDATES; i++) {
        struct config *old = atomic_exchange(&current, config_new(100 * id + i));

        call_rcu(&old->rcu, free_config);
    }
    return NULL;
}

int main(void)
{
    pthread_t u[NUPDATERS], r;
    int ids[NUPDATERS];
    struct rcu_head last;

    atomic_store(&current, config_new(0));
    pthread_create(&r, NULL, reclaim_main, NULL);
    for (int i = 0; i < NUPDATERS; i++) {
        ids[i] = i + 1;
        pthread_create(&u[i], NULL, updater_main, &ids[i]);
    }
    for (int i = 0; i < NUPDATERS; i++)
        pthread_join(u[i], NULL);
    rcu_barrier();
    printf("%d reclaimed\n", atomic_load(&reclaimed));
    call_rcu(&last, stop_reclaim);
    pthread_join(r, NULL);
    free(atomic_load(&current));
    return atomic_load(&reclaimed) == NUPDATERS * NUPDATES ? 0 : 1;
}
