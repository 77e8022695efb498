#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DELIVERED 3
#define NDISPATCHERS 2
#define NMESSAGES 3

struct message {
    char subject[16];
    int sequence;
};

typedef void (*message_handler)(const struct message *, void *closure);

struct subscription {
    pthread_mutex_t lock;
    long sid;
    int max;
    int delivered;
    int closed;
    message_handler handler;
    void *closure;
};

struct connection {
    struct subscription sub;
    atomic_long in_messages;
    atomic_long dropped;
};

struct dispatcher {
    struct connection *nc;
    int first;
    pthread_t thread;
};

static void subscribe(struct connection *nc, long sid, message_handler handler, void *closure)
{
    memset(nc, 0, sizeof *nc);
    pthread_mutex_init(&nc->sub.lock, NULL);
    nc->sub.sid = sid;
    nc->sub.handler = handler;
    nc->sub.closure = closure;
}

static void auto_unsubscribe(struct connection *nc, int max)
{
    pthread_mutex_lock(&nc->sub.lock);
    nc->sub.max = max;
    pthread_mutex_unlock(&nc->sub.lock);
}

static int sub_wants_more(struct subscription *sub)
{
    int more;
    pthread_mutex_lock(&sub->lock);
    more = !sub->closed && (sub->max == 0 || sub->delivered < sub->max);
    pthread_mutex_unlock(&sub->lock);
    return more;
}

static void sub_delivered(struct subscription *sub)
{
    pthread_mutex_lock(&sub->lock);
    sub->delivered++;
    if (sub->max != 0 && sub->delivered >= sub->max)
        sub->closed = 1;
    pthread_mutex_unlock(&sub->lock);
}

static void process_message(struct connection *nc, const struct message *m)
{
    struct subscription *sub = &nc->sub;
    atomic_fetch_add_explicit(&nc->in_messages, 1, memory_order_relaxed);
    if (!sub_wants_more(sub)) {
        atomic_fetch_add_explicit(&nc->dropped, 1, memory_order_relaxed);
        return;
    }
    sub->handler(m, sub->closure);
    sub_delivered(sub);
}

static void *dispatcher_main(void *arg)
{
    struct dispatcher *d = arg;
    struct message m;
    int i;
    for (i = 0; i < NMESSAGES; i++) {
        snprintf(m.subject, sizeof m.subject, "orders.%d", d->first);
        m.sequence = d->first + i;
        process_message(d->nc, &m);
    }
    return NULL;
}

static void on_order(const struct message *m, void *closure)
{
    atomic_int *handled = closure;
    if (m->sequence >= 0)
        atomic_fetch_add(handled, 1);
}

int main(void)
{
    static struct connection nc;
    struct dispatcher dispatchers[NDISPATCHERS];
    atomic_int handled = 0;
    int i;
    subscribe(&nc, 7, on_order, &handled);
    auto_unsubscribe(&nc, MAX_DELIVERED);
    for (i = 0; i < NDISPATCHERS; i++) {
        dispatchers[i].nc = &nc;
        dispatchers[i].first = 100 * i;
        pthread_create(&dispatchers[i].thread, NULL, dispatcher_main, &dispatchers[i]);
    }
    for (i = 0; i < NDISPATCHERS; i++)
        pthread_join(dispatchers[i].thread, NULL);
    printf("%ld messages, %ld dropped\n", atomic_load(&nc.in_messages), atomic_load(&nc.dropped));
    if (atomic_load(&handled) != MAX_DELIVERED) {
        fprintf(stderr, "subscription %ld: %d messages handled, limit is %d\n", nc.sub.sid, atomic_load(&handled),
                nc.sub.max);
        return 1;
    }
    return 0;
}
