#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAXRR 24
#define NUPDATES 5
#define NXFERS 4
#define NSECONDARIES 2

struct rr {
    char owner[8];
    int address;
};

struct zone {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned serial;
    int count;
    struct rr records[MAXRR];
    int loading;
};

struct copy {
    unsigned serial;
    int count;
    struct rr records[MAXRR];
};

struct secondary {
    struct zone *zone;
    struct copy copy;
    int wrong;
    int fresh;
};

static void put(struct rr *r, int n)
{
    r->owner[0] = (char)('a' + n);
    r->owner[1] = 0;
    r->address = 10 + n;
}

static void zone_load(struct zone *z)
{
    int i;
    z->loading = 1;
    for (i = 0; i < 3; i++)
        put(&z->records[i], i);
    z->count = 3;
    z->serial = 100;
    z->loading = 0;
}

static void zone_add(struct zone *z)
{
    pthread_mutex_lock(&z->lock);
    put(&z->records[z->count], z->count);
    z->count++;
    pthread_mutex_unlock(&z->lock);
}

static void zone_bump(struct zone *z)
{
    pthread_mutex_lock(&z->lock);
    z->serial++;
    pthread_cond_broadcast(&z->changed);
    pthread_mutex_unlock(&z->lock);
}

static void zone_update(struct zone *z)
{
    zone_add(z);
    zone_bump(z);
}

static void zone_transfer(struct zone *z, struct copy *c)
{
    pthread_mutex_lock(&z->lock);
    c->serial = z->serial;
    c->count = z->count;
    memcpy(c->records, z->records, sizeof c->records);
    pthread_mutex_unlock(&z->lock);
}

static int zone_wait(struct zone *z, unsigned after)
{
    unsigned now;
    pthread_mutex_lock(&z->lock);
    while (z->serial == after && after < 100 + NUPDATES)
        pthread_cond_wait(&z->changed, &z->lock);
    now = z->serial;
    pthread_mutex_unlock(&z->lock);
    return now != after;
}

static int sound(const struct copy *c)
{
    int i;
    if (c->count != 3 + (int)(c->serial - 100))
        return 0;
    for (i = 0; i < c->count; i++)
        if (c->records[i].address != 10 + i)
            return 0;
    return 1;
}

static void *secondary_main(void *arg)
{
    struct secondary *s = arg;
    int i;
    for (i = 0; i < NXFERS; i++) {
        zone_transfer(s->zone, &s->copy);
        if (!sound(&s->copy))
            s->wrong++;
        s->fresh += zone_wait(s->zone, s->copy.serial);
    }
    return NULL;
}

int main(void)
{
    static struct zone z = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    static struct secondary s[NSECONDARIES];
    pthread_t t[NSECONDARIES];
    int i, wrong = 0;
    zone_load(&z);
    for (i = 0; i < NSECONDARIES; i++) {
        s[i].zone = &z;
        pthread_create(&t[i], NULL, secondary_main, &s[i]);
    }
    for (i = 0; i < NUPDATES; i++)
        zone_update(&z);
    for (i = 0; i < NSECONDARIES; i++) {
        pthread_join(t[i], NULL);
        wrong += s[i].wrong;
    }
    printf("serial %u, %d records, %d wrong transfers\n", z.serial, z.count, wrong);
    return wrong != 0;
}
