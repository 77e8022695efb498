#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NPACKETS 14
#define NDECODERS 2

struct packet {
    struct packet *next;
    unsigned seq;
    unsigned size;
    unsigned char payload[16];
};

struct packet_queue {
    pthread_mutex_t lock;
    struct packet *head;
    struct packet *tail;
    unsigned length;
};

struct decoder {
    pthread_t tid;
    struct packet_queue *queue;
    unsigned frames;
    unsigned long bytes;
    unsigned crc;
};

static void queue_init(struct packet_queue *q)
{
    pthread_mutex_init(&q->lock, NULL);
    q->head = NULL;
    q->tail = NULL;
    q->length = 0;
}

static unsigned queue_length(struct packet_queue *q)
{
    unsigned n;
    pthread_mutex_lock(&q->lock);
    n = q->length;
    pthread_mutex_unlock(&q->lock);
    return n;
}

static void queue_push(struct packet_queue *q, struct packet *p)
{
    p->next = NULL;
    pthread_mutex_lock(&q->lock);
    if (q->tail)
        q->tail->next = p;
    else
        q->head = p;
    q->tail = p;
    q->length++;
    pthread_mutex_unlock(&q->lock);
}

static struct packet *queue_pop(struct packet_queue *q)
{
    struct packet *p;
    pthread_mutex_lock(&q->lock);
    p = q->head;
    if (p) {
        q->head = p->next;
        if (!q->head)
            q->tail = NULL;
        q->length--;
    }
    pthread_mutex_unlock(&q->lock);
    return p;
}

static struct packet *packet_new(unsigned seq)
{
    struct packet *p = malloc(sizeof *p);
    unsigned i;
    p->seq = seq;
    p->size = 4 + seq % 12;
    for (i = 0; i < p->size; i++)
        p->payload[i] = (unsigned char)(seq * 5 + i);
    return p;
}

static void decode(struct decoder *d, const struct packet *p)
{
    unsigned i;
    d->bytes += p->size;
    for (i = 0; i < p->size; i++)
        d->crc = (d->crc << 1) ^ p->payload[i];
    d->frames++;
}

static void *decoder_main(void *arg)
{
    struct decoder *d = arg;
    while (queue_length(d->queue) > 0) {
        struct packet *p = queue_pop(d->queue);
        decode(d, p);
        free(p);
    }
    return NULL;
}

int main(void)
{
    struct packet_queue q;
    struct decoder dec[NDECODERS];
    unsigned frames = 0;
    unsigned i;
    queue_init(&q);
    for (i = 0; i < NPACKETS; i++)
        queue_push(&q, packet_new(i));
    for (i = 0; i < NDECODERS; i++) {
        dec[i].queue = &q;
        dec[i].frames = 0;
        dec[i].bytes = 0;
        dec[i].crc = 0;
        pthread_create(&dec[i].tid, NULL, decoder_main, &dec[i]);
    }
    for (i = 0; i < NDECODERS; i++) {
        pthread_join(dec[i].tid, NULL);
        frames += dec[i].frames;
    }
    printf("frames %u\n", frames);
    pthread_mutex_destroy(&q.lock);
    return frames == NPACKETS ? 0 : 1;
}
