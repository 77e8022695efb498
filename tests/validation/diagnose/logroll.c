/* Write-ahead log: writers append records to the live log file; the flush
 * thread switches to a new one when the live one has grown. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NWRITERS 3
#define NRECORDS 6
#define NFILES   4

struct log_state {
    pthread_mutex_t mutex;
    int             number;             /* of the live file */
    long            size;               /* bytes in the live file */
    long            closed_size[NFILES];
    int             syncs;
};

struct writer {
    int       id;
    long      bytes;
    pthread_t thread;
};

static struct log_state wal = { .mutex = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t file_mutex = PTHREAD_MUTEX_INITIALIZER;
static long file_bytes[NFILES];
static atomic_long sequence;

static void file_append(int number, long n)
{
    pthread_mutex_lock(&file_mutex);
    file_bytes[number] += n;
    pthread_mutex_unlock(&file_mutex);
}

static void wal_append(struct log_state *l, long n)
{
    pthread_mutex_lock(&l->mutex);
    l->size += n;
    file_append(l->number, n);
    pthread_mutex_unlock(&l->mutex);
    atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
}

/* The number of the file that was closed. */
static int wal_switch(struct log_state *l)
{
    int old;
    long size;

    pthread_mutex_lock(&l->mutex);
    old = l->number;
    size = l->size;
    l->size = 0;
    l->closed_size[old] = size;
    pthread_mutex_unlock(&l->mutex);

    pthread_mutex_lock(&l->mutex);
    l->number = old + 1;
    l->syncs++;
    pthread_mutex_unlock(&l->mutex);
    return old;
}

static void *writer_main(void *arg)
{
    struct writer *w = arg;

    for (int i = 0; i < NRECORDS; i++) {
        long n = 20 + 7 * w->id + i;

        wal_append(&wal, n);
        w->bytes += n;
    }
    return NULL;
}

static void *flush_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NFILES - 1; i++)
        wal_switch(&wal);
    return NULL;
}

int main(void)
{
    struct writer w[NWRITERS];
    pthread_t flush;
    long bytes = 0, total = 0;
    int bad = 0;

    for (int i = 0; i < NWRITERS; i++) {
        w[i] = (struct writer){ .id = i };
        pthread_create(&w[i].thread, NULL, writer_main, &w[i]);
        if (i == 1)
            pthread_create(&flush, NULL, flush_main, NULL);
    }
    for (int i = 0; i < NWRITERS; i++) {
        pthread_join(w[i].thread, NULL);
        bytes += w[i].bytes;
    }
    pthread_join(flush, NULL);
    wal.closed_size[wal.number] = wal.size;
    for (int i = 0; i < NFILES; i++) {
        total += file_bytes[i];
        if (wal.closed_size[i] != file_bytes[i]) {
            fprintf(stderr, "log %d: %ld bytes, manifest says %ld\n", i, file_bytes[i],
                    wal.closed_size[i]);
            bad = 1;
        }
    }
    printf("%ld records, %ld bytes of %ld\n", atomic_load(&sequence), total, bytes);
    return bad || total != bytes;
}
