#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES 16
#define NPERIODS 4

struct bus {
    pthread_mutex_t lock;
    int channels;
    int rate;
    short *plane[2];
};

struct chunk {
    int channels;
    int frames;
    long peak;
};

struct job {
    struct chunk *chunk;
    int from;
    int to;
};

static struct bus bus = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void bus_format(struct bus *b, int *channels, int *rate)
{
    pthread_mutex_lock(&b->lock);
    *channels = b->channels;
    *rate = b->rate;
    pthread_mutex_unlock(&b->lock);
}

static void bus_open(struct bus *b)
{
    int c, i;
    for (c = 0; c < 2; c++) {
        b->plane[c] = calloc(FRAMES, sizeof(short));
        for (i = 0; i < FRAMES; i++)
            b->plane[c][i] = (short)(i * (c + 1));
    }
    b->channels = 2;
    b->rate = 48000;
}

static void bus_to_mono(struct bus *b)
{
    short *old;
    pthread_mutex_lock(&b->lock);
    old = b->plane[1];
    b->channels = 1;
    b->plane[1] = NULL;
    pthread_mutex_unlock(&b->lock);
    free(old);
}

static void chunk_init(struct chunk *ck, struct bus *b)
{
    int channels, rate;
    bus_format(b, &channels, &rate);
    ck->channels = channels;
    ck->frames = FRAMES * 48000 / rate;
    ck->peak = 0;
}

static void mix_plane(struct job *j, const short *p)
{
    int i;
    for (i = j->from; i < j->to; i++)
        if (p[i] > j->chunk->peak)
            j->chunk->peak = p[i];
}

static void render(struct bus *b, struct job *j)
{
    int c;
    pthread_mutex_lock(&b->lock);
    for (c = 0; c < j->chunk->channels; c++)
        mix_plane(j, b->plane[c]);
    pthread_mutex_unlock(&b->lock);
}

static void *mixer(void *arg)
{
    long peak = 0;
    int i;
    for (i = 0; i < NPERIODS; i++) {
        struct chunk ck;
        struct job j = { &ck, 0, 0 };
        chunk_init(&ck, &bus);
        j.to = ck.frames;
        render(&bus, &j);
        peak += ck.peak;
    }
    *(long *)arg = peak;
    return NULL;
}

int main(void)
{
    pthread_t t;
    long peak;
    bus_open(&bus);
    pthread_create(&t, NULL, mixer, &peak);
    bus_to_mono(&bus);
    pthread_join(t, NULL);
    free(bus.plane[0]);
    printf("peaks %ld\n", peak);
    return peak < NPERIODS * (FRAMES - 1) ? 1 : 0;
}
