#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHAN_CAP 4
#define TICKS 4
#define BURST 3

struct event {
    unsigned long rev;
    int value;
};

struct chan {
    pthread_mutex_t m;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    struct event ring[CHAN_CAP];
    int head;
    int len;
    int closed;
};

struct store {
    pthread_mutex_t lock;
    unsigned long rev;
    unsigned long compacted;
    int values[8];
    struct chan *watch;
};

static void chan_init(struct chan *c)
{
    pthread_mutex_init(&c->m, NULL);
    pthread_cond_init(&c->not_full, NULL);
    pthread_cond_init(&c->not_empty, NULL);
    c->head = c->len = c->closed = 0;
}

static void chan_send(struct chan *c, struct event e)
{
    pthread_mutex_lock(&c->m);
    while (c->len == CHAN_CAP)
        pthread_cond_wait(&c->not_full, &c->m);
    c->ring[(c->head + c->len) % CHAN_CAP] = e;
    c->len++;
    pthread_cond_signal(&c->not_empty);
    pthread_mutex_unlock(&c->m);
}

static int chan_recv(struct chan *c, struct event *e)
{
    int ok = 0;
    pthread_mutex_lock(&c->m);
    while (c->len == 0 && !c->closed)
        pthread_cond_wait(&c->not_empty, &c->m);
    if (c->len > 0) {
        *e = c->ring[c->head];
        c->head = (c->head + 1) % CHAN_CAP;
        c->len--;
        pthread_cond_signal(&c->not_full);
        ok = 1;
    }
    pthread_mutex_unlock(&c->m);
    return ok;
}

static void chan_close(struct chan *c)
{
    pthread_mutex_lock(&c->m);
    c->closed = 1;
    pthread_cond_broadcast(&c->not_empty);
    pthread_mutex_unlock(&c->m);
}

static void store_put(struct store *s, int key, int value)
{
    struct event e;
    pthread_mutex_lock(&s->lock);
    s->values[key % 8] = value;
    e.rev = ++s->rev;
    e.value = value;
    chan_send(s->watch, e);
    pthread_mutex_unlock(&s->lock);
}

static void store_compact(struct store *s, unsigned long rev)
{
    pthread_mutex_lock(&s->lock);
    if (rev > s->compacted)
        s->compacted = rev;
    pthread_mutex_unlock(&s->lock);
}

static void *watcher(void *arg)
{
    struct store *s = arg;
    struct event e;
    unsigned long seen = 0;
    while (chan_recv(s->watch, &e)) {
        seen++;
        if (e.rev % 4 == 1)
            store_compact(s, e.rev);
    }
    return (void *)seen;
}

int main(void)
{
    static struct chan c;
    static struct store s;
    pthread_t t;
    void *seen;
    int i, j;
    chan_init(&c);
    pthread_mutex_init(&s.lock, NULL);
    s.watch = &c;
    pthread_create(&t, NULL, watcher, &s);
    for (i = 0; i < TICKS; i++) {
        for (j = 0; j < BURST; j++)
            store_put(&s, j, i * BURST + j);
        usleep(1000);
    }
    chan_close(&c);
    pthread_join(t, &seen);
    printf("saw %lu of %lu, compacted %lu\n", (unsigned long)seen, s.rev, s.compacted);
    return (unsigned long)seen == s.rev ? 0 : 1;
}
