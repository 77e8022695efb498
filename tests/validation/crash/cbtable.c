#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NENTRIES 4
#define NEVENTS 6
#define NROUNDS 3

struct plugin {
    int id;
    int events;
    int last;
};

typedef void (*handler_fn)(struct plugin *, int);

struct entry {
    _Atomic(handler_fn) handler;
    _Atomic(struct plugin *) context;
    int topic;
};

struct bus {
    struct entry entries[NENTRIES];
    pthread_mutex_t stat_lock;
    unsigned long published;
    unsigned long delivered;
};

static struct bus bus = { .stat_lock = PTHREAD_MUTEX_INITIALIZER };

static void on_count(struct plugin *p, int event)
{
    p->events++;
    p->last = event;
}

static void on_trace(struct plugin *p, int event)
{
    p->last = event * 2 + p->id;
}

static void entry_set(struct entry *e, handler_fn fn, struct plugin *p)
{
    atomic_store(&e->context, p);
    atomic_store(&e->handler, fn);
}

static void entry_clear(struct entry *e)
{
    atomic_store(&e->context, NULL);
    atomic_store(&e->handler, NULL);
}

static void bus_account(struct bus *b, int delivered)
{
    pthread_mutex_lock(&b->stat_lock);
    b->published++;
    b->delivered += (unsigned long)delivered;
    pthread_mutex_unlock(&b->stat_lock);
}

static void publish(struct bus *b, int event)
{
    int i, n = 0;
    for (i = 0; i < NENTRIES; i++) {
        struct entry *e = &b->entries[i];
        handler_fn fn = atomic_load(&e->handler);
        struct plugin *p;
        if (fn == NULL || e->topic != event % 2)
            continue;
        p = atomic_load(&e->context);
        fn(p, event);
        n++;
    }
    bus_account(b, n);
}

static void *plugin_main(void *arg)
{
    struct plugin *p = arg;
    struct entry *e = &bus.entries[p->id];
    int i;
    for (i = 0; i < NROUNDS; i++) {
        entry_set(e, on_trace, p);
        entry_clear(e);
    }
    return NULL;
}

int main(void)
{
    static struct plugin plugins[NENTRIES];
    pthread_t t[2];
    int i;
    for (i = 0; i < NENTRIES; i++) {
        plugins[i].id = i;
        bus.entries[i].topic = i % 2;
    }
    entry_set(&bus.entries[0], on_count, &plugins[0]);
    entry_set(&bus.entries[1], on_count, &plugins[1]);
    for (i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, plugin_main, &plugins[i + 2]);
    for (i = 0; i < NEVENTS; i++) {
        publish(&bus, i);
    }
    for (i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%lu events, counted %d\n", bus.published, plugins[0].events + plugins[1].events);
    return plugins[0].events + plugins[1].events != NEVENTS;
}
