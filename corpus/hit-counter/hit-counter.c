/* Request handlers with a load indicator. Every handler counts hits in one
 * shared number that only serves to choose how often the load is looked at and
 * what the status page says about it; what has been handled is added up
 * exactly, per handler. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define HANDLERS 3
#define REQUESTS 120
#define LIGHT_LOAD 100000

struct load {
    long hits; /* an estimate */
    long looks;
};

struct handler {
    struct load *load;
    int number;
    long handled;
    long cost;
};

struct totals {
    pthread_mutex_t lock;
    long handled;
    long cost;
};

static struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void load_hit(struct load *l)
{
    long seen = l->hits;
    if (seen == REQUESTS / 2) PAUSE(10);
    l->hits = seen + 1;
}

/* Two words for the status page. */
static const char *load_describe(const struct load *l)
{
    return l->hits < LIGHT_LOAD ? "light load" : "heavy load";
}

/* The cost of a request follows from its address. */
static long handle(int handler, int request)
{
    char address[48];
    uint32_t h = 2166136261u;

    snprintf(address, sizeof address, "/handler/%d/request/%d", handler, request);
    for (int r = 0; r < 12; r++)
        for (const char *p = address; *p != '\0'; p++)
            h = (h ^ (unsigned char)*p) * 16777619u;
    return (long)(h % 97);
}

static void *handler_main(void *arg)
{
    struct handler *h = arg;

    for (int i = 0; i < REQUESTS; i++) {
        h->cost += handle(h->number, i);
        h->handled++;
        load_hit(h->load);
    }
    pthread_mutex_lock(&totals.lock);
    totals.handled += h->handled;
    totals.cost += h->cost;
    pthread_mutex_unlock(&totals.lock);
    return NULL;
}

/* Looks at the load now and then while the handlers run. */
static void *status_main(void *arg)
{
    struct load *l = arg;
    char page[64];

    for (int i = 0; i < 20; i++) {
        snprintf(page, sizeof page, "status: %s", load_describe(l));
        l->looks++;
    }
    return NULL;
}

int main(void)
{
    static struct load load;
    struct handler handler[HANDLERS];
    pthread_t thread[HANDLERS], status;

    for (int i = 0; i < HANDLERS; i++) {
        handler[i] = (struct handler){.load = &load, .number = i};
        if (pthread_create(&thread[i], NULL, handler_main, &handler[i]) != 0)
            return 2;
    }
    if (pthread_create(&status, NULL, status_main, &load) != 0)
        return 2;
    for (int i = 0; i < HANDLERS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(status, NULL);
    printf("%ld requests, cost %ld, %s\n", totals.handled, totals.cost, load_describe(&load));
    return 0;
}
