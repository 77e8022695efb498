/* Three stage media pipeline. Frames live in two shared buffers which are
 * passed on from stage to stage. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NFRAMES 20
#define NBUF    2
#define W       32

typedef struct {
    int           number;
    unsigned char pix[W];
    long          energy;
} frame_t;

enum owner { OWNER_FILTER, OWNER_SINK };

static frame_t raw[NBUF];
static sem_t raw_free, raw_full;

static frame_t filtered;
static atomic_int filtered_owner = OWNER_FILTER;

static atomic_int dropped;
static atomic_int config_ready;
static int config_gain;
static long sink_total;
static int sink_frames;

static void decode(frame_t *f, int n)
{
    f->number = n;
    for (int i = 0; i < W; i++)
        f->pix[i] = (unsigned char)(n * 5 + i);
}

static void wait_flag(atomic_int *flag, int value)
{
    while (atomic_load_explicit(flag, memory_order_acquire) != value)
        sched_yield();
}

static void *decoder_main(void *arg)
{
    (void)arg;
    for (int n = 0; n < NFRAMES; n++) {
        sem_wait(&raw_free);
        decode(&raw[n % NBUF], n);
        sem_post(&raw_full);
    }
    return NULL;
}

static void *filter_main(void *arg)
{
    int gain;

    (void)arg;
    wait_flag(&config_ready, 1);
    gain = config_gain;
    for (int n = 0; n < NFRAMES; n++) {
        frame_t *in = &raw[n % NBUF];
        long energy = 0;

        sem_wait(&raw_full);
        wait_flag(&filtered_owner, OWNER_FILTER);
        filtered.number = in->number;
        for (int i = 0; i < W; i++) {
            filtered.pix[i] = (unsigned char)(in->pix[i] / 2);
            energy += filtered.pix[i] * gain;
        }
        filtered.energy = energy;
        sem_post(&raw_free);
        atomic_store_explicit(&filtered_owner, OWNER_SINK, memory_order_release);
    }
    return NULL;
}

static void *sink_main(void *arg)
{
    (void)arg;
    for (int n = 0; n < NFRAMES; n++) {
        long check = 0;

        wait_flag(&filtered_owner, OWNER_SINK);
        if (filtered.number != n)
            atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
        for (int i = 0; i < W; i++)
            check += filtered.pix[i] * 3;
        assert(check == filtered.energy);
        sink_total += check;
        sink_frames++;
        atomic_store_explicit(&filtered_owner, OWNER_FILTER, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t d, f, s;

    sem_init(&raw_free, 0, NBUF);
    sem_init(&raw_full, 0, 0);
    pthread_create(&s, NULL, sink_main, NULL);
    pthread_create(&f, NULL, filter_main, NULL);
    pthread_create(&d, NULL, decoder_main, NULL);
    config_gain = 3;
    atomic_store_explicit(&config_ready, 1, memory_order_release);
    pthread_join(d, NULL);
    pthread_join(f, NULL);
    pthread_join(s, NULL);

    printf("%d frames, energy %ld, dropped %d\n", sink_frames, sink_total,
           atomic_load(&dropped));
    sem_destroy(&raw_free);
    sem_destroy(&raw_full);
    return sink_frames == NFRAMES && atomic_load(&dropped) == 0 ? 0 : 1;
}
