#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define BUFSZ 64
#define NWRITERS 2
#define NLINES 8

struct half {
    char data[BUFSZ];
    int used;
};

struct logger {
    pthread_mutex_t lock;
    pthread_cond_t room;
    pthread_cond_t work;
    struct half halves[2];
    int active;
    int flushing;
    int closing;
    long flushed;
};

static struct logger lg = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .room = PTHREAD_COND_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
};

static void log_append(struct logger *l, const char *s)
{
    int n = (int)strlen(s);
    struct half *h;
    pthread_mutex_lock(&l->lock);
    while (l->halves[l->active].used + n > BUFSZ) {
        pthread_cond_signal(&l->work);
        pthread_cond_wait(&l->room, &l->lock);
    }
    h = &l->halves[l->active];
    memcpy(h->data + h->used, s, (size_t)n);
    h->used += n;
    pthread_mutex_unlock(&l->lock);
}

static long write_out(const struct half *h)
{
    long lines = 0;
    int i;
    for (i = 0; i < h->used; i++)
        lines += h->data[i] == '\n';
    return lines;
}

static void *flusher(void *arg)
{
    struct logger *l = arg;
    pthread_mutex_lock(&l->lock);
    for (;;) {
        struct half *h;
        long n;
        while (!l->closing && l->halves[l->active].used < BUFSZ / 2)
            pthread_cond_wait(&l->work, &l->lock);
        h = &l->halves[l->active];
        if (h->used == 0)
            break;
        l->active = !l->active;
        l->flushing = 1;
        pthread_cond_broadcast(&l->room);
        pthread_mutex_unlock(&l->lock);
        n = write_out(h);
        h->used = 0;
        pthread_mutex_lock(&l->lock);
        l->flushing = 0;
        l->flushed += n;
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static void *writer(void *arg)
{
    char line[24];
    int i;
    for (i = 0; i < NLINES; i++) {
        snprintf(line, sizeof line, "w%d line %d\n", *(int *)arg, i);
        log_append(&lg, line);
    }
    return NULL;
}

int main(void)
{
    pthread_t f, w[NWRITERS];
    int id[NWRITERS];
    int i;
    pthread_create(&f, NULL, flusher, &lg);
    for (i = 0; i < NWRITERS; i++) {
        id[i] = i;
        pthread_create(&w[i], NULL, writer, &id[i]);
    }
    for (i = 0; i < NWRITERS; i++)
        pthread_join(w[i], NULL);
    pthread_mutex_lock(&lg.lock);
    lg.closing = 1;
    pthread_cond_signal(&lg.work);
    pthread_mutex_unlock(&lg.lock);
    pthread_join(f, NULL);
    printf("%ld lines\n", lg.flushed);
    return lg.flushed == NWRITERS * NLINES ? 0 : 1;
}
