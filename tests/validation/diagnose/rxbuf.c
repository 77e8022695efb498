#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSESSIONS 3
#define BUFLEN 48

struct session {
    pthread_mutex_t lock;
    char *buf;
    int used;
    int open;
    unsigned long received;
};

struct server {
    struct session sessions[NSESSIONS];
    pthread_mutex_t stat_lock;
    unsigned long flushed;
    atomic_int closes;
};

static void session_open(struct session *s)
{
    pthread_mutex_init(&s->lock, NULL);
    s->buf = malloc(BUFLEN);
    if (s->buf == NULL)
        abort();
    memset(s->buf, 0, BUFLEN);
    s->used = 0;
    s->open = 1;
}

static void session_receive(struct session *s, const char *text)
{
    int n = (int)strlen(text);
    pthread_mutex_lock(&s->lock);
    if (s->open && s->used + n < BUFLEN) {
        memcpy(s->buf + s->used, text, (size_t)n);
        s->used += n;
        s->received += (unsigned long)n;
    }
    pthread_mutex_unlock(&s->lock);
}

static void flush(struct server *srv, int n)
{
    pthread_mutex_lock(&srv->stat_lock);
    srv->flushed += (unsigned long)n;
    pthread_mutex_unlock(&srv->stat_lock);
}

static void session_close(struct server *srv, struct session *s)
{
    char *buf;
    int used;
    pthread_mutex_lock(&s->lock);
    s->open = 0;
    buf = s->buf;
    used = s->used;
    s->used = 0;
    pthread_mutex_unlock(&s->lock);
    if (buf == NULL)
        return;
    flush(srv, used);
    free(buf);
    pthread_mutex_lock(&s->lock);
    s->buf = NULL;
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add_explicit(&srv->closes, 1, memory_order_relaxed);
}

static void *peer_main(void *arg)
{
    struct server *srv = arg;
    int i;
    for (i = 0; i < NSESSIONS; i++) {
        session_receive(&srv->sessions[i], "HELO ");
        session_receive(&srv->sessions[i], "QUIT");
        if (i != 1)
            session_close(srv, &srv->sessions[i]);
    }
    return NULL;
}

static void *reaper_main(void *arg)
{
    struct server *srv = arg;
    int i;
    for (i = NSESSIONS - 1; i >= 0; i--)
        session_close(srv, &srv->sessions[i]);
    return NULL;
}

int main(void)
{
    static struct server srv;
    pthread_t peer, reaper;
    unsigned long received = 0;
    int i;
    pthread_mutex_init(&srv.stat_lock, NULL);
    for (i = 0; i < NSESSIONS; i++)
        session_open(&srv.sessions[i]);
    pthread_create(&peer, NULL, peer_main, &srv);
    pthread_create(&reaper, NULL, reaper_main, &srv);
    pthread_join(peer, NULL);
    pthread_join(reaper, NULL);
    for (i = 0; i < NSESSIONS; i++)
        received += srv.sessions[i].received;
    printf("%d closes, %d\n", atomic_load(&srv.closes), srv.flushed == received);
    return srv.flushed != received || atomic_load(&srv.closes) != NSESSIONS;
}
