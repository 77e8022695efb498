#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NREQ 3

struct geometry {
    unsigned sector;
    unsigned sectors;
    char model[12];
};

struct request {
    unsigned long offset;
    struct geometry geo;
    unsigned long lba;
};

struct controller {
    sem_t ready;
    pthread_mutex_t lock;
    struct geometry geo;
    int probed;
    unsigned long sum;
};

static struct controller ctl;

static unsigned checksum(const char *s)
{
    unsigned h = 17;
    while (*s)
        h = h * 31 + (unsigned char)*s++;
    return h;
}

static void identify(struct geometry *g, const char *model)
{
    memset(g, 0, sizeof *g);
    snprintf(g->model, sizeof g->model, "%s", model);
    g->sector = checksum(model) % 2 ? 512 : 4096;
    g->sectors = 8192;
}

static void set_geometry(struct controller *c, const struct geometry *g)
{
    pthread_mutex_lock(&c->lock);
    c->geo = *g;
    pthread_mutex_unlock(&c->lock);
}

static void *probe_main(void *arg)
{
    struct controller *c = arg;
    struct geometry g;
    pthread_mutex_lock(&c->lock);
    c->probed = 1;
    pthread_mutex_unlock(&c->lock);
    sem_post(&c->ready);
    identify(&g, "ST3120A");
    set_geometry(c, &g);
    return NULL;
}

static void request_init(struct request *r, struct controller *c, unsigned long off)
{
    pthread_mutex_lock(&c->lock);
    r->geo = c->geo;
    pthread_mutex_unlock(&c->lock);
    r->offset = off;
}

static void translate(struct request *r)
{
    unsigned size = r->geo.sector;
    r->lba = r->offset / size;
}

static unsigned long submit(struct controller *c, unsigned long off)
{
    struct request r;
    request_init(&r, c, off);
    translate(&r);
    return r.lba;
}

int main(void)
{
    pthread_t t;
    int i;
    sem_init(&ctl.ready, 0, 0);
    pthread_mutex_init(&ctl.lock, NULL);
    pthread_create(&t, NULL, probe_main, &ctl);
    sem_wait(&ctl.ready);
    usleep(500);
    for (i = 0; i < NREQ; i++)
        ctl.sum += submit(&ctl, 8192ul * (unsigned)i);
    pthread_join(t, NULL);
    printf("probed %d, sum %lu\n", ctl.probed, ctl.sum);
    return ctl.sum > 0 ? 0 : 1;
}
