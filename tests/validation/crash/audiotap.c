/* Audio capture: opening a stream starts its callback thread, which fetches
   periods from the device and mixes them down for the client. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD 64
#define PERIODS 6

enum state { ST_IDLE, ST_RUNNING, ST_DONE };

struct mixer {
    int channels;
    int gain;
    long energy;
    short out[PERIOD];
};

struct stream {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    unsigned rate;
    int periods_done;
    short capture[2 * PERIOD];
    struct mixer *mixer;
};

static struct mixer *mixer_new(unsigned rate, int channels)
{
    struct mixer *m = calloc(1, sizeof *m);

    if (!m)
        exit(1);
    m->channels = channels;
    m->gain = rate > 44100 ? 3 : 4;
    return m;
}

static void mix_period(struct mixer *m, const short *in)
{
    int i;

    for (i = 0; i < PERIOD; i++) {
        int v = (in[2 * i] + in[2 * i + 1]) * m->gain / (2 * m->channels);

        m->out[i] = (short)v;
        m->energy += v < 0 ? -v : v;
    }
}

static void device_read(struct stream *s, int period)
{
    int i;

    for (i = 0; i < 2 * PERIOD; i++)
        s->capture[i] = (short)((i * 37 + period * 101) % 2001 - 1000);
}

static void *callback_thread(void *arg)
{
    struct stream *s = arg;
    int i;

    pthread_mutex_lock(&s->lock);
    while (s->state == ST_IDLE)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    for (i = 0; i < PERIODS; i++) {
        device_read(s, i);
        mix_period(s->mixer, s->capture);
        pthread_mutex_lock(&s->lock);
        s->periods_done++;
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_lock(&s->lock);
    s->state = ST_DONE;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static struct stream *stream_open(unsigned rate)
{
    struct stream *s = calloc(1, sizeof *s);

    if (!s)
        exit(1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->rate = rate;
    s->state = ST_IDLE;
    if (pthread_create(&s->thread, NULL, callback_thread, s) != 0)
        exit(1);
    return s;
}

static void stream_start(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->state = ST_RUNNING;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void stream_drain(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->state != ST_DONE)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void stream_close(struct stream *s)
{
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->mixer);
    free(s);
}

static int attach_client(struct stream *s, int channels)
{
    stream_start(s);
    s->mixer = mixer_new(s->rate, channels);
    return channels == 1 || channels == 2;
}

int main(void)
{
    struct stream *s = stream_open(48000);

    if (!attach_client(s, 2))
        return 1;
    stream_drain(s);
    printf("%d periods, energy %ld\n", s->periods_done, s->mixer->energy);
    stream_close(s);
    return 0;
}
