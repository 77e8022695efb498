/* Memory accounting of a server: bytes in use and the highest number ever in
 * use, both atomic. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 3
#define NALLOCS  4

struct pool_stats {
    atomic_long used;
    atomic_long peak;
    atomic_long allocs, frees;
};

struct worker {
    int       id;
    long      largest;          /* highest value of used that it made itself */
    pthread_t thread;
};

static struct pool_stats stats;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static long highest_reported;

static long account_alloc(struct pool_stats *s, long n)
{
    long now = atomic_fetch_add(&s->used, n) + n;

    atomic_fetch_add_explicit(&s->allocs, 1, memory_order_relaxed);
    if (now > atomic_load(&s->peak))
        atomic_store(&s->peak, now);
    return now;
}

static void account_free(struct pool_stats *s, long n)
{
    atomic_fetch_sub(&s->used, n);
    atomic_fetch_add_explicit(&s->frees, 1, memory_order_relaxed);
}

static void report(long largest)
{
    pthread_mutex_lock(&report_lock);
    if (largest > highest_reported)
        highest_reported = largest;
    pthread_mutex_unlock(&report_lock);
}

static char *pool_alloc(struct worker *w, size_t n)
{
    char *p = malloc(n);
    long now;

    if (!p)
        abort();
    now = account_alloc(&stats, (long)n);
    if (now > w->largest)
        w->largest = now;
    return p;
}

static void pool_free(char *p, size_t n)
{
    free(p);
    account_free(&stats, (long)n);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    size_t size[NALLOCS];
    char *p[NALLOCS];

    for (int i = 0; i < NALLOCS; i++) {
        size[i] = (size_t)(101 + 64 * w->id + 2 * i);
        p[i] = pool_alloc(w, size[i]);
        p[i][0] = (char)i;
    }
    for (int i = 0; i < NALLOCS; i++)
        pool_free(p[i], size[i]);
    report(w->largest);
    return NULL;
}

int main(void)
{
    struct worker w[NTHREADS];
    long peak;

    for (int i = 0; i < NTHREADS; i++) {
        w[i] = (struct worker){ .id = i };
        pthread_create(&w[i].thread, NULL, worker_main, &w[i]);
    }
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(w[i].thread, NULL);
    peak = atomic_load(&stats.peak);
    printf("%ld allocations, %ld in use\n", atomic_load(&stats.allocs), atomic_load(&stats.used));
    if (peak < highest_reported) {
        fprintf(stderr, "peak %ld, but %ld were in use\n", peak, highest_reported);
        return 1;
    }
    return 0;
}
