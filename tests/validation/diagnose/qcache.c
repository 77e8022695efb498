/* Table with a cache of query results in front of it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAXROWS  64
#define NWRITERS 2
#define NINSERTS 5
#define NQUERIES 8

struct row {
    int  owner;
    long amount;
};

struct result {
    int  valid;
    int  count;
    long total;
};

struct share {
    pthread_mutex_t lock;           /* rows and the cached result */
    struct row      rows[MAXROWS];
    int             nrows;
    struct result   cached;
    long            invalidations;
};

static struct share share = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long cache_hits, cache_misses;
static long questions;
static int errors;
static pthread_mutex_t errors_lock = PTHREAD_MUTEX_INITIALIZER;

static int cache_lookup(struct share *s, struct result *r)
{
    int hit;

    pthread_mutex_lock(&s->lock);
    hit = s->cached.valid;
    if (hit)
        *r = s->cached;
    pthread_mutex_unlock(&s->lock);
    if (hit)
        atomic_fetch_add(&cache_hits, 1);
    else
        atomic_fetch_add(&cache_misses, 1);
    return hit;
}

static void cache_store(struct share *s, const struct result *r)
{
    pthread_mutex_lock(&s->lock);
    s->cached.count = r->count;
    s->cached.total = r->total;
    s->cached.valid = 1;
    pthread_mutex_unlock(&s->lock);
}

static void scan_table(struct share *s, struct result *r)
{
    memset(r, 0, sizeof(*r));
    pthread_mutex_lock(&s->lock);
    r->count = s->nrows;
    for (int i = 0; i < s->nrows; i++)
        r->total += s->rows[i].amount;
    pthread_mutex_unlock(&s->lock);
}

/* SELECT COUNT(*), SUM(amount) */
static void run_select(struct share *s, struct result *r)
{
    questions++;
    if (cache_lookup(s, r))
        return;
    scan_table(s, r);
    cache_store(s, r);
}

static void run_insert(struct share *s, int owner, long amount)
{
    questions++;
    pthread_mutex_lock(&s->lock);
    s->rows[s->nrows].owner = owner;
    s->rows[s->nrows].amount = amount;
    s->nrows++;
    s->cached.valid = 0;
    s->invalidations++;
    pthread_mutex_unlock(&s->lock);
}

static void note_error(void)
{
    pthread_mutex_lock(&errors_lock);
    errors++;
    pthread_mutex_unlock(&errors_lock);
}

/* A connection sees at least its own rows and those it has seen before. */
static void *writer_main(void *arg)
{
    int id = *(int *)arg, seen = 0;
    struct result r;

    for (int i = 0; i < NINSERTS; i++) {
        run_insert(&share, id, 10 * id + i);
        run_select(&share, &r);
        if (r.count < seen + 1)
            note_error();
        seen = r.count;
    }
    return NULL;
}

static void *reader_main(void *arg)
{
    struct result r;
    long *sum = arg;

    for (int i = 0; i < NQUERIES; i++) {
        run_select(&share, &r);
        *sum += r.total;
    }
    return NULL;
}

int main(void)
{
    pthread_t w[NWRITERS], rd;
    int ids[NWRITERS];
    long sum = 0;
    struct result r;

    pthread_create(&rd, NULL, reader_main, &sum);
    for (int i = 0; i < NWRITERS; i++) {
        ids[i] = i + 1;
        pthread_create(&w[i], NULL, writer_main, &ids[i]);
    }
    for (int i = 0; i < NWRITERS; i++)
        pthread_join(w[i], NULL);
    pthread_join(rd, NULL);

    run_select(&share, &r);
    printf("%d rows, total %ld, %ld hits, %ld misses\n", r.count, r.total,
           atomic_load(&cache_hits), atomic_load(&cache_misses));
    if (r.count != NWRITERS * NINSERTS || errors != 0) {
        fprintf(stderr, "stale result: %d rows, %d errors\n", r.count, errors);
        return 1;
    }
    return 0;
}
