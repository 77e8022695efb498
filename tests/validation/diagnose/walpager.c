/* Embedded database: writers commit pages through the pager to the log,
 * a checkpointer moves log frames back into the page cache. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NPAGES   8
#define NFRAMES  64
#define NCOMMITS 6
#define NWRITERS 2

struct page { int pgno; int version; int dirty; };

struct pager {
    pthread_mutex_t mutex;
    struct page     cache[NPAGES];
    int             commits;
};

struct frame { int pgno; int version; };

struct wal {
    pthread_mutex_t mutex;
    struct frame    frames[NFRAMES];
    int             nframes;
    int             backfilled;
    int             checkpoints;
};

struct db {
    struct pager pager;
    struct wal   wal;
    atomic_int   readers;
};

static struct db db = {
    .pager = { .mutex = PTHREAD_MUTEX_INITIALIZER },
    .wal = { .mutex = PTHREAD_MUTEX_INITIALIZER },
};

static void wal_append(struct wal *w, int pgno, int version)
{
    pthread_mutex_lock(&w->mutex);
    w->frames[w->nframes].pgno = pgno;
    w->frames[w->nframes].version = version;
    w->nframes++;
    pthread_mutex_unlock(&w->mutex);
}

static void pager_commit(struct db *d, int pgno)
{
    struct pager *p = &d->pager;

    pthread_mutex_lock(&p->mutex);
    struct page *pg = &p->cache[pgno];
    pg->version++;
    pg->dirty = 1;
    wal_append(&d->wal, pgno, pg->version);
    p->commits++;
    pthread_mutex_unlock(&p->mutex);
}

static void pager_mark_clean(struct pager *p, int pgno, int version)
{
    pthread_mutex_lock(&p->mutex);
    if (p->cache[pgno].version == version)
        p->cache[pgno].dirty = 0;
    pthread_mutex_unlock(&p->mutex);
}

static void wal_checkpoint(struct db *d)
{
    struct wal *w = &d->wal;

    pthread_mutex_lock(&w->mutex);
    while (w->backfilled < w->nframes) {
        struct frame *f = &w->frames[w->backfilled];
        pager_mark_clean(&d->pager, f->pgno, f->version);
        w->backfilled++;
    }
    w->checkpoints++;
    pthread_mutex_unlock(&w->mutex);
}

static int pager_read_version(struct db *d, int pgno)
{
    int v;

    atomic_fetch_add(&d->readers, 1);
    pthread_mutex_lock(&d->pager.mutex);
    v = d->pager.cache[pgno].version;
    pthread_mutex_unlock(&d->pager.mutex);
    atomic_fetch_sub(&d->readers, 1);
    return v;
}

static void *writer_main(void *arg)
{
    int id = (int)(long)arg;
    int seen = 0;

    for (int i = 0; i < NCOMMITS; i++) {
        pager_commit(&db, (id * 3 + i) % NPAGES);
        seen += pager_read_version(&db, i % NPAGES);
    }
    return (void *)(long)seen;
}

static void *checkpointer_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++)
        wal_checkpoint(&db);
    return NULL;
}

int main(void)
{
    pthread_t w[NWRITERS], ck;
    int dirty = 0;

    for (int i = 0; i < NPAGES; i++)
        db.pager.cache[i].pgno = i;
    for (long i = 0; i < NWRITERS; i++)
        pthread_create(&w[i], NULL, writer_main, (void *)i);
    pthread_create(&ck, NULL, checkpointer_main, NULL);
    for (int i = 0; i < NWRITERS; i++)
        pthread_join(w[i], NULL);
    pthread_join(ck, NULL);

    wal_checkpoint(&db);
    for (int i = 0; i < NPAGES; i++)
        dirty += db.pager.cache[i].dirty;
    printf("commits %d frames %d backfilled %d dirty %d\n", db.pager.commits,
           db.wal.nframes, db.wal.backfilled, dirty);
    return db.wal.backfilled == NWRITERS * NCOMMITS && dirty == 0 ? 0 : 1;
}
