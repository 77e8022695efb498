#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NLEASES 6
#define NCLIENTS 2

enum lease_state { LEASE_ACTIVE, LEASE_RELEASED, LEASE_EXPIRED };

struct lease {
    int id;
    enum lease_state state;
    struct timespec deadline;
};

struct lease_table {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lease leases[NLEASES];
    int active;
    int released;
    int expired;
};

struct client {
    pthread_t tid;
    struct lease_table *table;
    int first;
    int won;
    int lost;
};

static void deadline_in(struct timespec *ts, long usec)
{
    clock_gettime(CLOCK_MONOTONIC, ts);
    ts->tv_nsec += usec * 1000;
    while (ts->tv_nsec >= 1000000000L) {
        ts->tv_nsec -= 1000000000L;
        ts->tv_sec++;
    }
}

static int before(const struct timespec *a, const struct timespec *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec;
    return a->tv_nsec < b->tv_nsec;
}

static void table_init(struct lease_table *t)
{
    pthread_condattr_t attr;
    int i;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &attr);
    pthread_condattr_destroy(&attr);
    t->active = NLEASES;
    t->released = 0;
    t->expired = 0;
    for (i = 0; i < NLEASES; i++) {
        t->leases[i].id = i;
        t->leases[i].state = LEASE_ACTIVE;
        deadline_in(&t->leases[i].deadline, 200 * (i + 1));
    }
}

static struct lease *next_deadline(struct lease_table *t)
{
    struct lease *best = NULL;
    int i;
    for (i = 0; i < NLEASES; i++) {
        struct lease *l = &t->leases[i];
        if (l->state != LEASE_ACTIVE)
            continue;
        if (!best || before(&l->deadline, &best->deadline))
            best = l;
    }
    return best;
}

static void *timer_main(void *arg)
{
    struct lease_table *t = arg;
    struct lease *l;
    int rc;
    pthread_mutex_lock(&t->lock);
    while ((l = next_deadline(t)) != NULL) {
        struct timespec until = l->deadline;
        rc = pthread_cond_timedwait(&t->changed, &t->lock, &until);
        if (rc == ETIMEDOUT && l->state == LEASE_ACTIVE) {
            l->state = LEASE_EXPIRED;
            t->expired++;
            t->active--;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static int lease_release(struct lease_table *t, int id)
{
    struct lease *l = &t->leases[id];
    int won = 0;
    pthread_mutex_lock(&t->lock);
    if (l->state == LEASE_ACTIVE) {
        l->state = LEASE_RELEASED;
        t->released++;
        t->active--;
        won = 1;
        pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return won;
}

static void *client_main(void *arg)
{
    struct client *c = arg;
    int id;
    for (id = c->first; id < NLEASES; id += 2) {
        if (lease_release(c->table, id))
            c->won++;
        else
            c->lost++;
    }
    return NULL;
}

int main(void)
{
    static struct lease_table table;
    struct client c[NCLIENTS];
    pthread_t timer;
    int won = 0;
    int lost = 0;
    int i;
    table_init(&table);
    pthread_create(&timer, NULL, timer_main, &table);
    for (i = 0; i < NCLIENTS; i++) {
        c[i].table = &table;
        c[i].first = i;
        c[i].won = 0;
        c[i].lost = 0;
        pthread_create(&c[i].tid, NULL, client_main, &c[i]);
    }
    for (i = 0; i < NCLIENTS; i++) {
        pthread_join(c[i].tid, NULL);
        won += c[i].won;
        lost += c[i].lost;
    }
    pthread_join(timer, NULL);
    pthread_cond_destroy(&table.changed);
    pthread_mutex_destroy(&table.lock);
    printf("released %d expired %d\n", table.released, table.expired);
    if (table.active != 0 || won != table.released)
        return 1;
    return lost == table.expired ? 0 : 1;
}
