/* A node of a small database cluster. It joins the cluster, gets its id, and
 * answers the queries that other nodes have left in its inbox. Answers name the
 * node that gave them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define MEMBERS 12
#define QUERIES 6
#define BUCKETS 64

enum query_kind { QUERY_WHO, QUERY_OWNER };

struct query {
    int from;
    enum query_kind kind;
    uint32_t key;
};

struct reply {
    int to;
    int node;
    int owner;
};

struct cluster {
    int member[MEMBERS];
    int members;
    int joins;
};

struct node {
    struct cluster *cluster;
    int id;
    int bucket_owner[BUCKETS];
    const struct query *inbox;
    pthread_mutex_t outbox_lock;
    struct reply outbox[QUERIES];
    int replies;
    pthread_t service;
};

static uint32_t spread(uint32_t key, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        key ^= key >> 16;
        key *= 0x7feb352du;
        key ^= key >> 15;
    }
    return key;
}

/* Which member answers for which bucket of keys. */
static void build_routes(struct node *n)
{
    for (int b = 0; b < BUCKETS; b++) {
        uint32_t best = 0;
        for (int m = 0; m < MEMBERS; m++) {
            uint32_t weight = spread((uint32_t)(b * 131 + m), 25);
            if (weight >= best) {
                best = weight;
                n->bucket_owner[b] = m + 1;
            }
        }
    }
}

static void answer(struct node *n, const struct query *q)
{
    pthread_mutex_lock(&n->outbox_lock);
    struct reply *r = &n->outbox[n->replies];
    r->to = q->from;
    r->node = n->id;
    r->owner = q->kind == QUERY_OWNER ? n->bucket_owner[spread(q->key, 3) % BUCKETS] : 0;
    n->replies++;
    pthread_mutex_unlock(&n->outbox_lock);
}

static void *service_main(void *arg)
{
    struct node *n = arg;

    build_routes(n);
    for (int i = 0; i < QUERIES; i++)
        answer(n, &n->inbox[i]);
    return NULL;
}

/* The lowest id that no member has; the new member takes it. */
static int cluster_join(struct cluster *c)
{
    int id = 1;

    for (int i = 0; i < c->members; i++)
        if (c->member[i] == id) {
            id++;
            i = -1;
        }
    c->member[c->members++] = id;
    return id;
}

static int node_start(struct node *n, struct cluster *c, const struct query *inbox)
{
    n->cluster = c;
    n->inbox = inbox;
    pthread_mutex_init(&n->outbox_lock, NULL);
    if (pthread_create(&n->service, NULL, service_main, n) != 0)
        return -1;
    c->joins++; PAUSE(40);
    n->id = cluster_join(c);
    return 0;
}

static void node_stop(struct node *n)
{
    pthread_join(n->service, NULL);
    pthread_mutex_destroy(&n->outbox_lock);
}

int main(void)
{
    static const struct query inbox[QUERIES] = {
        {3, QUERY_WHO, 0},     {5, QUERY_OWNER, 4711}, {1, QUERY_OWNER, 99},
        {2, QUERY_OWNER, 512}, {4, QUERY_WHO, 0},      {6, QUERY_OWNER, 31337},
    };
    struct cluster cluster = {.member = {4, 1, 3, 6, 2, 5}, .members = 6};
    static struct node node;

    if (node_start(&node, &cluster, inbox) != 0)
        return 2;
    node_stop(&node);
    for (int i = 0; i < node.replies; i++) {
        const struct reply *r = &node.outbox[i];
        printf("to %d: node %d", r->to, r->node);
        if (r->owner != 0)
            printf(", key belongs to %d", r->owner);
        printf("\n");
    }
    return 0;
}
