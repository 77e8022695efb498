/* Memory tables: the writer fills one, the background thread writes it out.  When
 * the table is full the writer waits until the flush is done. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CAPACITY 4
#define NPUTS    14
#define NGETS    5

struct db {
    pthread_mutex_t mutex;
    pthread_cond_t  bg_signal;          /* a flush is done */
    pthread_cond_t  work;               /* there is something to flush, or stop */
    int             in_mem;
    atomic_int      imm;                /* entries in the table being flushed */
    int             stop;
    int             waits;
};

static struct db db = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .bg_signal = PTHREAD_COND_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
};
static atomic_long puts_done, flushes;
static long written;

/* Called with the mutex held. */
static void make_room(struct db *d)
{
    while (d->in_mem >= CAPACITY) {
        if (atomic_load(&d->imm) != 0) {
            d->waits++;
            pthread_cond_wait(&d->bg_signal, &d->mutex);
        } else {
            atomic_store(&d->imm, d->in_mem);
            d->in_mem = 0;
            pthread_cond_signal(&d->work);
        }
    }
}

static void db_put(struct db *d, int key)
{
    pthread_mutex_lock(&d->mutex);
    make_room(d);
    d->in_mem += key >= 0;
    pthread_mutex_unlock(&d->mutex);
    atomic_fetch_add_explicit(&puts_done, 1, memory_order_relaxed);
}

static void write_level0(struct db *d, int entries)
{
    written += entries;
    atomic_fetch_add_explicit(&flushes, 1, memory_order_relaxed);
    atomic_store(&d->imm, 0);
    pthread_cond_broadcast(&d->bg_signal);
}

static void *background_main(void *arg)
{
    struct db *d = arg;
    int entries;

    for (;;) {
        pthread_mutex_lock(&d->mutex);
        while ((entries = atomic_load(&d->imm)) == 0 && !d->stop)
            pthread_cond_wait(&d->work, &d->mutex);
        pthread_mutex_unlock(&d->mutex);
        if (entries == 0)
            return NULL;
        write_level0(d, entries);
    }
}

static void *writer_main(void *arg)
{
    int first = *(int *)arg;

    for (int i = 0; i < NPUTS; i++)
        db_put(&db, first + i);
    return NULL;
}

static void *reader_main(void *arg)
{
    long *seen = arg;

    for (int i = 0; i < NGETS; i++) {
        pthread_mutex_lock(&db.mutex);
        *seen += db.in_mem + atomic_load(&db.imm) > 0;
        pthread_mutex_unlock(&db.mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t bg, writer, reader;
    int first = 100;
    long seen = 0;

    pthread_create(&bg, NULL, background_main, &db);
    pthread_create(&reader, NULL, reader_main, &seen);
    pthread_create(&writer, NULL, writer_main, &first);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    pthread_mutex_lock(&db.mutex);
    db.stop = 1;
    pthread_cond_signal(&db.work);
    pthread_mutex_unlock(&db.mutex);
    pthread_join(bg, NULL);
    written += db.in_mem;
    printf("%ld puts, %ld written\n", atomic_load(&puts_done), written);
    return written == NPUTS && seen <= NGETS ? 0 : 1;
}
