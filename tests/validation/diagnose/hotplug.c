/* Device library: a context with a monitor thread which tells registered
 * callbacks about devices that come and go. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define NEVENTS 5

struct list_head {
    struct list_head *prev, *next;
};

#define list_entry(ptr, type, member) \
    ((type *)((char *)(ptr) - offsetof(type, member)))

enum event { DEVICE_ARRIVED = 1, DEVICE_LEFT = 2 };

struct device {
    struct list_head list;
    int              bus, address;
};

struct context;
typedef void (*hotplug_fn)(struct context *, int address, enum event);

struct hotplug_cb {
    struct list_head list;
    int              events;
    hotplug_fn       fn;
};

struct context {
    int              debug;
    pthread_mutex_t  devs_lock;
    struct list_head devs;
    int              ndevs;

    pthread_mutex_t  cbs_lock;
    struct list_head cbs;
    int              next_handle;

    pthread_t        monitor;
    atomic_int       stop;
    atomic_long      delivered;
    long             polls;         /* monitor thread only */
};

static const struct { int address; enum event event; } pending[NEVENTS] = {
    { 4, DEVICE_ARRIVED }, { 5, DEVICE_ARRIVED }, { 4, DEVICE_LEFT },
    { 7, DEVICE_ARRIVED }, { 5, DEVICE_LEFT },
};

static atomic_int arrivals, departures;
static int last_address;

static void list_init(struct list_head *l)
{
    l->prev = l;
    l->next = l;
}

static void list_add_tail(struct list_head *entry, struct list_head *head)
{
    entry->next = head;
    entry->prev = head->prev;
    head->prev->next = entry;
    head->prev = entry;
}

static void device_add(struct context *ctx, int address)
{
    struct device *d = calloc(1, sizeof(*d));

    if (d == NULL)
        abort();
    d->bus = 1;
    d->address = address;
    pthread_mutex_lock(&ctx->devs_lock);
    list_add_tail(&d->list, &ctx->devs);
    ctx->ndevs++;
    pthread_mutex_unlock(&ctx->devs_lock);
}

static void hotplug_notify(struct context *ctx, int address, enum event event)
{
    struct list_head *p;

    pthread_mutex_lock(&ctx->cbs_lock);
    for (p = ctx->cbs.next; p != &ctx->cbs; p = p->next) {
        struct hotplug_cb *cb = list_entry(p, struct hotplug_cb, list);

        if (cb->events & event)
            cb->fn(ctx, address, event);
    }
    pthread_mutex_unlock(&ctx->cbs_lock);
    atomic_fetch_add(&ctx->delivered, 1);
}

static void *monitor_main(void *arg)
{
    struct context *ctx = arg;

    for (int i = 0; i < NEVENTS && !atomic_load(&ctx->stop); i++) {
        ctx->polls++;
        last_address = pending[i].address;
        if (pending[i].event == DEVICE_ARRIVED)
            device_add(ctx, pending[i].address);
        hotplug_notify(ctx, pending[i].address, pending[i].event);
    }
    return NULL;
}

static int backend_init(struct context *ctx)
{
    return pthread_create(&ctx->monitor, NULL, monitor_main, ctx);
}

static void hotplug_init(struct context *ctx)
{
    pthread_mutex_init(&ctx->cbs_lock, NULL);
    list_init(&ctx->cbs);
    ctx->next_handle = 1;
}

static struct context *context_new(void)
{
    struct context *ctx = calloc(1, sizeof(*ctx));

    if (ctx == NULL)
        abort();
    pthread_mutex_init(&ctx->devs_lock, NULL);
    list_init(&ctx->devs);
    if (backend_init(ctx) != 0) {
        free(ctx);
        return NULL;
    }
    hotplug_init(ctx);
    return ctx;
}

static void hotplug_register(struct context *ctx, int events, hotplug_fn fn)
{
    struct hotplug_cb *cb = calloc(1, sizeof(*cb));

    if (cb == NULL)
        abort();
    cb->events = events;
    cb->fn = fn;
    pthread_mutex_lock(&ctx->cbs_lock);
    ctx->next_handle++;
    list_add_tail(&cb->list, &ctx->cbs);
    pthread_mutex_unlock(&ctx->cbs_lock);
}

static void on_event(struct context *ctx, int address, enum event event)
{
    (void)ctx;
    (void)address;
    atomic_fetch_add(event == DEVICE_ARRIVED ? &arrivals : &departures, 1);
}

int main(void)
{
    struct context *ctx = context_new();

    if (ctx == NULL)
        return 2;
    hotplug_register(ctx, DEVICE_ARRIVED | DEVICE_LEFT, on_event);
    pthread_join(ctx->monitor, NULL);
    printf("%d devices, %ld events, %d callbacks\n", ctx->ndevs, atomic_load(&ctx->delivered),
           atomic_load(&arrivals) + atomic_load(&departures));
    return atomic_load(&ctx->delivered) == NEVENTS ? 0 : 1;
}
