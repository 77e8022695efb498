#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NPEERS 5
#define NPROBES 6

struct peer {
    int id;
    int alive;
    unsigned load;
};

struct cluster {
    pthread_mutex_t peers_lock;
    struct peer peers[NPEERS];
    atomic_int healthy;
    atomic_ulong recounts;
};

struct leader {
    pthread_mutex_t lock;
    int leading;
    int commits;
    int stepdowns;
};

static struct cluster cluster = { .peers_lock = PTHREAD_MUTEX_INITIALIZER };
static struct leader leader = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned ping(const struct peer *p)
{
    unsigned h = (unsigned)p->id + 1;
    int i;
    for (i = 0; i < 40; i++)
        h = h * 2246822519u + 3u;
    return h >> 16;
}

static void recount(struct cluster *c)
{
    int i;
    pthread_mutex_lock(&c->peers_lock);
    atomic_store(&c->healthy, 0);
    for (i = 0; i < NPEERS; i++) {
        struct peer *p = &c->peers[i];
        p->load = ping(p);
        if (p->alive)
            atomic_fetch_add(&c->healthy, 1);
    }
    pthread_mutex_unlock(&c->peers_lock);
    atomic_fetch_add(&c->recounts, 1);
}

static int has_quorum(struct cluster *c)
{
    return atomic_load(&c->healthy) > NPEERS / 2;
}

static void *health_main(void *arg)
{
    struct cluster *c = arg;
    int i;
    for (i = 0; i < 3; i++) {
        recount(c);
        pthread_mutex_lock(&c->peers_lock);
        c->peers[i].load = 0;
        pthread_mutex_unlock(&c->peers_lock);
    }
    return NULL;
}

static void try_commit(struct leader *l, struct cluster *c)
{
    int ok = has_quorum(c);
    pthread_mutex_lock(&l->lock);
    if (ok)
        l->commits++;
    else {
        l->leading = 0;
        l->stepdowns++;
    }
    pthread_mutex_unlock(&l->lock);
}

static void cluster_init(struct cluster *c)
{
    int i;
    for (i = 0; i < NPEERS; i++) {
        c->peers[i].id = i;
        c->peers[i].alive = i != 3;
    }
    recount(c);
}

int main(void)
{
    pthread_t t;
    int i;
    cluster_init(&cluster);
    leader.leading = 1;
    pthread_create(&t, NULL, health_main, &cluster);
    for (i = 0; i < NPROBES; i++)
        try_commit(&leader, &cluster);
    pthread_join(t, NULL);
    printf("%d commits, %d step-downs, %lu recounts\n", leader.commits,
           leader.stepdowns, atomic_load(&cluster.recounts));
    if (!leader.leading)
        abort();
    return leader.commits == NPROBES ? 0 : 1;
}
