#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBLOCKS 6
#define NITEMS 3

struct playlist;

struct input {
    pthread_t thread;
    struct playlist *owner;
    atomic_int stop;
    unsigned seed;
    unsigned long decoded;
};

struct playlist {
    pthread_mutex_t lock;
    struct input *input;
    int finished;
    int stopped;
    char title[24];
};

static volatile unsigned screen;

static unsigned decode_block(unsigned seed)
{
    int i;
    for (i = 0; i < 900; i++)
        seed = seed * 1103515245u + 12345u;
    return seed;
}

static void input_ended(struct input *in)
{
    struct playlist *pl = in->owner;
    pthread_mutex_lock(&pl->lock);
    pl->finished++;
    pl->title[0] = 0;
    pthread_mutex_unlock(&pl->lock);
}

static void *input_main(void *arg)
{
    struct input *in = arg;
    int i;
    for (i = 0; i < NBLOCKS; i++) {
        if (atomic_load(&in->stop))
            return NULL;
        in->seed = decode_block(in->seed);
        in->decoded++;
    }
    input_ended(in);
    return NULL;
}

static void playlist_play(struct playlist *pl, const char *title)
{
    struct input *in = calloc(1, sizeof *in);
    in->owner = pl;
    in->seed = (unsigned)strlen(title);
    pthread_mutex_lock(&pl->lock);
    snprintf(pl->title, sizeof pl->title, "%s", title);
    pl->input = in;
    pthread_create(&in->thread, NULL, input_main, in);
    pthread_mutex_unlock(&pl->lock);
}

static unsigned long playlist_stop(struct playlist *pl)
{
    unsigned long n = 0;
    struct input *in;
    pthread_mutex_lock(&pl->lock);
    in = pl->input;
    if (in) {
        atomic_store(&in->stop, 1);
        pthread_join(in->thread, NULL);
        n = in->decoded;
        free(in);
        pl->input = NULL;
        pl->stopped++;
    }
    pthread_mutex_unlock(&pl->lock);
    return n;
}

static unsigned refresh_view(unsigned rows)
{
    unsigned sum = 0;
    unsigned i;
    for (i = 0; i < rows; i++)
        screen = sum += decode_block(i) & 0xff;
    return sum;
}

int main(void)
{
    static const char *const titles[NITEMS] = { "intro", "main feature", "end" };
    static struct playlist pl;
    unsigned long decoded = 0;
    unsigned view = 0;
    int i;
    pthread_mutex_init(&pl.lock, NULL);
    for (i = 0; i < NITEMS; i++) {
        playlist_play(&pl, titles[i]);
        view += refresh_view(2500);
        decoded += playlist_stop(&pl);
    }
    pthread_mutex_destroy(&pl.lock);
    printf("%lu blocks, %d ended, view %u\n", decoded, pl.finished, view);
    return pl.stopped == NITEMS && pl.finished <= NITEMS ? 0 : 1;
}
