#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NLEASES 4

struct binding {
    unsigned addr;
    unsigned mac;
};

struct lease {
    int id;
    int deadline;
    struct binding *bind;
};

struct batch {
    int ids[NLEASES];
    int n;
};

struct server {
    pthread_mutex_t lock;
    pthread_mutex_t stats_lock;
    struct lease lease[NLEASES];
    int now;
    int revoked;
    int renewed;
};

static struct server srv;

static void lease_grant(struct server *s, int id, int deadline)
{
    s->lease[id].id = id;
    s->lease[id].deadline = deadline;
    s->lease[id].bind = malloc(sizeof(struct binding));
    s->lease[id].bind->addr = 0x0a000000u + (unsigned)id;
    s->lease[id].bind->mac = (unsigned)id * 17;
}

static void collect_expired(struct server *s, struct batch *b)
{
    int i;
    b->n = 0;
    pthread_mutex_lock(&s->lock);
    s->now++;
    for (i = 0; i < NLEASES; i++)
        if (s->lease[i].bind && s->lease[i].deadline < s->now)
            b->ids[b->n++] = i;
    pthread_mutex_unlock(&s->lock);
}

static void lease_revoke(struct server *s, int id)
{
    struct lease *l = &s->lease[id];
    pthread_mutex_lock(&s->lock);
    free(l->bind);
    l->bind = NULL;
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->stats_lock);
    s->revoked++;
    pthread_mutex_unlock(&s->stats_lock);
}

static void *expirer(void *arg)
{
    struct server *s = arg;
    struct batch b;
    int round, i;
    for (round = 0; round < 3; round++) {
        collect_expired(s, &b);
        for (i = 0; i < b.n; i++)
            lease_revoke(s, b.ids[i]);
    }
    return NULL;
}

static int renew(struct server *s, int id)
{
    int ok = 0;
    pthread_mutex_lock(&s->lock);
    if (s->lease[id].bind) {
        s->lease[id].deadline = s->now + 10;
        s->renewed++;
        ok = 1;
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

static unsigned address_of(struct server *s, int id)
{
    unsigned a;
    pthread_mutex_lock(&s->lock);
    a = s->lease[id].bind->addr;
    pthread_mutex_unlock(&s->lock);
    return a;
}

int main(void)
{
    pthread_t t;
    unsigned addr = 0;
    int held, i;
    pthread_mutex_init(&srv.lock, NULL);
    pthread_mutex_init(&srv.stats_lock, NULL);
    for (i = 0; i < NLEASES; i++)
        lease_grant(&srv, i, i);
    pthread_create(&t, NULL, expirer, &srv);
    held = renew(&srv, 1);
    pthread_join(t, NULL);
    if (held)
        addr = address_of(&srv, 1);
    for (i = 0; i < NLEASES; i++)
        free(srv.lease[i].bind);
    printf("held %d, address %08x, revoked %d\n", held, addr, srv.revoked);
    return 0;
}
