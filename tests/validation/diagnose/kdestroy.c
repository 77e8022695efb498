/* Client of a message log: broker threads send what is produced, one more
 * thread gives statistics to the application by a callback. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NBROKERS   2
#define NPRODUCERS 2
#define NMESSAGES  4
#define NREPORTS   3
#define MAXQ       16

typedef void (*stats_cb)(void *opaque, const char *json);

struct metrics {                    /* of the application */
    int  reports;
    long length;
};

struct client {
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    int             queue[MAXQ];
    int             head, tail;
    int             terminate;
    atomic_long     sent, acked;
    stats_cb        stats;
    void           *opaque;
    pthread_t       brokers[NBROKERS];
};

struct producer {
    int            id;
    struct client *client;
    pthread_t      thread;
};

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static long log_lines;

static void client_log(void)
{
    pthread_mutex_lock(&log_lock);
    log_lines++;
    pthread_mutex_unlock(&log_lock);
}

static void on_stats(void *opaque, const char *json)
{
    struct metrics *m = opaque;

    m->reports++;
    m->length += (long)strlen(json);
}

static void *stats_main(void *arg)
{
    struct client *c = arg;
    char json[64];

    for (int i = 0; i < NREPORTS; i++) {
        snprintf(json, sizeof(json), "{\"n\":%d,\"txmsgs\":%3ld}", i,
                 atomic_load_explicit(&c->sent, memory_order_relaxed));
        c->stats(c->opaque, json);
    }
    client_log();
    return NULL;
}

static int client_take(struct client *c)
{
    int msg = -1;

    pthread_mutex_lock(&c->lock);
    while (c->head == c->tail && !c->terminate)
        pthread_cond_wait(&c->cond, &c->lock);
    if (c->head != c->tail)
        msg = c->queue[c->head++];
    pthread_mutex_unlock(&c->lock);
    return msg;
}

static void *broker_main(void *arg)
{
    struct client *c = arg;
    int msg;

    while ((msg = client_take(c)) >= 0) {
        atomic_fetch_add_explicit(&c->sent, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&c->acked, msg, memory_order_relaxed);
    }
    client_log();
    return NULL;
}

static void client_produce(struct client *c, int msg)
{
    pthread_mutex_lock(&c->lock);
    c->queue[c->tail++] = msg;
    pthread_cond_signal(&c->cond);
    pthread_mutex_unlock(&c->lock);
}

static void client_new(struct client *c, stats_cb cb, void *opaque)
{
    pthread_t stats;

    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->cond, NULL);
    c->stats = cb;
    c->opaque = opaque;
    pthread_create(&stats, NULL, stats_main, c);
    pthread_detach(stats);
    for (int i = 0; i < NBROKERS; i++)
        pthread_create(&c->brokers[i], NULL, broker_main, c);
}

/* Sends what is left and ends. */
static void client_destroy(struct client *c)
{
    pthread_mutex_lock(&c->lock);
    c->terminate = 1;
    pthread_cond_broadcast(&c->cond);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < NBROKERS; i++)
        pthread_join(c->brokers[i], NULL);
    client_log();
}

static void *producer_main(void *arg)
{
    struct producer *p = arg;

    for (int i = 0; i < NMESSAGES; i++)
        client_produce(p->client, p->id * 10 + i);
    return NULL;
}

int main(void)
{
    static struct client client;
    static struct metrics metrics;
    struct producer p[NPRODUCERS];

    client_new(&client, on_stats, &metrics);
    for (int i = 0; i < NPRODUCERS; i++) {
        p[i] = (struct producer){ .id = i + 1, .client = &client };
        pthread_create(&p[i].thread, NULL, producer_main, &p[i]);
    }
    for (int i = 0; i < NPRODUCERS; i++)
        pthread_join(p[i].thread, NULL);
    client_destroy(&client);

    printf("%ld sent, sum %ld, %d reports, %ld bytes of them\n", atomic_load(&client.sent),
           atomic_load(&client.acked), metrics.reports, metrics.length);
    if (atomic_load(&client.sent) != NPRODUCERS * NMESSAGES)
        return 2;
    return metrics.reports == NREPORTS ? 0 : 1;
}
