#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTIMERS 4
#define QLEN 8

struct net_device;

struct timer {
    struct net_device *dev;
    void (*fn)(struct net_device *);
    int pending;
};

struct wheel {
    pthread_t thread;
    pthread_mutex_t lock;
    struct timer *slots[NTIMERS];
    int stop;
    int fired;
};

struct net_device {
    char name[8];
    struct timer watchdog;
    unsigned *queue;
    unsigned timeouts;
};

static struct wheel wheel;

static void tx_timeout(struct net_device *dev)
{
    unsigned sum = 0;
    int i;
    for (i = 0; i < QLEN; i++)
        sum += dev->queue[i];
    if (sum > 0)
        dev->timeouts++;
}

static void timer_add(struct timer *t, int slot)
{
    pthread_mutex_lock(&wheel.lock);
    t->pending = 1;
    wheel.slots[slot] = t;
    pthread_mutex_unlock(&wheel.lock);
}

static int timer_del(struct timer *t)
{
    int was;
    pthread_mutex_lock(&wheel.lock);
    was = t->pending;
    t->pending = 0;
    pthread_mutex_unlock(&wheel.lock);
    return was;
}

static void run_slot(int slot)
{
    struct timer *t;
    pthread_mutex_lock(&wheel.lock);
    t = wheel.slots[slot];
    wheel.slots[slot] = NULL;
    if (t && !t->pending)
        t = NULL;
    if (t) {
        t->pending = 0;
        wheel.fired++;
    }
    pthread_mutex_unlock(&wheel.lock);
    if (t)
        t->fn(t->dev);
}

static void *wheel_main(void *arg)
{
    int slot;
    for (slot = 0; slot < NTIMERS; slot++)
        run_slot(slot);
    return arg;
}

static void dev_open(struct net_device *dev, const char *name, int slot)
{
    snprintf(dev->name, sizeof dev->name, "%s", name);
    dev->queue = calloc(QLEN, sizeof *dev->queue);
    dev->queue[0] = 1;
    dev->watchdog.dev = dev;
    dev->watchdog.fn = tx_timeout;
    timer_add(&dev->watchdog, slot);
}

static int dev_close(struct net_device *dev)
{
    int was = timer_del(&dev->watchdog);
    free(dev->queue);
    dev->queue = NULL;
    return was;
}

int main(void)
{
    static struct net_device dev[2];
    int removed = 0;
    int i;
    pthread_mutex_init(&wheel.lock, NULL);
    dev_open(&dev[0], "eth0", 1);
    dev_open(&dev[1], "eth1", 3);
    pthread_create(&wheel.thread, NULL, wheel_main, NULL);
    for (i = 0; i < 2; i++)
        removed += dev_close(&dev[i]);
    pthread_join(wheel.thread, NULL);
    printf("%d removed, %d fired\n", removed, wheel.fired);
    return removed + wheel.fired == 2 ? 0 : 1;
}
