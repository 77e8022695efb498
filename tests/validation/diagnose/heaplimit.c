/* Memory of a database library: an allocation that would go over the limit
 * first has the page cache give some pages back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE     10
#define LIMIT    100
#define NTHREADS 3
#define NROUNDS  4

struct mem {
    pthread_mutex_t lock;
    long            used;           /* bytes handed out, cached pages too */
    long            highwater;
    long            limit;
    void          (*alarm)(long need);
    long            alarms;
};

struct pcache {
    pthread_mutex_t lock;
    int             npages;
    long            recycled;
};

static struct mem mem0 = { .lock = PTHREAD_MUTEX_INITIALIZER, .limit = LIMIT };
static struct pcache pcache = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long stat_malloc, stat_pages_in;

static void mem_account(long bytes)
{
    mem0.used += bytes;
    if (mem0.used > mem0.highwater)
        mem0.highwater = mem0.used;
}

static void mem_release(long bytes)
{
    pthread_mutex_lock(&mem0.lock);
    mem0.used -= bytes;
    pthread_mutex_unlock(&mem0.lock);
}

/* Frees cached pages until the bytes wanted are there. */
static void pcache_release(long need)
{
    long got = 0;

    pthread_mutex_lock(&pcache.lock);
    while (got < need && pcache.npages > 0) {
        pcache.npages--;
        pcache.recycled++;
        got += PAGE;
    }
    pthread_mutex_unlock(&pcache.lock);
    if (got)
        mem_release(got);
}

static void pcache_put(int n)
{
    pthread_mutex_lock(&pcache.lock);
    pcache.npages += n;
    pthread_mutex_unlock(&pcache.lock);
    atomic_fetch_add_explicit(&stat_pages_in, n, memory_order_relaxed);
}

/* Runs the alarm without the mutex, as it may call back into us. */
static void mem_alarm(long need)
{
    void (*alarm)(long) = mem0.alarm;

    mem0.alarms++;
    pthread_mutex_unlock(&mem0.lock);
    alarm(need);
    pthread_mutex_lock(&mem0.lock);
}

static void *db_malloc(long bytes)
{
    pthread_mutex_lock(&mem0.lock);
    if (mem0.used + bytes > mem0.limit)
        mem_alarm(mem0.used + bytes - mem0.limit);
    mem_account(bytes);
    pthread_mutex_unlock(&mem0.lock);
    atomic_fetch_add_explicit(&stat_malloc, 1, memory_order_relaxed);
    return malloc((size_t)bytes);
}

/* A statement works in a buffer of two pages, which stay in the cache after. */
static void *statement_main(void *arg)
{
    long *sum = arg;

    for (int i = 0; i < NROUNDS; i++) {
        unsigned char *buf = db_malloc(2 * PAGE);

        for (int k = 0; k < 2 * PAGE; k++)
            buf[k] = (unsigned char)(k * 7 + i);
        for (int k = 0; k < 2 * PAGE; k++)
            *sum += buf[k];
        free(buf);
        pcache_put(2);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS];
    long sums[NTHREADS] = { 0 }, sum = 0;

    mem0.alarm = pcache_release;
    mem0.used = mem0.highwater = LIMIT;
    pcache.npages = LIMIT / PAGE;
    for (int i = 0; i < NTHREADS; i++)
        pthread_create(&t[i], NULL, statement_main, &sums[i]);
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(t[i], NULL);
        sum += sums[i];
    }
    printf("%ld allocations, %ld alarms, %ld used, high water %ld, sum %ld\n",
           atomic_load(&stat_malloc), mem0.alarms, mem0.used, mem0.highwater, sum);
    if (mem0.used != (long)pcache.npages * PAGE)
        return 2;
    return mem0.highwater > mem0.limit ? 1 : 0;
}
