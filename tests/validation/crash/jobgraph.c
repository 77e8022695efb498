#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NPARENTS 2
#define NSTAGES 3
#define QMAX 16

struct job {
    atomic_int deps;
    int *input;
    int stage;
    long result;
};

struct runq {
    pthread_mutex_t lock;
    struct job *jobs[QMAX];
    int n;
};

static struct job joins[NSTAGES];
static struct runq runq = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_barrier_t stage_end;

static long work(long seed)
{
    int i;
    for (i = 0; i < 2000; i++)
        seed = (seed * 48271 + 1) % 2147483647;
    return seed;
}

static void runq_push(struct job *j)
{
    pthread_mutex_lock(&runq.lock);
    runq.jobs[runq.n++] = j;
    pthread_mutex_unlock(&runq.lock);
}

static void dep_done(struct job *j)
{
    atomic_fetch_sub(&j->deps, 1);
    if (atomic_load(&j->deps) == 0)
        runq_push(j);
}

static void *parent_main(void *arg)
{
    long seed = *(int *)arg + 3;
    int s;
    for (s = 0; s < NSTAGES; s++) {
        seed = work(seed);
        dep_done(&joins[s]);
        pthread_barrier_wait(&stage_end);
    }
    return NULL;
}

static void run_join(struct job *j)
{
    int *in = j->input;
    j->result = in[0] + in[1];
    free(in);
    j->input = NULL;
}

static struct job *runq_pop(void)
{
    struct job *j = NULL;
    pthread_mutex_lock(&runq.lock);
    if (runq.n > 0)
        j = runq.jobs[--runq.n];
    pthread_mutex_unlock(&runq.lock);
    return j;
}

int main(void)
{
    pthread_t t[NPARENTS];
    int id[NPARENTS];
    struct job *j;
    long sum = 0;
    int i;
    pthread_barrier_init(&stage_end, NULL, NPARENTS);
    for (i = 0; i < NSTAGES; i++) {
        joins[i].stage = i;
        joins[i].input = calloc(2, sizeof(int));
        joins[i].input[0] = i;
        joins[i].input[1] = 10;
        atomic_store(&joins[i].deps, NPARENTS);
    }
    for (i = 0; i < NPARENTS; i++) {
        id[i] = i;
        pthread_create(&t[i], NULL, parent_main, &id[i]);
    }
    for (i = 0; i < NPARENTS; i++)
        pthread_join(t[i], NULL);
    while ((j = runq_pop()) != NULL) {
        run_join(j);
        sum += j->result;
    }
    printf("sum %ld\n", sum);
    return sum == 33 ? 0 : 1;
}
