#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPEER 3
#define TICKS 40
#define TRANSFERS 8

struct peer {
    int id;
    int allowance;
    struct peer *next;
};

struct group {
    pthread_mutex_t lock;
    struct peer *active;
    int nactive;
    int limit;
    int last_share;
    unsigned long trace;
};

struct runner {
    struct group *g;
    struct peer peer;
    pthread_t tid;
    long moved;
};

static void group_join(struct group *g, struct peer *p)
{
    pthread_mutex_lock(&g->lock);
    p->allowance = 0;
    p->next = g->active;
    g->active = p;
    g->nactive++;
    pthread_mutex_unlock(&g->lock);
}

static void group_leave(struct group *g, struct peer *p)
{
    struct peer **pp;
    pthread_mutex_lock(&g->lock);
    pp = &g->active;
    while (*pp != p)
        pp = &(*pp)->next;
    *pp = p->next;
    g->nactive--;
    pthread_mutex_unlock(&g->lock);
}

static int group_idle(struct group *g)
{
    int idle;
    pthread_mutex_lock(&g->lock);
    idle = g->nactive == 0;
    pthread_mutex_unlock(&g->lock);
    return idle;
}

static int group_share(struct group *g)
{
    int share;
    pthread_mutex_lock(&g->lock);
    share = g->limit / g->nactive;
    g->last_share = share;
    pthread_mutex_unlock(&g->lock);
    return share;
}

static void group_grant(struct group *g, int share)
{
    pthread_mutex_lock(&g->lock);
    for (struct peer *p = g->active; p != NULL; p = p->next) {
        p->allowance += share;
        if (p->allowance > g->limit)
            p->allowance = g->limit;
    }
    pthread_mutex_unlock(&g->lock);
}

static void *shaper_main(void *arg)
{
    struct group *g = arg;
    int share;
    for (int i = 0; i < TICKS; i++) {
        g->trace++;
        if (group_idle(g))
            continue;
        share = group_share(g);
        group_grant(g, share);
    }
    return NULL;
}

static long transfer(struct group *g, struct peer *p)
{
    long n;
    pthread_mutex_lock(&g->lock);
    n = p->allowance;
    p->allowance = 0;
    pthread_mutex_unlock(&g->lock);
    return n;
}

static void *runner_main(void *arg)
{
    struct runner *r = arg;
    for (int i = 0; i < TRANSFERS; i++) {
        group_join(r->g, &r->peer);
        r->g->trace++;
        for (int k = 0; k < 3; k++)
            r->moved += transfer(r->g, &r->peer);
        group_leave(r->g, &r->peer);
    }
    return NULL;
}

int main(void)
{
    static struct group g;
    static struct runner run[NPEER];
    pthread_t shaper;
    long moved = 0;

    pthread_mutex_init(&g.lock, NULL);
    g.limit = 3000;
    pthread_create(&shaper, NULL, shaper_main, &g);
    for (int i = 0; i < NPEER; i++) {
        run[i].g = &g;
        run[i].peer.id = i;
        pthread_create(&run[i].tid, NULL, runner_main, &run[i]);
    }
    for (int i = 0; i < NPEER; i++) {
        pthread_join(run[i].tid, NULL);
        moved += run[i].moved;
    }
    pthread_join(shaper, NULL);

    printf("moved %ld, last share %d, trace ~%lu\n",
           moved, g.last_share, g.trace);
    return 0;
}
