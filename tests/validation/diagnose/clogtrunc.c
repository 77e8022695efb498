#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPAGES 6
#define PER_PAGE 32
#define NBACKENDS 2
#define NQUERIES 12

enum xact_status { XACT_IN_PROGRESS, XACT_COMMITTED, XACT_ABORTED, XACT_UNKNOWN };

struct clog_page {
    unsigned first;
    unsigned char status[PER_PAGE];
};

struct variable_cache {
    pthread_mutex_t lock;
    unsigned oldest_xid;
    unsigned next_xid;
};

struct clog {
    pthread_mutex_t lock;
    struct clog_page *pages[NPAGES];
    int truncations;
};

struct backend {
    unsigned from;
    int counts[4];
    pthread_t thread;
};

static struct variable_cache shmem = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct clog clog = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_int queries;

static void clog_extend(unsigned page)
{
    struct clog_page *p = malloc(sizeof *p);
    if (p == NULL)
        abort();
    p->first = page * PER_PAGE;
    memset(p->status, XACT_COMMITTED, sizeof p->status);
    p->status[7] = XACT_ABORTED;
    clog.pages[page] = p;
}

static enum xact_status clog_get(unsigned xid)
{
    struct clog_page *p;
    enum xact_status s;
    pthread_mutex_lock(&clog.lock);
    p = clog.pages[xid / PER_PAGE];
    s = p->status[xid % PER_PAGE];
    pthread_mutex_unlock(&clog.lock);
    return s;
}

static void clog_truncate(unsigned oldest)
{
    unsigned i;
    pthread_mutex_lock(&clog.lock);
    for (i = 0; i < oldest / PER_PAGE; i++) {
        free(clog.pages[i]);
        clog.pages[i] = NULL;
    }
    clog.truncations++;
    pthread_mutex_unlock(&clog.lock);
}

static int in_recent_past(unsigned xid)
{
    int recent;
    pthread_mutex_lock(&shmem.lock);
    recent = xid >= shmem.oldest_xid && xid < shmem.next_xid;
    pthread_mutex_unlock(&shmem.lock);
    return recent;
}

static enum xact_status xid_status(unsigned xid)
{
    atomic_fetch_add_explicit(&queries, 1, memory_order_relaxed);
    if (!in_recent_past(xid))
        return XACT_UNKNOWN;
    return clog_get(xid);
}

static void vacuum_advance(unsigned oldest)
{
    pthread_mutex_lock(&shmem.lock);
    shmem.oldest_xid = oldest;
    pthread_mutex_unlock(&shmem.lock);
    clog_truncate(oldest);
}

static void *backend_main(void *arg)
{
    struct backend *b = arg;
    int i;
    for (i = 0; i < NQUERIES; i++)
        b->counts[xid_status(b->from + i * 5)]++;
    return NULL;
}

static void *vacuum_main(void *arg)
{
    unsigned page;
    (void)arg;
    for (page = 1; page < NPAGES - 1; page++)
        vacuum_advance(page * PER_PAGE);
    return NULL;
}

int main(void)
{
    struct backend backends[NBACKENDS];
    pthread_t vacuum;
    unsigned i;
    for (i = 0; i < NPAGES; i++)
        clog_extend(i);
    shmem.next_xid = NPAGES * PER_PAGE;
    for (i = 0; i < NBACKENDS; i++) {
        memset(&backends[i], 0, sizeof backends[i]);
        backends[i].from = i * 2 * PER_PAGE;
        pthread_create(&backends[i].thread, NULL, backend_main, &backends[i]);
    }
    pthread_create(&vacuum, NULL, vacuum_main, NULL);
    for (i = 0; i < NBACKENDS; i++) {
        pthread_join(backends[i].thread, NULL);
        printf("backend %u: %d committed, %d aborted, %d unknown\n", i, backends[i].counts[XACT_COMMITTED],
               backends[i].counts[XACT_ABORTED], backends[i].counts[XACT_UNKNOWN]);
    }
    pthread_join(vacuum, NULL);
    printf("%d queries, %d truncations\n", atomic_load(&queries), clog.truncations);
    return 0;
}
