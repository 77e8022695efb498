/* Decoders of a player.  Input threads hand blocks to all decoders that are
 * open; the main thread opens one after the other. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NDEC    4
#define NINPUTS 2

struct vout {
    const char     *name;
    pthread_mutex_t lock;
    long            pictures;
    long            late;
};

struct decoder {
    int             id;
    struct vout    *vout;
    atomic_long     decoded;
    unsigned        vlc[64];
};

struct player {
    pthread_mutex_t lock;
    struct decoder *open[NDEC];
    int             nopen;
};

struct input {
    int       id;
    long      blocks;
    pthread_t thread;
};

static struct vout display = { .name = "display", .lock = PTHREAD_MUTEX_INITIALIZER };
static struct player player = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long polls;

static void vout_display(struct vout *v, int block)
{
    pthread_mutex_lock(&v->lock);
    v->pictures++;
    if (block % 5 == 0)
        v->late++;
    pthread_mutex_unlock(&v->lock);
}

static void decoder_decode(struct decoder *d, int block)
{
    vout_display(d->vout, block);
    atomic_fetch_add_explicit(&d->decoded, 1, memory_order_relaxed);
}

static void build_tables(struct decoder *d)
{
    for (unsigned i = 0; i < 64; i++) {
        unsigned code = i;

        for (int k = 0; k < 40; k++)
            code = (code >> 1) ^ (code & 1 ? 0xedb88320u : 0);
        d->vlc[i] = code;
    }
}

static void player_add(struct player *p, struct decoder *d)
{
    pthread_mutex_lock(&p->lock);
    p->open[p->nopen++] = d;
    pthread_mutex_unlock(&p->lock);
}

/* The n-th open decoder, NULL if there is none yet. */
static struct decoder *player_get(struct player *p, int n)
{
    struct decoder *d = NULL;

    pthread_mutex_lock(&p->lock);
    if (n < p->nopen)
        d = p->open[n];
    pthread_mutex_unlock(&p->lock);
    return d;
}

static void decoder_open(int id, struct vout *out)
{
    struct decoder *d = calloc(1, sizeof *d);

    if (!d)
        abort();
    d->id = id;
    build_tables(d);
    player_add(&player, d);
    d->vout = out;
}

static void *input_main(void *arg)
{
    struct input *in = arg;

    for (int n = 0; n < NDEC;) {
        struct decoder *d = player_get(&player, n);

        if (!d) {
            atomic_fetch_add_explicit(&polls, 1, memory_order_relaxed);
            sched_yield();
            continue;
        }
        decoder_decode(d, 10 * in->id + n);
        in->blocks++;
        n++;
    }
    return NULL;
}

int main(void)
{
    struct input in[NINPUTS];
    long decoded = 0;

    decoder_open(0, &display);
    for (int i = 0; i < NINPUTS; i++) {
        in[i] = (struct input){ .id = i };
        pthread_create(&in[i].thread, NULL, input_main, &in[i]);
    }
    for (int i = 1; i < NDEC; i++)
        decoder_open(i, &display);
    for (int i = 0; i < NINPUTS; i++)
        pthread_join(in[i].thread, NULL);
    for (int i = 0; i < NDEC; i++) {
        decoded += atomic_load(&player.open[i]->decoded);
        free(player.open[i]);
    }
    printf("%ld decoded, %ld shown, %ld late\n", decoded, display.pictures, display.late);
    return decoded == display.pictures ? 0 : 1;
}
