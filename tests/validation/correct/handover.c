#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define NBIO 8

struct buffer {
    sem_t busy;
    int block;
    int data;
    int dirty;
};

struct bio {
    struct buffer *buf;
    struct bio *next;
};

struct disk {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct bio *queue;
    int stop;
    long written;
};

static struct disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
                            .work = PTHREAD_COND_INITIALIZER };

static void submit(struct buffer *b)
{
    struct bio *io = malloc(sizeof *io);
    io->buf = b;
    pthread_mutex_lock(&disk.lock);
    io->next = disk.queue;
    disk.queue = io;
    pthread_cond_signal(&disk.work);
    pthread_mutex_unlock(&disk.lock);
}

static void complete(struct bio *io)
{
    struct buffer *b = io->buf;
    disk.written += b->data;
    b->dirty = 0;
    free(io);
    sem_post(&b->busy);
}

static void *disk_main(void *arg)
{
    pthread_mutex_lock(&disk.lock);
    while (disk.queue || !disk.stop) {
        struct bio *io = disk.queue;
        if (!io) {
            pthread_cond_wait(&disk.work, &disk.lock);
            continue;
        }
        disk.queue = io->next;
        pthread_mutex_unlock(&disk.lock);
        complete(io);
        pthread_mutex_lock(&disk.lock);
    }
    pthread_mutex_unlock(&disk.lock);
    return arg;
}

static void modify(struct buffer *b, int value)
{
    sem_wait(&b->busy);
    b->data = value;
    b->dirty = 1;
    submit(b);
}

int main(void)
{
    static struct buffer buf[3];
    pthread_t t;
    int dirty = 0;
    int i;
    for (i = 0; i < 3; i++) {
        sem_init(&buf[i].busy, 0, 1);
        buf[i].block = i;
    }
    pthread_create(&t, NULL, disk_main, NULL);
    for (i = 0; i < NBIO; i++)
        modify(&buf[i % 3], i + 1);
    for (i = 0; i < 3; i++) {
        sem_wait(&buf[i].busy);
        dirty += buf[i].dirty;
        sem_post(&buf[i].busy);
    }
    pthread_mutex_lock(&disk.lock);
    disk.stop = 1;
    pthread_cond_signal(&disk.work);
    pthread_mutex_unlock(&disk.lock);
    pthread_join(t, NULL);
    printf("written %ld, dirty %d\n", disk.written, dirty);
    return disk.written == 36 && dirty == 0 ? 0 : 1;
}
