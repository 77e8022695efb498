/* A journal in memory with a lazy flusher. Writers append records and mark the
 * journal dirty; the flusher looks at the mark from time to time and moves what
 * there is to the disk image. A look that comes too early is made good by the
 * next one, and closing the journal flushes what is left. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define WRITERS 2
#define RECORDS 40
#define LOOKS 60

struct journal {
    pthread_mutex_t lock;
    int dirty;
    int flushes;
    int used;
    int record[WRITERS * RECORDS];
    int on_disk;
    uint32_t disk_sum;
};

struct writer {
    struct journal *journal;
    int number;
    uint32_t work;
};

static uint32_t stir(uint32_t x, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

static void journal_append(struct journal *j, int value)
{
    pthread_mutex_lock(&j->lock);
    j->record[j->used++] = value;
    j->dirty = 1;
    pthread_mutex_unlock(&j->lock);
}

/* Caller holds the lock. */
static void write_out(struct journal *j)
{
    for (int i = 0; i < j->used; i++)
        j->disk_sum += (uint32_t)j->record[i] * 2654435761u;
    j->on_disk += j->used;
    j->used = 0;
    j->dirty = 0;
    j->flushes++;
}

static void journal_flush(struct journal *j)
{
    if (!j->dirty)
        return; /* the usual case costs no lock */
    pthread_mutex_lock(&j->lock);
    if (j->dirty)
        write_out(j);
    pthread_mutex_unlock(&j->lock);
}

static void journal_close(struct journal *j)
{
    pthread_mutex_lock(&j->lock);
    if (j->used > 0)
        write_out(j);
    pthread_mutex_unlock(&j->lock);
}

static void *writer_main(void *arg)
{
    struct writer *w = arg;

    for (int i = 0; i < RECORDS; i++) {
        w->work = stir(w->work + (uint32_t)i, 400); PAUSE(1);
        journal_append(w->journal, w->number * 1000 + i);
    }
    return NULL;
}

static void *flusher_main(void *arg)
{
    struct journal *j = arg;
    uint32_t pace = 1;

    for (int i = 0; i < LOOKS; i++) {
        pace = stir(pace, 300); PAUSE(1);
        journal_flush(j);
    }
    return (void *)(uintptr_t)(pace & 1);
}

int main(void)
{
    static struct journal journal = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct writer writer[WRITERS];
    pthread_t thread[WRITERS], flusher;

    if (pthread_create(&flusher, NULL, flusher_main, &journal) != 0)
        return 2;
    for (int i = 0; i < WRITERS; i++) {
        writer[i] = (struct writer){&journal, i, 77u + (uint32_t)i};
        if (pthread_create(&thread[i], NULL, writer_main, &writer[i]) != 0)
            return 2;
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(flusher, NULL);
    journal_close(&journal);
    printf("%d records on disk, sum %08x\n", journal.on_disk, (unsigned)journal.disk_sum);
    return 0;
}
