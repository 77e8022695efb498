/* Connections with a buffer for the reply.  The reader closes a connection
   at end of file, the timer closes it when it was idle too long. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCONNS 4

struct conn {
    int fd;
    int last_active;
    char *reply;
    pthread_mutex_t lock;
    int closed_by_timer, closed_by_reader;
};

static struct conn conns[NCONNS];
static atomic_int now;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int closes;

static void conn_open(struct conn *c, int fd)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->fd = fd;
    c->reply = malloc(2000);
    if (!c->reply)
        exit(1);
    snprintf(c->reply, 2000, "hello %d", fd);
}

static int conn_is_open(struct conn *c)
{
    int open;

    pthread_mutex_lock(&c->lock);
    open = c->reply != NULL;
    pthread_mutex_unlock(&c->lock);
    return open;
}

static void conn_discard(struct conn *c)
{
    pthread_mutex_lock(&c->lock);
    free(c->reply);
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(&stats_lock);
    closes++;
    pthread_mutex_unlock(&stats_lock);
    pthread_mutex_lock(&c->lock);
    c->reply = NULL;
    c->fd = -1;
    pthread_mutex_unlock(&c->lock);
}

static int conn_close(struct conn *c)
{
    if (!conn_is_open(c))
        return 0;
    conn_discard(c);
    return 1;
}

static void *reader(void *arg)
{
    int i;

    (void)arg;
    for (i = 0; i < NCONNS; i++) {
        atomic_fetch_add(&now, 1);
        if (i % 2 == 0)
            conns[i].closed_by_reader = conn_close(&conns[i]);
    }
    return NULL;
}

static void *timer(void *arg)
{
    int i;

    (void)arg;
    for (i = 0; i < NCONNS; i++)
        if (atomic_load(&now) - conns[i].last_active >= 0)
            conns[i].closed_by_timer = conn_close(&conns[i]);
    return NULL;
}

int main(void)
{
    pthread_t r, t;
    int i;

    for (i = 0; i < NCONNS; i++)
        conn_open(&conns[i], 10 + i);
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&t, NULL, timer, NULL);
    pthread_join(r, NULL);
    pthread_join(t, NULL);
    printf("%d connections closed\n", closes);
    return 0;
}
