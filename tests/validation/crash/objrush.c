#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NCLIENTS 3
#define NOBJECTS 2

struct waiter {
    struct waiter *next;
    sem_t wake;
};

struct object {
    pthread_mutex_t lock;
    struct waiter *waiting;
    int busy;
    int length;
    int hits;
};

struct client {
    long bytes;
    int waits;
    pthread_t thread;
};

static struct object objects[NOBJECTS];
static atomic_int rushed;

static void object_init(struct object *o)
{
    pthread_mutex_init(&o->lock, NULL);
    o->busy = 1;
}

static int enlist(struct object *o, struct waiter *w)
{
    int busy;
    pthread_mutex_lock(&o->lock);
    busy = o->busy;
    if (busy) {
        w->next = o->waiting;
        o->waiting = w;
    } else {
        o->hits++;
    }
    pthread_mutex_unlock(&o->lock);
    return busy;
}

static struct waiter *detach_waiters(struct object *o)
{
    struct waiter *w;
    pthread_mutex_lock(&o->lock);
    w = o->waiting;
    o->waiting = NULL;
    pthread_mutex_unlock(&o->lock);
    return w;
}

static void unbusy(struct object *o, int length)
{
    pthread_mutex_lock(&o->lock);
    o->length = length;
    o->busy = 0;
    pthread_mutex_unlock(&o->lock);
}

static void rush(struct waiter *w)
{
    while (w != NULL) {
        struct waiter *next = w->next;
        atomic_fetch_add_explicit(&rushed, 1, memory_order_relaxed);
        sem_post(&w->wake);
        w = next;
    }
}

static void fetch_done(struct object *o, int length)
{
    struct waiter *list = detach_waiters(o);
    unbusy(o, length);
    rush(list);
}

static int lookup(struct object *o, struct client *c)
{
    struct waiter w;
    int length;
    w.next = NULL;
    sem_init(&w.wake, 0, 0);
    while (enlist(o, &w)) {
        c->waits++;
        sem_wait(&w.wake);
    }
    sem_destroy(&w.wake);
    pthread_mutex_lock(&o->lock);
    length = o->length;
    pthread_mutex_unlock(&o->lock);
    return length;
}

static void *client_main(void *arg)
{
    struct client *c = arg;
    int i;
    for (i = 0; i < NOBJECTS; i++)
        c->bytes += lookup(&objects[i], c);
    return NULL;
}

static void *fetcher_main(void *arg)
{
    int i;
    (void)arg;
    for (i = 0; i < NOBJECTS; i++)
        fetch_done(&objects[i], 100 * (i + 1));
    return NULL;
}

int main(void)
{
    static struct client clients[NCLIENTS];
    pthread_t fetcher;
    long bytes = 0;
    int i, waits = 0;
    for (i = 0; i < NOBJECTS; i++)
        object_init(&objects[i]);
    for (i = 0; i < NCLIENTS; i++)
        pthread_create(&clients[i].thread, NULL, client_main, &clients[i]);
    pthread_create(&fetcher, NULL, fetcher_main, NULL);
    for (i = 0; i < NCLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        bytes += clients[i].bytes;
        waits += clients[i].waits;
    }
    pthread_join(fetcher, NULL);
    printf("%ld bytes, %d waits, %d rushed\n", bytes, waits, atomic_load(&rushed));
    return bytes != 300 * NCLIENTS;
}
