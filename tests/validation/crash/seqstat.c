#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NDEVICES 2
#define NSAMPLES 10
#define ROUNDS 4

struct slot {
    atomic_uint seq;
    atomic_int total;
    atomic_int used[NDEVICES];
    atomic_int allocations;
};

struct usage {
    int total;
    int used[NDEVICES];
};

struct sample {
    struct usage usage;
    int number;
};

struct row {
    int number;
    int base;
    int part[NDEVICES];
};

static struct slot slot;
static struct sample history[NSAMPLES];
static int nsamples;

static void slot_enter(struct slot *s)
{
    atomic_fetch_add(&s->seq, 1);
}

static void slot_leave(struct slot *s)
{
    atomic_fetch_add(&s->seq, 1);
}

static void slot_charge(struct slot *s, int device, int pages)
{
    slot_enter(s);
    atomic_fetch_add(&s->used[device], pages);
    atomic_fetch_add(&s->total, pages);
    atomic_fetch_add(&s->allocations, 1);
    slot_leave(s);
}

static void slot_uncharge(struct slot *s, int device, int pages)
{
    slot_enter(s);
    atomic_fetch_sub(&s->total, pages);
    atomic_fetch_sub(&s->used[device], pages);
    slot_leave(s);
}

static void slot_snapshot(struct slot *s, struct usage *u)
{
    unsigned before, after;
    int i;
    do {
        while ((before = atomic_load(&s->seq)) & 1)
            sched_yield();
        u->total = atomic_load(&s->total);
        for (i = 0; i < NDEVICES; i++)
            u->used[i] = atomic_load(&s->used[i]);
        after = atomic_load(&s->seq);
    } while (before != after);
}

static void *task_main(void *arg)
{
    int device = *(const int *)arg;
    int round;
    for (round = 0; round < ROUNDS; round++) {
        slot_charge(&slot, device, 8 + device);
        slot_uncharge(&slot, device, 8 + device);
    }
    return NULL;
}

static void *monitor_main(void *arg)
{
    while (nsamples < NSAMPLES) {
        struct sample *s = &history[nsamples];
        slot_snapshot(&slot, &s->usage);
        s->number = nsamples++;
        sched_yield();
    }
    return arg;
}

static void fill_row(struct row *r, const struct sample *s)
{
    int i;
    r->number = s->number;
    r->base = s->usage.total;
    for (i = 0; i < NDEVICES; i++)
        r->part[i] = s->usage.used[i];
}

static int share(const struct row *r, int device)
{
    if (r->part[device] == 0)
        return 0;
    return 100 * r->part[device] / r->base;
}

static void print_rows(void)
{
    struct row rows[NSAMPLES];
    int i;
    for (i = 0; i < nsamples; i++)
        fill_row(&rows[i], &history[i]);
    for (i = 0; i < nsamples; i++)
        printf("%d: %d%% %d%%\n", rows[i].number, share(&rows[i], 0), share(&rows[i], 1));
}

int main(void)
{
    static const int devices[NDEVICES] = { 0, 1 };
    pthread_t tasks[NDEVICES], monitor;
    int i;
    pthread_create(&monitor, NULL, monitor_main, NULL);
    for (i = 0; i < NDEVICES; i++)
        pthread_create(&tasks[i], NULL, task_main, (void *)&devices[i]);
    for (i = 0; i < NDEVICES; i++)
        pthread_join(tasks[i], NULL);
    pthread_join(monitor, NULL);
    print_rows();
    return atomic_load(&slot.total) != 0 || atomic_load(&slot.allocations) != NDEVICES * ROUNDS;
}
