/* Background jobs of a server: each kind has a lane with a queue and a worker,
 * which parks when there is nothing to do. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NLANES 2
#define NJOBS  5
#define MAXQ   8

struct job {
    long arg;
    long result;
    int  done;
};

struct lane {
    int             id;
    pthread_mutex_t queue_lock;
    struct job     *queue[MAXQ];
    int             head, tail;

    pthread_mutex_t park_lock;
    pthread_cond_t  park_cond;
    int             parked;
    int             stop;

    pthread_mutex_t done_lock;
    pthread_cond_t  done_cond;
    pthread_t       worker, client;
    long            sum;
};

static struct lane lanes[NLANES];
static atomic_long jobs_run, unparks;

static void queue_push(struct lane *l, struct job *j)
{
    pthread_mutex_lock(&l->queue_lock);
    l->queue[l->tail++ % MAXQ] = j;
    pthread_mutex_unlock(&l->queue_lock);
}

static struct job *queue_pop(struct lane *l)
{
    struct job *j = NULL;

    pthread_mutex_lock(&l->queue_lock);
    if (l->head != l->tail)
        j = l->queue[l->head++ % MAXQ];
    pthread_mutex_unlock(&l->queue_lock);
    return j;
}

static void unpark(struct lane *l)
{
    pthread_mutex_lock(&l->park_lock);
    if (l->parked) {
        pthread_cond_signal(&l->park_cond);
        atomic_fetch_add_explicit(&unparks, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&l->park_lock);
}

/* False when the lane is to end. */
static int park(struct lane *l)
{
    int more;

    pthread_mutex_lock(&l->park_lock);
    if (!l->stop) {
        l->parked = 1;
        pthread_cond_wait(&l->park_cond, &l->park_lock);
        l->parked = 0;
    }
    more = !l->stop;
    pthread_mutex_unlock(&l->park_lock);
    return more;
}

static void job_run(struct lane *l, struct job *j)
{
    long result = j->arg * j->arg + l->id;

    atomic_fetch_add_explicit(&jobs_run, 1, memory_order_relaxed);
    pthread_mutex_lock(&l->done_lock);
    j->result = result;
    j->done = 1;
    pthread_cond_signal(&l->done_cond);
    pthread_mutex_unlock(&l->done_lock);
}

static void *worker_main(void *arg)
{
    struct lane *l = arg;
    int more = 1;

    while (more) {
        struct job *j = queue_pop(l);

        if (j)
            job_run(l, j);
        else
            more = park(l);
    }
    return NULL;
}

static long submit(struct lane *l, long arg)
{
    struct job j = { .arg = arg };

    queue_push(l, &j);
    unpark(l);
    pthread_mutex_lock(&l->done_lock);
    while (!j.done)
        pthread_cond_wait(&l->done_cond, &l->done_lock);
    pthread_mutex_unlock(&l->done_lock);
    return j.result;
}

static void *client_main(void *arg)
{
    struct lane *l = arg;

    for (int i = 0; i < NJOBS; i++)
        l->sum += submit(l, i + 1);
    return NULL;
}

static void lane_start(struct lane *l, int id)
{
    l->id = id;
    pthread_mutex_init(&l->queue_lock, NULL);
    pthread_mutex_init(&l->park_lock, NULL);
    pthread_cond_init(&l->park_cond, NULL);
    pthread_mutex_init(&l->done_lock, NULL);
    pthread_cond_init(&l->done_cond, NULL);
    pthread_create(&l->worker, NULL, worker_main, l);
    pthread_create(&l->client, NULL, client_main, l);
}

static void lane_stop(struct lane *l)
{
    pthread_mutex_lock(&l->park_lock);
    l->stop = 1;
    pthread_cond_signal(&l->park_cond);
    pthread_mutex_unlock(&l->park_lock);
    pthread_join(l->worker, NULL);
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < NLANES; i++)
        lane_start(&lanes[i], i);
    for (int i = 0; i < NLANES; i++)
        pthread_join(lanes[i].client, NULL);
    for (int i = 0; i < NLANES; i++) {
        lane_stop(&lanes[i]);
        sum += lanes[i].sum;
    }
    printf("%ld jobs, sum %ld, %ld unparks\n", atomic_load(&jobs_run), sum, atomic_load(&unparks));
    return sum == NLANES * 55 + NJOBS ? 0 : 1;
}
