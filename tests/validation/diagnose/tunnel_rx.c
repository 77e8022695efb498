#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_SIZE 4
#define NSESSIONS 6
#define NRX 2
#define NPKTS 8

struct session {
    struct session *next;
    unsigned id;
    int refcnt;
    unsigned long rx_packets;
    unsigned long rx_bytes;
    char ifname[16];
};

struct tunnel {
    pthread_mutex_t lock;
    struct session *hash[HASH_SIZE];
    unsigned nsessions;
    unsigned long rx_packets;
    unsigned long rx_errors;
};

static struct tunnel tunnel = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void session_create(struct tunnel *t, unsigned id)
{
    struct session *s = calloc(1, sizeof *s);
    struct session **head = &t->hash[id % HASH_SIZE];
    s->id = id;
    s->refcnt = 1;
    snprintf(s->ifname, sizeof s->ifname, "l2tpeth%u", id);
    pthread_mutex_lock(&t->lock);
    s->next = *head;
    *head = s;
    t->nsessions++;
    pthread_mutex_unlock(&t->lock);
}

static struct session *session_find(struct tunnel *t, unsigned id)
{
    struct session *s;
    pthread_mutex_lock(&t->lock);
    s = t->hash[id % HASH_SIZE];
    while (s && s->id != id)
        s = s->next;
    pthread_mutex_unlock(&t->lock);
    return s;
}

static void session_hold(struct tunnel *t, struct session *s)
{
    pthread_mutex_lock(&t->lock);
    s->refcnt++;
    pthread_mutex_unlock(&t->lock);
}

static void session_put(struct tunnel *t, struct session *s)
{
    int left;
    pthread_mutex_lock(&t->lock);
    left = --s->refcnt;
    pthread_mutex_unlock(&t->lock);
    if (left == 0)
        free(s);
}

static void session_delete(struct tunnel *t, unsigned id)
{
    struct session **pp = &t->hash[id % HASH_SIZE];
    struct session *s;
    pthread_mutex_lock(&t->lock);
    while (*pp && (*pp)->id != id)
        pp = &(*pp)->next;
    s = *pp;
    if (s) {
        *pp = s->next;
        t->nsessions--;
    }
    pthread_mutex_unlock(&t->lock);
    if (s)
        session_put(t, s);
}

static void session_recv(struct tunnel *t, struct session *s, unsigned len)
{
    pthread_mutex_lock(&t->lock);
    s->rx_packets++;
    s->rx_bytes += len;
    t->rx_packets++;
    pthread_mutex_unlock(&t->lock);
}

static void recv_packet(struct tunnel *t, unsigned id, unsigned len)
{
    struct session *s = session_find(t, id);
    if (!s) {
        pthread_mutex_lock(&t->lock);
        t->rx_errors++;
        pthread_mutex_unlock(&t->lock);
        return;
    }
    session_hold(t, s);
    session_recv(t, s, len);
    session_put(t, s);
}

static void *rx_main(void *arg)
{
    unsigned base = *(unsigned *)arg;
    unsigned i;
    for (i = 0; i < NPKTS; i++)
        recv_packet(&tunnel, (base + i) % NSESSIONS, 64 + i);
    return NULL;
}

static void *netlink_main(void *arg)
{
    unsigned id;
    (void)arg;
    for (id = 0; id < NSESSIONS; id += 2)
        session_delete(&tunnel, id);
    return NULL;
}

int main(void)
{
    pthread_t rx[NRX];
    pthread_t ctl;
    unsigned base[NRX];
    unsigned i;
    for (i = 0; i < NSESSIONS; i++)
        session_create(&tunnel, i);
    for (i = 0; i < NRX; i++) {
        base[i] = i * 3;
        pthread_create(&rx[i], NULL, rx_main, &base[i]);
    }
    pthread_create(&ctl, NULL, netlink_main, NULL);
    for (i = 0; i < NRX; i++)
        pthread_join(rx[i], NULL);
    pthread_join(ctl, NULL);
    for (i = 0; i < NSESSIONS; i++)
        session_delete(&tunnel, i);
    printf("rx %lu err %lu\n", tunnel.rx_packets, tunnel.rx_errors);
    return tunnel.nsessions == 0 ? 0 : 1;
}
