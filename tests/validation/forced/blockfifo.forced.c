/* Parallel block packer: a producer fills a queue of blocks, workers pack
 * them, main waits for the last block to be written and cleans up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QSIZE 4
#define NBLOCK 6
#define BLK 256

typedef struct {
    int buf[QSIZE];
    int head, tail, full, empty;
    int closed;
    pthread_mutex_t *mut;
    pthread_cond_t *notFull, *notEmpty;
} queue;

static unsigned char input[NBLOCK][BLK];
static unsigned packed[NBLOCK];
static int blocksDone;
static pthread_mutex_t outMut = PTHREAD_MUTEX_INITIALIZER;

static queue *queueInit(void)
{
    queue *q = calloc(1, sizeof *q);
    q->empty = 1;
    q->mut = malloc(sizeof *q->mut);
    q->notFull = malloc(sizeof *q->notFull);
    q->notEmpty = malloc(sizeof *q->notEmpty);
    pthread_mutex_init(q->mut, NULL);
    pthread_cond_init(q->notFull, NULL);
    pthread_cond_init(q->notEmpty, NULL);
    return q;
}

static void queueDelete(queue *q)
{
    pthread_mutex_destroy(q->mut);
    free(q->mut);
    q->mut = NULL;
    free(q->notFull);
    free(q->notEmpty);
    q->notFull = q->notEmpty = NULL;
}

static void queueAdd(queue *q, int v)
{
    q->buf[q->tail] = v;
    q->tail = (q->tail + 1) % QSIZE;
    q->full = q->tail == q->head;
    q->empty = 0;
}

static int queueDel(queue *q)
{
    int v = q->buf[q->head];
    q->head = (q->head + 1) % QSIZE;
    q->empty = q->head == q->tail;
    q->full = 0;
    return v;
}

static unsigned pack(const unsigned char *p)
{
    unsigned a = 1, b = 0;
    for (int i = 0; i < BLK; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void *consumer(void *arg)
{
    queue *q = arg;
    for (;;) {
        pthread_mutex_lock(q->mut);
        while (q->empty && !q->closed)
            pthread_cond_wait(q->notEmpty, q->mut);
        if (q->empty) {
            pthread_mutex_unlock(q->mut);
            return NULL;
        }
        int n = queueDel(q);
        pthread_cond_signal(q->notFull);
        pthread_mutex_unlock(q->mut);
        packed[n] = pack(input[n]);
        pthread_mutex_lock(&outMut);
        blocksDone++;
        pthread_mutex_unlock(&outMut);
 usleep(20000);
    }
}

static int progress(void)
{
    pthread_mutex_lock(&outMut);
    int n = blocksDone;
    pthread_mutex_unlock(&outMut);
    return n;
}

int main(void)
{
    queue *q = queueInit();
    pthread_t con;
    unsigned all = 0;

    for (int i = 0; i < NBLOCK * BLK; i++)
        input[i / BLK][i % BLK] = (unsigned char)(i * 7 + i / 91);
    pthread_create(&con, NULL, consumer, q);
    for (int i = 0; i < NBLOCK; i++) {
        pthread_mutex_lock(q->mut);
        while (q->full)
            pthread_cond_wait(q->notFull, q->mut);
        queueAdd(q, i);
        if (i == NBLOCK - 1)
            q->closed = 1;
        pthread_cond_signal(q->notEmpty);
        pthread_mutex_unlock(q->mut);
    }
    while (progress() < NBLOCK)
        usleep(2000);
    for (int i = 0; i < NBLOCK; i++)
        all ^= packed[i] == pack(input[i]) ? packed[i] : 0;
    queueDelete(q);
    pthread_join(con, NULL);
    free(q);
    printf("packed %d blocks, %08x\n", blocksDone, all);
    return 0;
}
