/* Parallel block compressor: one producer, several consumers, and a writer
 * which puts the blocks in order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCONSUMERS 2
#define NBLOCKS    6
#define BLOCKSZ    8192
#define QSIZE      4

typedef struct { int num; unsigned char data[BLOCKSZ]; } block_t;

typedef struct {
    block_t         *buf[QSIZE];
    int              head, tail, count;
    int              all_done;
    long             consumed;
    pthread_mutex_t *mut;
    pthread_cond_t  *not_full, *not_empty;
} queue_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    block_t        *block[NBLOCKS];
    unsigned        crc[NBLOCKS];
    int             ndone;
    int             finished;
} output_t;

static queue_t *fifo;
static output_t output = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static queue_t *queue_init(void)
{
    queue_t *q = calloc(1, sizeof *q);

    q->mut = malloc(sizeof *q->mut);
    q->not_full = malloc(sizeof *q->not_full);
    q->not_empty = malloc(sizeof *q->not_empty);
    pthread_mutex_init(q->mut, NULL);
    pthread_cond_init(q->not_full, NULL);
    pthread_cond_init(q->not_empty, NULL);
    return q;
}

static void queue_delete(queue_t *q)
{
    pthread_cond_destroy(q->not_full);
    pthread_cond_destroy(q->not_empty);
    pthread_mutex_destroy(q->mut);
    free(q->not_full);
    free(q->not_empty);
    free(q->mut);
    q->mut = NULL;
}

static unsigned checksum(const unsigned char *p, size_t n)
{
    unsigned c = 0xffffffffu;

    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++)
            c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1)));
    }
    return ~c;
}

static void *producer_main(void *arg)
{
    queue_t *q = arg;

    for (int n = 0; n < NBLOCKS; n++) {
        block_t *b = malloc(sizeof *b);
        b->num = n;
        for (int i = 0; i < BLOCKSZ; i++)
            b->data[i] = (unsigned char)(i * (n + 3));
        pthread_mutex_lock(q->mut);
        while (q->count == QSIZE)
            pthread_cond_wait(q->not_full, q->mut);
        q->buf[q->tail] = b;
        q->tail = (q->tail + 1) % QSIZE;
        q->count++;
        q->all_done = (n == NBLOCKS - 1);
        pthread_cond_broadcast(q->not_empty);
        pthread_mutex_unlock(q->mut);
    }
    return NULL;
}

static void *consumer_main(void *arg)
{
    queue_t *q = arg;
    long done = 0;

    for (;;) {
        block_t *b;

        pthread_mutex_lock(q->mut);
        while (q->count == 0 && !q->all_done)
            pthread_cond_wait(q->not_empty, q->mut);
        if (q->count == 0) {
            pthread_mutex_unlock(q->mut);
            break;
        }
        b = q->buf[q->head];
        q->head = (q->head + 1) % QSIZE;
        q->count--;
        pthread_cond_signal(q->not_full);
        pthread_mutex_unlock(q->mut);

        unsigned crc = checksum(b->data, BLOCKSZ);
        pthread_mutex_lock(&output.lock);
        output.block[b->num] = b;
        output.crc[b->num] = crc;
        output.ndone++;
        pthread_cond_signal(&output.cond);
        pthread_mutex_unlock(&output.lock);
        done += BLOCKSZ;
    }

    pthread_mutex_lock(&output.lock);
    output.finished++;
    pthread_mutex_unlock(&output.lock);
    pthread_mutex_lock(q->mut);
    q->consumed += done;
    pthread_mutex_unlock(q->mut);
    pthread_cond_signal(&output.cond);
    return NULL;
}

static void *writer_main(void *arg)
{
    unsigned *total = arg;

    for (int n = 0; n < NBLOCKS; n++) {
        pthread_mutex_lock(&output.lock);
        while (!output.block[n])
            pthread_cond_wait(&output.cond, &output.lock);
        *total ^= output.crc[n] + (unsigned)n;
        pthread_mutex_unlock(&output.lock);
    }
    pthread_mutex_lock(&output.lock);
    while (output.finished < NCONSUMERS)
        pthread_cond_wait(&output.cond, &output.lock);
    pthread_mutex_unlock(&output.lock);
    return NULL;
}

int main(void)
{
    pthread_t prod, writer, cons[NCONSUMERS];
    unsigned total = 0;
    int bad = 0;

    fifo = queue_init();
    for (int i = 0; i < NCONSUMERS; i++)
        pthread_create(&cons[i], NULL, consumer_main, fifo);
    pthread_create(&writer, NULL, writer_main, &total);
    pthread_create(&prod, NULL, producer_main, fifo);
    pthread_join(prod, NULL);
    pthread_join(writer, NULL);

    for (int n = 0; n < NBLOCKS; n++) {
        bad += checksum(output.block[n]->data, BLOCKSZ) != output.crc[n];
        free(output.block[n]);
    }
    printf("%d blocks written, %d bad, stream %08x\n", output.ndone, bad, total);
    queue_delete(fifo);
    for (int i = 0; i < NCONSUMERS; i++)
        pthread_join(cons[i], NULL);
    printf("%ld bytes consumed\n", fifo->consumed);
    free(fifo);
    return bad != 0;
}
