#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSLOT 6
#define BUFSZ 4096
#define ROUNDS 6

struct session {
    int used;
    int fd;
    size_t len;
    char *buf;
    char *peer;
};

struct proxy {
    pthread_mutex_t lock;
    struct session table[NSLOT];
    int active;
    int refused;
    unsigned long relayed;
};

struct listener {
    struct proxy *px;
    pthread_t tid;
    int base_fd;
};

static int slot_find(struct proxy *px)
{
    int found = -1;
    pthread_mutex_lock(&px->lock);
    for (int i = 0; i < NSLOT; i++) {
        if (!px->table[i].used) {
            found = i;
            break;
        }
    }
    pthread_mutex_unlock(&px->lock);
    return found;
}

static struct session *slot_claim(struct proxy *px, int slot, int fd)
{
    struct session *s = &px->table[slot];
    char name[32];
    char *buf = malloc(BUFSZ);
    snprintf(name, sizeof(name), "10.0.0.%d", fd);
    char *peer = strdup(name);

    pthread_mutex_lock(&px->lock);
    s->used = 1;
    s->fd = fd;
    s->len = 0;
    s->buf = buf;
    s->peer = peer;
    px->active++;
    pthread_mutex_unlock(&px->lock);
    return s;
}

static void session_append(struct session *s, const char *data)
{
    size_t n = strlen(data);
    if (s->len + n >= BUFSZ)
        return;
    memcpy(s->buf + s->len, data, n);
    s->len += n;
}

static void session_close(struct proxy *px, struct session *s)
{
    size_t len = s->len;
    free(s->buf);
    free(s->peer);
    pthread_mutex_lock(&px->lock);
    px->relayed += len;
    px->active--;
    s->used = 0;
    pthread_mutex_unlock(&px->lock);
}

static void serve(struct proxy *px, int fd)
{
    char line[64];
    int slot = slot_find(px);
    if (slot < 0) {
        pthread_mutex_lock(&px->lock);
        px->refused++;
        pthread_mutex_unlock(&px->lock);
        return;
    }
    struct session *s = slot_claim(px, slot, fd);
    snprintf(line, sizeof(line), "CONNECT %d HTTP/1.1\r\n", fd);
    session_append(s, line);
    session_append(s, "Host: upstream\r\n");
    session_append(s, "\r\n");
    session_close(px, s);
}

static void *listener_main(void *arg)
{
    struct listener *ln = arg;
    for (int i = 0; i < ROUNDS; i++)
        serve(ln->px, ln->base_fd + i);
    return NULL;
}

int main(void)
{
    static struct proxy px;
    static struct listener ln[2];

    pthread_mutex_init(&px.lock, NULL);
    for (int i = 0; i < 2; i++) {
        ln[i].px = &px;
        ln[i].base_fd = 10 + 20 * i;
        pthread_create(&ln[i].tid, NULL, listener_main, &ln[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(ln[i].tid, NULL);

    printf("relayed %lu bytes, refused %d, active %d\n",
           px.relayed, px.refused, px.active);
    return 0;
}
