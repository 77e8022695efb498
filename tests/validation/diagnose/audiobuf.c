/* Sound goes through three threads, capture, filter and playback, which hand
 * a few buffers round by semaphores. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NBUFS   2
#define NBLOCKS 8
#define BLOCK   16

struct buffer {
    int  number;
    int  peak;
    long samples[BLOCK];
};

struct pipeline {
    struct buffer bufs[NBUFS];
    sem_t         empty, captured, filtered;
    int           overruns;
    long          played, sum;
    int           last_peak;
};

static struct pipeline pipe0;
static _Atomic(long *) window;
static pthread_mutex_t window_lock = PTHREAD_MUTEX_INITIALIZER;
static int windows_made;
static atomic_long meter;

/* Table of weights, made by whoever needs it first. */
static const long *get_window(void)
{
    long *w = atomic_load_explicit(&window, memory_order_acquire);

    if (!w) {
        pthread_mutex_lock(&window_lock);
        w = atomic_load_explicit(&window, memory_order_relaxed);
        if (!w) {
            w = malloc(BLOCK * sizeof(*w));
            for (int i = 0; i < BLOCK; i++)
                w[i] = i < BLOCK / 2 ? i + 1 : BLOCK - i;
            windows_made++;
            atomic_store_explicit(&window, w, memory_order_release);
        }
        pthread_mutex_unlock(&window_lock);
    }
    return w;
}

static void *capture_main(void *arg)
{
    struct pipeline *p = arg;

    for (int n = 0; n < NBLOCKS; n++) {
        struct buffer *b = &p->bufs[n % NBUFS];

        sem_wait(&p->empty);
        b->number = n;
        b->peak = 0;
        for (int i = 0; i < BLOCK; i++)
            b->samples[i] = n * 10 + i;
        sem_post(&p->captured);
    }
    return NULL;
}

static void *filter_main(void *arg)
{
    struct pipeline *p = arg;

    for (int n = 0; n < NBLOCKS; n++) {
        struct buffer *b = &p->bufs[n % NBUFS];
        const long *w = get_window();

        sem_wait(&p->captured);
        if (b->number != n)
            p->overruns++;
        for (int i = 0; i < BLOCK; i++) {
            b->samples[i] *= w[i];
            if (b->samples[i] > b->peak)
                b->peak = (int)b->samples[i];
        }
        atomic_store_explicit(&meter, b->peak, memory_order_relaxed);
        sem_post(&p->filtered);
    }
    return NULL;
}

static void *playback_main(void *arg)
{
    struct pipeline *p = arg;
    const long *w = get_window();
    long norm = 0;

    for (int i = 0; i < BLOCK; i++)
        norm += w[i];
    for (int n = 0; n < NBLOCKS; n++) {
        struct buffer *b = &p->bufs[n % NBUFS];

        sem_wait(&p->filtered);
        for (int i = 0; i < BLOCK; i++)
            p->sum += b->samples[i];
        p->last_peak = b->peak;
        p->played++;
        sem_post(&p->empty);
    }
    p->sum *= norm;
    return NULL;
}

static long expected_sum(void)
{
    const long *w = get_window();
    long sum = 0, norm = 0;

    for (int i = 0; i < BLOCK; i++)
        norm += w[i];
    for (int n = 0; n < NBLOCKS; n++)
        for (int i = 0; i < BLOCK; i++)
            sum += (n * 10 + i) * w[i];
    return sum * norm;
}

int main(void)
{
    pthread_t t[3];
    int ok;

    sem_init(&pipe0.empty, 0, NBUFS);
    sem_init(&pipe0.captured, 0, 0);
    sem_init(&pipe0.filtered, 0, 0);
    pthread_create(&t[0], NULL, playback_main, &pipe0);
    pthread_create(&t[1], NULL, filter_main, &pipe0);
    pthread_create(&t[2], NULL, capture_main, &pipe0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%ld blocks, sum %ld, peak %d, meter %ld\n", pipe0.played, pipe0.sum, pipe0.last_peak,
           atomic_load(&meter));
    ok = pipe0.sum == expected_sum() && pipe0.overruns == 0 && windows_made == 1;
    free(atomic_load(&window));
    return ok ? 0 : 1;
}
