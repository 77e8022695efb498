#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NNOTES 3

struct conn {
    pthread_mutex_t lock;
    int fd;
    int peer;
    int open;
    char tag;
};

struct stats {
    pthread_mutex_t lock;
    int sent;
    int dropped;
};

static struct stats stats = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static void bump(int *n)
{
    pthread_mutex_lock(&stats.lock);
    (*n)++;
    pthread_mutex_unlock(&stats.lock);
}

static int conn_open(struct conn *c, char tag)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) < 0)
        return -1;
    pthread_mutex_lock(&c->lock);
    c->fd = sv[0];
    c->peer = sv[1];
    c->tag = tag;
    c->open = 1;
    pthread_mutex_unlock(&c->lock);
    return 0;
}

static void conn_close(struct conn *c)
{
    pthread_mutex_lock(&c->lock);
    c->open = 0;
    close(c->fd);
    close(c->peer);
    pthread_mutex_unlock(&c->lock);
}

static void conn_notify(struct conn *c)
{
    char msg[2] = { 0, '\n' };
    int fd = -1;
    pthread_mutex_lock(&c->lock);
    if (c->open) {
        fd = c->fd;
        msg[0] = c->tag;
    }
    pthread_mutex_unlock(&c->lock);
    if (fd >= 0 && send(fd, msg, sizeof msg, MSG_NOSIGNAL) == sizeof msg)
        bump(&stats.sent);
    else
        bump(&stats.dropped);
}

static void *notifier(void *arg)
{
    int i;
    for (i = 0; i < NNOTES; i++)
        conn_notify(arg);
    return NULL;
}

static int check_stream(struct conn *c)
{
    char buf[2];
    int bad = 0;
    while (recv(c->peer, buf, sizeof buf, MSG_DONTWAIT) == sizeof buf)
        if (buf[0] != c->tag)
            bad++;
    return bad;
}

int main(void)
{
    static struct conn a = { .lock = PTHREAD_MUTEX_INITIALIZER };
    static struct conn b = { .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_t t;
    int bad;
    if (conn_open(&a, 'a') < 0)
        return 2;
    pthread_create(&t, NULL, notifier, &a);
    conn_close(&a);
    if (conn_open(&b, 'b') < 0)
        return 2;
    conn_notify(&b);
    pthread_join(t, NULL);
    bad = check_stream(&b);
    conn_close(&b);
    printf("%d sent, %d dropped, %d astray\n", stats.sent, stats.dropped, bad);
    return bad ? 1 : 0;
}
