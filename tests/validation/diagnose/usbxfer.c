#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NXFER 4

enum { IDLE, SUBMITTED, COMPLETED, CANCELLED, REAPED };

struct transfer {
    atomic_int state;
    unsigned timeout;
    unsigned length;
    unsigned actual;
};

struct context {
    pthread_mutex_t flying_lock;
    struct transfer xfer[NXFER];
    int flying;
    int reaped;
    int cancelled;
};

static unsigned crc(unsigned x)
{
    int i;
    for (i = 0; i < 20000; i++)
        x = x * 2654435761u + 7u;
    return x;
}

static void submit(struct context *c, int i, unsigned timeout)
{
    struct transfer *t = &c->xfer[i];
    pthread_mutex_lock(&c->flying_lock);
    t->timeout = timeout;
    t->length = 64u << i;
    c->flying++;
    atomic_store(&t->state, SUBMITTED);
    pthread_mutex_unlock(&c->flying_lock);
}

static void reap(struct context *c, struct transfer *t)
{
    pthread_mutex_lock(&c->flying_lock);
    if (atomic_load(&t->state) == COMPLETED) {
        atomic_store(&t->state, REAPED);
        c->flying--;
        c->reaped++;
    }
    pthread_mutex_unlock(&c->flying_lock);
}

static void cancel(struct context *c, struct transfer *t)
{
    int want = SUBMITTED;
    if (atomic_compare_exchange_strong(&t->state, &want, CANCELLED)) {
        c->flying--;
        c->cancelled++;
    } else if (want == COMPLETED) {
        reap(c, t);
    }
}

static void handle_timeouts(struct context *c, unsigned now)
{
    int i;
    pthread_mutex_lock(&c->flying_lock);
    for (i = 0; i < NXFER; i++) {
        struct transfer *t = &c->xfer[i];
        if (atomic_load(&t->state) == SUBMITTED && t->timeout <= now)
            cancel(c, t);
    }
    pthread_mutex_unlock(&c->flying_lock);
}

static void *device_main(void *arg)
{
    struct context *c = arg;
    int i;
    for (i = 0; i < NXFER; i++) {
        struct transfer *t = &c->xfer[i];
        unsigned data = crc(t->length) % t->length;
        int want = SUBMITTED;
        if (atomic_compare_exchange_strong(&t->state, &want, COMPLETED))
            t->actual = data;
    }
    return NULL;
}

int main(void)
{
    static struct context c;
    pthread_t dev;
    int i;
    pthread_mutex_init(&c.flying_lock, NULL);
    for (i = 0; i < NXFER; i++)
        submit(&c, i, (unsigned)i);
    pthread_create(&dev, NULL, device_main, &c);
    for (i = 0; i < 3; i++)
        handle_timeouts(&c, (unsigned)i);
    pthread_join(dev, NULL);
    for (i = 0; i < NXFER; i++)
        reap(&c, &c.xfer[i]);
    printf("%d reaped, %d cancelled\n", c.reaped, c.cancelled);
    return c.flying == 0 && c.reaped + c.cancelled == NXFER ? 0 : 1;
}
