#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NWORKERS 2
#define NTASKS 10

struct task {
    int number;
    long square;
};

struct pool {
    int wake;
    int results[2];
    pthread_mutex_t lock;
    struct task *todo[NTASKS];
    int next;
    int queued;
};

static struct pool pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct task *take(struct pool *p)
{
    struct task *t = NULL;
    pthread_mutex_lock(&p->lock);
    if (p->next < p->queued)
        t = p->todo[p->next++];
    pthread_mutex_unlock(&p->lock);
    return t;
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    uint64_t one;
    while (read(p->wake, &one, sizeof one) == sizeof one) {
        struct task *t = take(p);
        if (!t)
            break;
        t->square = (long)t->number * t->number;
        if (write(p->results[1], &t, sizeof t) != sizeof t)
            break;
    }
    return NULL;
}

static void submit(struct pool *p, struct task *t)
{
    uint64_t one = 1;
    pthread_mutex_lock(&p->lock);
    p->todo[p->queued++] = t;
    pthread_mutex_unlock(&p->lock);
    if (write(p->wake, &one, sizeof one) != sizeof one)
        perror("eventfd");
}

static long collect(struct pool *p, int n)
{
    long sum = 0;
    while (n-- > 0) {
        struct task *t;
        if (read(p->results[0], &t, sizeof t) != sizeof t)
            return -1;
        sum += t->square;
    }
    return sum;
}

int main(void)
{
    static struct task tasks[NTASKS];
    pthread_t w[NWORKERS];
    uint64_t end = NWORKERS;
    long sum;
    int i;
    pool.wake = eventfd(0, EFD_SEMAPHORE);
    if (pool.wake < 0 || pipe(pool.results) < 0)
        return 0;
    for (i = 0; i < NWORKERS; i++)
        pthread_create(&w[i], NULL, worker, &pool);
    for (i = 0; i < NTASKS; i++) {
        tasks[i].number = i;
        submit(&pool, &tasks[i]);
    }
    sum = collect(&pool, NTASKS);
    if (write(pool.wake, &end, sizeof end) != sizeof end)
        return 1;
    for (i = 0; i < NWORKERS; i++)
        pthread_join(w[i], NULL);
    close(pool.wake);
    close(pool.results[0]);
    close(pool.results[1]);
    printf("sum %ld\n", sum);
    return sum == 285 ? 0 : 1;
}
