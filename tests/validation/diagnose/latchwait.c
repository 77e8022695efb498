/* Log writer of a database: backends hand it records and set its latch; when
 * they are gone it writes the rest and ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NBACKENDS 3
#define NCOMMITS  3
#define MAXQ      16

struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t  cond;
    int             is_set;
};

struct wal {
    pthread_mutex_t lock;
    int             inserted;           /* records so far */
    int             flushed;            /* of these on disk */
    int             stop;
    long            checksum;
    long            records[MAXQ];
};

static struct latch latch = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
static struct wal wal = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long wakeups, commits;
static pthread_mutex_t clog_lock = PTHREAD_MUTEX_INITIALIZER;
static int clog_lsn[NBACKENDS];         /* of the last commit of each */

static void set_latch(struct latch *l)
{
    pthread_mutex_lock(&l->mutex);
    l->is_set = 1;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->mutex);
}

static void reset_latch(struct latch *l)
{
    pthread_mutex_lock(&l->mutex);
    l->is_set = 0;
    pthread_mutex_unlock(&l->mutex);
}

static void wait_latch(struct latch *l)
{
    pthread_mutex_lock(&l->mutex);
    while (!l->is_set)
        pthread_cond_wait(&l->cond, &l->mutex);
    pthread_mutex_unlock(&l->mutex);
    atomic_fetch_add_explicit(&wakeups, 1, memory_order_relaxed);
}

/* Writes what has been inserted; false when there will be no more. */
static int wal_flush(struct wal *w)
{
    int more;

    pthread_mutex_lock(&w->lock);
    while (w->flushed < w->inserted) {
        w->checksum = w->checksum * 31 + w->records[w->flushed];
        w->flushed++;
    }
    more = !w->stop;
    pthread_mutex_unlock(&w->lock);
    return more;
}

static void *walwriter_main(void *arg)
{
    struct wal *w = arg;

    while (wal_flush(w)) {
        reset_latch(&latch);
        wait_latch(&latch);
    }
    return NULL;
}

static int wal_insert(struct wal *w, long record)
{
    int lsn;

    pthread_mutex_lock(&w->lock);
    w->records[w->inserted++] = record;
    lsn = w->inserted;
    pthread_mutex_unlock(&w->lock);
    set_latch(&latch);
    return lsn;
}

static void clog_record(int id, int lsn)
{
    pthread_mutex_lock(&clog_lock);
    if (lsn > clog_lsn[id])
        clog_lsn[id] = lsn;
    pthread_mutex_unlock(&clog_lock);
}

static void wal_stop(struct wal *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_mutex_unlock(&w->lock);
    set_latch(&latch);
}

static void *backend_main(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NCOMMITS; i++) {
        int lsn = wal_insert(&wal, id * 100 + i);

        clog_record(id, lsn);
        atomic_fetch_add_explicit(&commits, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t writer, backends[NBACKENDS];
    int ids[NBACKENDS];

    pthread_create(&writer, NULL, walwriter_main, &wal);
    for (int i = 0; i < NBACKENDS; i++) {
        ids[i] = i;
        pthread_create(&backends[i], NULL, backend_main, &ids[i]);
    }
    for (int i = 0; i < NBACKENDS; i++)
        pthread_join(backends[i], NULL);
    wal_stop(&wal);
    pthread_join(writer, NULL);
    printf("%d records, %ld commits, %ld wakeups, last %d\n", wal.flushed, atomic_load(&commits),
           atomic_load(&wakeups), clog_lsn[NBACKENDS - 1]);
    return wal.flushed == NBACKENDS * NCOMMITS ? 0 : 1;
}
