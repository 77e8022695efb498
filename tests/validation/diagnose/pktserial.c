#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define QUEUE_SIZE 16
#define NSEEKS 3
#define NPACKETS 4

struct packet {
    long pts;
    int size;
};

struct packet_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct packet packets[QUEUE_SIZE];
    unsigned head, count;
    int serial;
    int abort_request;
    long bytes;
};

struct player {
    struct packet_queue video;
    atomic_long seek_start[NSEEKS + 2];
    atomic_int frames;
    int misplaced;
};

static void queue_put(struct packet_queue *q, long pts, int size)
{
    pthread_mutex_lock(&q->lock);
    if (q->count < QUEUE_SIZE) {
        q->packets[(q->head + q->count) % QUEUE_SIZE] = (struct packet) { pts, size };
        q->count++;
        q->bytes += size;
        pthread_cond_signal(&q->filled);
    }
    pthread_mutex_unlock(&q->lock);
}

static void queue_flush(struct packet_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->count = 0;
    q->bytes = 0;
    q->serial++;
    pthread_mutex_unlock(&q->lock);
}

static void queue_abort(struct packet_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->abort_request = 1;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static int queue_get(struct packet_queue *q, struct packet *p)
{
    int ok = 0;
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && !q->abort_request)
        pthread_cond_wait(&q->filled, &q->lock);
    if (q->count > 0) {
        *p = q->packets[q->head];
        q->head = (q->head + 1) % QUEUE_SIZE;
        q->count--;
        q->bytes -= p->size;
        ok = 1;
    }
    pthread_mutex_unlock(&q->lock);
    return ok;
}

static int queue_serial(struct packet_queue *q)
{
    int serial;
    pthread_mutex_lock(&q->lock);
    serial = q->serial;
    pthread_mutex_unlock(&q->lock);
    return serial;
}

static void *decoder_main(void *arg)
{
    struct player *pl = arg;
    struct packet p;
    while (queue_get(&pl->video, &p)) {
        int serial = queue_serial(&pl->video);
        if (p.pts < atomic_load(&pl->seek_start[serial])) {
            fprintf(stderr, "packet of %ld decoded after the seek to %ld\n", p.pts,
                    atomic_load(&pl->seek_start[serial]));
            pl->misplaced++;
        }
        atomic_fetch_add_explicit(&pl->frames, 1, memory_order_relaxed);
    }
    return NULL;
}

static void read_packets(struct player *pl, long pts)
{
    int i;
    for (i = 0; i < NPACKETS; i++)
        queue_put(&pl->video, pts + i, 100 + i);
}

static void *reader_main(void *arg)
{
    struct player *pl = arg;
    int i;
    read_packets(pl, 0);
    for (i = 1; i <= NSEEKS; i++) {
        atomic_store(&pl->seek_start[i], 1000L * i);
        queue_flush(&pl->video);
        read_packets(pl, 1000L * i);
    }
    return NULL;
}

int main(void)
{
    static struct player pl = {
        .video = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER }
    };
    pthread_t reader, decoder;
    pthread_create(&decoder, NULL, decoder_main, &pl);
    pthread_create(&reader, NULL, reader_main, &pl);
    pthread_join(reader, NULL);
    queue_abort(&pl.video);
    pthread_join(decoder, NULL);
    printf("%d frames, serial %d\n", atomic_load(&pl.frames), pl.video.serial);
    return pl.misplaced != 0;
}
