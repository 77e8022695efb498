/* Connections with an idle timer: the timer closes idle connections and gives
 * their memory back to a pool; a worker delivers data to open ones. */
#include <unistd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conn;
typedef void (*data_cb)(struct conn *, const char *);

struct conn {
    data_cb on_data;
    int fd;
    int idle;
    int open;
    size_t received;
};

#define NCONN 3
static struct conn pool[NCONN];
static struct conn *by_fd[NCONN];
static pthread_mutex_t conn_lock = PTHREAD_MUTEX_INITIALIZER;
static int closed;

static void count_bytes(struct conn *c, const char *data)
{
    c->received += strlen(data);
}

static struct conn *conn_open(int fd, int idle)
{
    struct conn *c = &pool[fd];
    c->fd = fd;
    c->idle = idle;
    c->open = 1;
    c->on_data = count_bytes;
    by_fd[fd] = c;
    return c;
}

static void conn_release(struct conn *c)
{
    memset(c, 0x5a, sizeof *c);
    closed++;
}

static void *idle_timer(void *arg)
{
    int limit = *(int *)arg;
 usleep(10000);
    for (int fd = NCONN - 1; fd >= 0; fd--) {
        pthread_mutex_lock(&conn_lock);
        struct conn *c = by_fd[fd];
        if (c && c->idle > limit) {
            by_fd[fd] = NULL;
            conn_release(c);
        }
        pthread_mutex_unlock(&conn_lock);
    }
    return NULL;
}

static struct conn *conn_lookup(int fd)
{
    pthread_mutex_lock(&conn_lock);
    struct conn *c = by_fd[fd];
    if (c && !c->open)
        c = NULL;
    pthread_mutex_unlock(&conn_lock);
    return c;
}

static void *worker(void *arg)
{
    const char *const *msgs = arg;
    for (int fd = 0; fd < NCONN; fd++) {
        struct conn *c = conn_lookup(fd);
 usleep(fd == 1 ? 50000 : 0);
        if (c)
            c->on_data(c, msgs[fd]);
    }
    return NULL;
}

int main(void)
{
    static const char *const msgs[NCONN] = { "GET /", "PING", "QUIT now" };
    static const int idle[NCONN] = { 2, 9, 1 };
    pthread_t w, t;
    int limit = 5;

    for (int i = 0; i < NCONN; i++)
        conn_open(i, idle[i]);
    pthread_create(&w, NULL, worker, (void *)msgs);
    pthread_create(&t, NULL, idle_timer, &limit);
    pthread_join(w, NULL);
    pthread_join(t, NULL);
    printf("closed %d, received %zu\n", closed, pool[0].received + pool[2].received);
    return 0;
}
