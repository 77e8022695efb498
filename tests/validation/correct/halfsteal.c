#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NWORKERS 3
#define NTASKS 24

struct runq {
    pthread_mutex_t lock;
    int task[NTASKS];
    int len;
};

struct worker {
    pthread_t thread;
    int id;
    long sum;
    int steals;
};

static struct runq runqs[NWORKERS];
static atomic_int left = NTASKS;

static int pop(struct runq *q, int *task)
{
    int ok = 0;
    pthread_mutex_lock(&q->lock);
    if (q->len > 0) {
        *task = q->task[--q->len];
        ok = 1;
    }
    pthread_mutex_unlock(&q->lock);
    return ok;
}

static int steal_half(int me, int from)
{
    struct runq *a = &runqs[me < from ? me : from];
    struct runq *b = &runqs[me < from ? from : me];
    struct runq *dst = &runqs[me];
    struct runq *src = &runqs[from];
    int n;
    int i;
    pthread_mutex_lock(&a->lock);
    pthread_mutex_lock(&b->lock);
    n = (src->len + 1) / 2;
    for (i = 0; i < n; i++)
        dst->task[dst->len++] = src->task[--src->len];
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&a->lock);
    return n;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    while (atomic_load(&left) > 0) {
        int task, k;
        if (pop(&runqs[w->id], &task)) {
            w->sum += task;
            atomic_fetch_sub(&left, 1);
            continue;
        }
        for (k = 1; k < NWORKERS; k++) {
            if (steal_half(w->id, (w->id + k) % NWORKERS) > 0) {
                w->steals++;
                break;
            }
        }
        if (k == NWORKERS)
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    static struct worker w[NWORKERS];
    long sum = 0;
    int i;
    for (i = 0; i < NWORKERS; i++)
        pthread_mutex_init(&runqs[i].lock, NULL);
    for (i = 0; i < NTASKS; i++)
        runqs[0].task[runqs[0].len++] = i;
    for (i = 0; i < NWORKERS; i++) {
        w[i].id = i;
        pthread_create(&w[i].thread, NULL, worker_main, &w[i]);
    }
    for (i = 0; i < NWORKERS; i++) {
        pthread_join(w[i].thread, NULL);
        sum += w[i].sum;
    }
    printf("sum %ld\n", sum);
    return sum == NTASKS * (NTASKS - 1) / 2 ? 0 : 1;
}
