/* The clock of a player: the audio thread sets time and speed, the video
 * threads ask where the stream is. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NVIDEO 2
#define NTICKS 12
#define NASKS  12

struct clock_state {
    long pts;                   /* in ms */
    long pts_drift;             /* pts - time of the last update */
    long last_updated;
    int  serial;
};

static struct clock_state audclk;
static pthread_mutex_t clk_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long frames, samples;

struct video {
    int       id;
    int       bad;
    long      sum;
    pthread_t thread;
};

static void set_clock_at(struct clock_state *c, long pts, int serial, long time)
{
    c->pts = pts;
    c->last_updated = time;
    c->pts_drift = pts - time;
    c->serial = serial;
}

static void audio_update(long pts, int serial, long time)
{
    pthread_mutex_lock(&clk_lock);
    set_clock_at(&audclk, pts, serial, time);
    pthread_mutex_unlock(&clk_lock);
    atomic_fetch_add_explicit(&samples, 441, memory_order_relaxed);
}

static struct clock_state get_clock(void)
{
    return audclk;
}

static struct clock_state get_clock_locked(void)
{
    struct clock_state c;

    pthread_mutex_lock(&clk_lock);
    c = audclk;
    pthread_mutex_unlock(&clk_lock);
    return c;
}

static void *audio_main(void *arg)
{
    long start = *(long *)arg;

    for (int i = 1; i <= NTICKS; i++)
        audio_update(start + 40 * i, i, 41 * i);
    return NULL;
}

static void *video_main(void *arg)
{
    struct video *v = arg;

    for (int i = 0; i < NASKS; i++) {
        struct clock_state c = v->id ? get_clock() : get_clock_locked();

        if (c.pts_drift != c.pts - c.last_updated)
            v->bad++;
        v->sum += c.pts;
        atomic_fetch_add_explicit(&frames, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    struct video v[NVIDEO];
    pthread_t audio;
    long start = 1000;
    int bad = 0;

    set_clock_at(&audclk, start, 0, 0);
    for (int i = 0; i < NVIDEO; i++) {
        v[i] = (struct video){ .id = i };
        pthread_create(&v[i].thread, NULL, video_main, &v[i]);
    }
    pthread_create(&audio, NULL, audio_main, &start);
    for (int i = 0; i < NVIDEO; i++) {
        pthread_join(v[i].thread, NULL);
        bad += v[i].bad;
    }
    pthread_join(audio, NULL);
    printf("%ld frames, %ld samples\n", atomic_load(&frames), atomic_load(&samples));
    if (bad)
        fprintf(stderr, "%d torn clocks\n", bad);
    return bad ? 1 : 0;
}
