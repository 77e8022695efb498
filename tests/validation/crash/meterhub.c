/* Metering hub of a building controller.  Gateways attach a meter each,
   record readings through it and keep the number of its slot; a probe is
   detached again after the test run.  The report goes by slot numbers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 8
#define GATEWAYS 3

struct meter {
    char name[24];
    long total;
    int readings;
};

struct channel {
    char name[24];
    int transient;
    int slot;
    int readings;
};

struct hub {
    pthread_mutex_t lock;
    struct meter *meter[SLOTS];
    int busy[SLOTS];
    int attached;
    int generation;
    time_t last_attach;
};

struct plan {
    int order[SLOTS];
    const char *title[SLOTS];
    int n;
};

static struct hub hub = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct channel channels[GATEWAYS];
static int verbose;
static long total_readings;

static int hub_free_slot(void)
{
    int i, slot = -1;

    pthread_mutex_lock(&hub.lock);
    for (i = 0; i < SLOTS && slot < 0; i++)
        if (!hub.busy[i])
            slot = i;
    pthread_mutex_unlock(&hub.lock);
    return slot;
}

static struct meter *meter_new(const char *name)
{
    struct meter *m = calloc(1, sizeof *m);

    if (!m)
        exit(1);
    snprintf(m->name, sizeof m->name, "%s", name);
    return m;
}

static struct meter *hub_attach(struct channel *ch)
{
    struct meter *m;
    int slot = hub_free_slot();

    if (slot < 0)
        return NULL;
    m = meter_new(ch->name);
    pthread_mutex_lock(&hub.lock);
    hub.busy[slot] = 1;
    hub.meter[slot] = m;
    hub.attached++;
    pthread_mutex_unlock(&hub.lock);
    hub.generation++;
    hub.last_attach = time(NULL);
    ch->slot = slot;
    return m;
}

static void hub_detach(struct channel *ch)
{
    pthread_mutex_lock(&hub.lock);
    free(hub.meter[ch->slot]);
    hub.meter[ch->slot] = NULL;
    hub.busy[ch->slot] = 0;
    hub.attached--;
    pthread_mutex_unlock(&hub.lock);
    ch->slot = -1;
}

static void *gateway(void *arg)
{
    struct channel *ch = arg;
    struct meter *m = hub_attach(ch);
    int i;

    if (!m)
        return NULL;
    for (i = 0; i < ch->readings; i++) {
        m->total += (i * 7) % 13;
        m->readings++;
        total_readings++;
        if (verbose)
            printf("%s %ld\n", m->name, m->total);
    }
    return NULL;
}

static void plan_report(struct plan *p)
{
    int i;

    p->n = 0;
    for (i = 0; i < GATEWAYS; i++) {
        if (channels[i].slot < 0)
            continue;
        p->order[p->n] = channels[i].slot;
        p->title[p->n++] = channels[i].name;
    }
}

static void print_report(const struct plan *p)
{
    int i;

    printf("%d meters, generation %d, about %ld readings\n", hub.attached,
           hub.generation, total_readings);
    for (i = 0; i < p->n; i++) {
        const struct meter *m = hub.meter[p->order[i]];

        printf("%-10s %6ld in %d\n", p->title[i], m->total, m->readings);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[GATEWAYS] = { "boiler", "probe", "roof" };
    pthread_t th[GATEWAYS];
    struct plan plan;
    int i;

    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    for (i = 0; i < GATEWAYS; i++) {
        snprintf(channels[i].name, sizeof channels[i].name, "%s", names[i]);
        channels[i].transient = i == 1;
        channels[i].slot = -1;
        channels[i].readings = 20 + 10 * i;
    }
    for (i = 0; i < GATEWAYS; i++)
        pthread_create(&th[i], NULL, gateway, &channels[i]);
    for (i = 0; i < GATEWAYS; i++)
        pthread_join(th[i], NULL);
    for (i = 0; i < GATEWAYS; i++)
        if (channels[i].transient && channels[i].slot >= 0)
            hub_detach(&channels[i]);
    plan_report(&plan);
    print_report(&plan);
    return 0;
}
