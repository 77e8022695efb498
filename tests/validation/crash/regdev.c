#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING 16
#define NDEV 4
#define NPOLL 60

struct device;

struct dev_ops {
    int (*poll)(struct device *dev, int budget);
};

struct ring {
    int head;
    int tail;
    int slot[RING];
};

struct device {
    char name[16];
    int up;
    const struct dev_ops *ops;
    struct ring *rx;
    struct device *next;
};

struct bus {
    pthread_mutex_t lock;
    struct device *devs;
    int idle;
    int polled;
};

static int ring_take(struct ring *r)
{
    int v;
    if (r->head == r->tail)
        return -1;
    v = r->slot[r->tail];
    r->tail = (r->tail + 1) % RING;
    return v;
}

static void ring_fill(struct ring *r, int seed)
{
    for (int i = 0; i < 6; i++) {
        r->slot[r->head] = seed + i;
        r->head = (r->head + 1) % RING;
    }
}

static int eth_poll(struct device *dev, int budget)
{
    int n = 0;
    while (n < budget) {
        int v = ring_take(dev->rx);
        if (v < 0)
            break;
        n++;
    }
    return n;
}

static const struct dev_ops eth_ops = { eth_poll };

static void bus_register(struct bus *b, struct device *dev)
{
    pthread_mutex_lock(&b->lock);
    dev->up = 1;
    dev->next = b->devs;
    b->devs = dev;
    pthread_mutex_unlock(&b->lock);
}

static struct device *device_alloc(const char *kind, int index)
{
    struct device *dev = calloc(1, sizeof(*dev));
    snprintf(dev->name, sizeof(dev->name), "%s%d", kind, index);
    dev->ops = &eth_ops;
    return dev;
}

static struct device *eth_probe(struct bus *b, int index)
{
    struct device *dev = device_alloc("eth", index);
    struct ring *rx = calloc(1, sizeof(*rx));
    ring_fill(rx, index * 100);
    bus_register(b, dev);
    dev->rx = rx;
    return dev;
}

static int bus_poll(struct bus *b)
{
    int work = 0;
    pthread_mutex_lock(&b->lock);
    for (struct device *d = b->devs; d != NULL; d = d->next) {
        if (!d->up)
            continue;
        work += d->ops->poll(d, 2);
    }
    b->polled += work;
    pthread_mutex_unlock(&b->lock);
    return work;
}

static void *poller_main(void *arg)
{
    struct bus *b = arg;
    int idle = 0;
    for (int i = 0; i < NPOLL; i++) {
        if (bus_poll(b) == 0)
            idle++;
    }
    pthread_mutex_lock(&b->lock);
    b->idle = idle;
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void bus_free(struct bus *b)
{
    while (b->devs != NULL) {
        struct device *d = b->devs;
        b->devs = d->next;
        free(d->rx);
        free(d);
    }
}

int main(void)
{
    static struct bus bus;
    pthread_t poller;

    pthread_mutex_init(&bus.lock, NULL);
    eth_probe(&bus, 0);
    pthread_create(&poller, NULL, poller_main, &bus);
    for (int i = 1; i < NDEV; i++)
        eth_probe(&bus, i);
    pthread_join(poller, NULL);

    printf("polled %d packets, %d idle rounds\n",
           bus.polled, bus.idle);
    bus_free(&bus);
    return 0;
}
