/* Job server: bounded queue with condition variables, statistics kept with
 * relaxed counters, and a monitor that samples them while work is going on. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NWORKERS 3
#define NJOBS    24
#define QSIZE    4

typedef struct { int id; int cost; } job_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t  not_empty, not_full;
    job_t           ring[QSIZE];
    int             head, count;
    int             closed;
} jobq_t;

typedef struct {
    atomic_long requests;
    atomic_long cost;
    atomic_int  busy;
    atomic_int  last_id;
} stats_t;

static jobq_t jobs = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};
static stats_t stats;
static atomic_int monitor_stop;
static int results[NJOBS];

static void jobq_put(jobq_t *q, job_t j)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == QSIZE)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->ring[(q->head + q->count) % QSIZE] = j;
    q->count++;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_signal(&q->not_empty);
}

static int jobq_get(jobq_t *q, job_t *out)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && !q->closed)
        pthread_cond_wait(&q->not_empty, &q->lock);
    if (q->count == 0) {
        pthread_mutex_unlock(&q->lock);
        return 0;
    }
    *out = q->ring[q->head];
    q->head = (q->head + 1) % QSIZE;
    q->count--;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_signal(&q->not_full);
    return 1;
}

static void jobq_close(jobq_t *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = 1;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->not_empty);
}

static void *worker_main(void *arg)
{
    job_t j;

    (void)arg;
    while (jobq_get(&jobs, &j)) {
        atomic_fetch_add_explicit(&stats.busy, 1, memory_order_relaxed);
        results[j.id] = j.cost * 2 + 1;
        atomic_store_explicit(&stats.last_id, j.id, memory_order_relaxed);
        atomic_fetch_add_explicit(&stats.requests, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&stats.cost, j.cost, memory_order_relaxed);
        atomic_fetch_sub_explicit(&stats.busy, 1, memory_order_relaxed);
    }
    return NULL;
}

static void *monitor_main(void *arg)
{
    long peak = 0;

    (void)arg;
    for (int i = 0; i < 200 && !atomic_load_explicit(&monitor_stop, memory_order_relaxed); i++) {
        long n = atomic_load_explicit(&stats.requests, memory_order_relaxed);
        long c = atomic_load_explicit(&stats.cost, memory_order_relaxed);
        long avg = n ? c / n : 0;
        if (avg > peak)
            peak = avg;
    }
    return (void *)peak;
}

int main(void)
{
    pthread_t w[NWORKERS], mon;
    long expect = 0, got = 0;

    pthread_create(&mon, NULL, monitor_main, NULL);
    for (int i = 0; i < NWORKERS; i++)
        pthread_create(&w[i], NULL, worker_main, NULL);
    for (int i = 0; i < NJOBS; i++) {
        job_t j = { i, 10 + i % 7 };
        expect += j.cost * 2 + 1;
        jobq_put(&jobs, j);
    }
    jobq_close(&jobs);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(w[i], NULL);
    atomic_store_explicit(&monitor_stop, 1, memory_order_relaxed);
    pthread_join(mon, NULL);

    for (int i = 0; i < NJOBS; i++)
        got += results[i];
    printf("requests %ld busy %d sum %ld\n", atomic_load(&stats.requests),
           atomic_load(&stats.busy), got);
    if (got != expect || atomic_load(&stats.requests) != NJOBS || atomic_load(&stats.busy)) {
        fprintf(stderr, "bad totals\n");
        return 1;
    }
    return 0;
}
