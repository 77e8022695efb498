/* Torrent session: an announcer thread talks to the trackers while peers
   transfer; closing the session waits for the announcer and then takes the
   session apart. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACKERS 3

struct bandwidth;

struct band_ops {
    const char *kind;
    void (*used)(struct bandwidth *b, unsigned bytes);
};

struct bandwidth {
    const struct band_ops *ops;
    unsigned long total;
    unsigned pulse[12];
    int at;
};

struct session {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    int announcing;
    int closing;
    int answers;
    char tracker[TRACKERS][32];
    struct bandwidth *bandwidth;
};

static void pulse_used(struct bandwidth *b, unsigned bytes)
{
    b->total += bytes;
    b->pulse[b->at] += bytes;
    b->at = (b->at + 1) % 12;
}

static const struct band_ops pulse_ops = { "pulse", pulse_used };

static struct bandwidth *bandwidth_new(void)
{
    struct bandwidth *b = calloc(1, sizeof *b);

    if (!b)
        exit(1);
    b->ops = &pulse_ops;
    return b;
}

static struct session *session_new(void)
{
    struct session *s = calloc(1, sizeof *s);
    int i;

    if (!s)
        exit(1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->idle, NULL);
    for (i = 0; i < TRACKERS; i++)
        snprintf(s->tracker[i], sizeof s->tracker[i], "udp://tracker%d:6969", i);
    s->bandwidth = bandwidth_new();
    return s;
}

static unsigned announce(const char *url, int stopped)
{
    unsigned bytes = stopped ? 40 : 98;

    while (*url)
        bytes += (unsigned char)*url++ % 5;
    return bytes;
}

static void announce_done(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->announcing--;
    if (s->announcing == 0)
        pthread_cond_signal(&s->idle);
    pthread_mutex_unlock(&s->lock);
}

static void *announcer(void *arg)
{
    struct session *s = arg;
    int i, stopped;

    for (i = 0; i < TRACKERS; i++) {
        unsigned bytes;

        pthread_mutex_lock(&s->lock);
        stopped = s->closing;
        s->answers++;
        pthread_mutex_unlock(&s->lock);
        bytes = announce(s->tracker[i], stopped);
        if (i == TRACKERS - 1)
            announce_done(s);
        s->bandwidth->ops->used(s->bandwidth, bytes);
    }
    return NULL;
}

static unsigned long session_close(struct session *s)
{
    unsigned long total;

    pthread_mutex_lock(&s->lock);
    s->closing = 1;
    while (s->announcing > 0)
        pthread_cond_wait(&s->idle, &s->lock);
    pthread_mutex_unlock(&s->lock);
    total = s->bandwidth->total;
    free(s->bandwidth);
    return total;
}

int main(void)
{
    struct session *s = session_new();
    unsigned long total;
    pthread_t th;

    s->announcing = 1;
    pthread_create(&th, NULL, announcer, s);
    total = session_close(s);
    pthread_join(th, NULL);
    printf("%d answers, %s bytes\n", s->answers, total > 0 ? "some" : "no");
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return 0;
}
