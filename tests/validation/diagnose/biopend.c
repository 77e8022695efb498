#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SEGMENT 4096
#define NSEGMENTS 4
#define NREQUESTS 3
#define NWORKERS 2

struct compressed_bio {
    atomic_int pending;
    atomic_int ended;
    atomic_long bytes;
    long length;
    pthread_mutex_t lock;
    pthread_cond_t done;
    int finished;
};

struct bio {
    struct bio *next;
    struct compressed_bio *cb;
    int segment;
    long size;
};

struct device {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct bio *first, *last;
    int stop, completed;
};

static struct device device = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };

static void device_queue(struct device *d, struct bio *b)
{
    b->next = NULL;
    pthread_mutex_lock(&d->lock);
    if (d->last != NULL)
        d->last->next = b;
    else
        d->first = b;
    d->last = b;
    pthread_mutex_unlock(&d->lock);
}

static void device_unplug(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    pthread_cond_broadcast(&d->work);
    pthread_mutex_unlock(&d->lock);
}

static void end_compressed(struct compressed_bio *cb)
{
    pthread_mutex_lock(&cb->lock);
    cb->finished = 1;
    atomic_fetch_add(&cb->ended, 1);
    pthread_cond_signal(&cb->done);
    pthread_mutex_unlock(&cb->lock);
}

static void bio_endio(struct bio *b)
{
    struct compressed_bio *cb = b->cb;
    atomic_fetch_add(&cb->bytes, b->size);
    free(b);
    if (atomic_fetch_sub(&cb->pending, 1) == 1)
        end_compressed(cb);
}

static void *worker_main(void *arg)
{
    struct device *d = arg;
    pthread_mutex_lock(&d->lock);
    for (;;) {
        struct bio *b = d->first;
        if (b == NULL) {
            if (d->stop)
                break;
            pthread_cond_wait(&d->work, &d->lock);
            continue;
        }
        d->first = b->next;
        if (d->first == NULL)
            d->last = NULL;
        d->completed++;
        pthread_mutex_unlock(&d->lock);
        bio_endio(b);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void submit_compressed(struct compressed_bio *cb)
{
    int i;
    for (i = 0; i < NSEGMENTS; i++) {
        struct bio *b = malloc(sizeof *b);
        if (b == NULL)
            abort();
        b->cb = cb;
        b->segment = i;
        b->size = SEGMENT;
        atomic_fetch_add(&cb->pending, 1);
        device_queue(&device, b);
    }
    device_unplug(&device);
}

static void wait_compressed(struct compressed_bio *cb)
{
    pthread_mutex_lock(&cb->lock);
    while (!cb->finished)
        pthread_cond_wait(&cb->done, &cb->lock);
    pthread_mutex_unlock(&cb->lock);
}

int main(void)
{
    static struct compressed_bio requests[NREQUESTS];
    pthread_t workers[NWORKERS];
    int i, bad = 0;
    for (i = 0; i < NWORKERS; i++)
        pthread_create(&workers[i], NULL, worker_main, &device);
    for (i = 0; i < NREQUESTS; i++) {
        requests[i].length = (long)NSEGMENTS * SEGMENT;
        pthread_mutex_init(&requests[i].lock, NULL);
        pthread_cond_init(&requests[i].done, NULL);
        submit_compressed(&requests[i]);
        wait_compressed(&requests[i]);
    }
    pthread_mutex_lock(&device.lock);
    device.stop = 1;
    pthread_cond_broadcast(&device.work);
    pthread_mutex_unlock(&device.lock);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(workers[i], NULL);
    for (i = 0; i < NREQUESTS; i++) {
        if (atomic_load(&requests[i].ended) != 1) {
            fprintf(stderr, "request %d ended %d times\n", i, atomic_load(&requests[i].ended));
            bad = 1;
        }
    }
    printf("%d bios completed\n", device.completed);
    return bad;
}
