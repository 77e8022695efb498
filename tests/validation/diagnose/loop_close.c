#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NWORKERS 2
#define NREQS 6

struct async_handle {
    int pending;
    unsigned sent;
};

struct work_req {
    struct work_req *next;
    int id;
    long result;
};

struct loop {
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct async_handle *async;
    struct work_req *queue;
    struct work_req *finished;
    int active_reqs;
};

static void loop_init(struct loop *l)
{
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->done, NULL);
    l->async = calloc(1, sizeof *l->async);
    l->queue = NULL;
    l->finished = NULL;
    l->active_reqs = 0;
}

static void queue_work(struct loop *l, struct work_req *r, int id)
{
    r->id = id;
    r->result = 0;
    pthread_mutex_lock(&l->lock);
    r->next = l->queue;
    l->queue = r;
    l->active_reqs++;
    pthread_mutex_unlock(&l->lock);
}

static struct work_req *take_work(struct loop *l)
{
    struct work_req *r;
    pthread_mutex_lock(&l->lock);
    r = l->queue;
    if (r)
        l->queue = r->next;
    pthread_mutex_unlock(&l->lock);
    return r;
}

static void finish_work(struct loop *l, struct work_req *r)
{
    pthread_mutex_lock(&l->lock);
    r->next = l->finished;
    l->finished = r;
    l->active_reqs--;
    if (l->active_reqs == 0)
        pthread_cond_signal(&l->done);
    pthread_mutex_unlock(&l->lock);
}

static void async_send(struct loop *l)
{
    struct async_handle *h;
    pthread_mutex_lock(&l->lock);
    h = l->async;
    h->pending = 1;
    h->sent++;
    pthread_mutex_unlock(&l->lock);
}

static long checksum(int id)
{
    long v = id;
    int i;
    for (i = 0; i < 40; i++)
        v = (v * 17 + i) % 9973;
    return v;
}

static void *worker_main(void *arg)
{
    struct loop *l = arg;
    struct work_req *r;
    while ((r = take_work(l)) != NULL) {
        r->result = checksum(r->id);
        finish_work(l, r);
        async_send(l);
    }
    return NULL;
}

static int loop_run(struct loop *l, long *sum)
{
    struct work_req *r;
    int n = 0;
    pthread_mutex_lock(&l->lock);
    while (l->active_reqs > 0)
        pthread_cond_wait(&l->done, &l->lock);
    for (r = l->finished; r; r = r->next) {
        *sum += r->result;
        n++;
    }
    pthread_mutex_unlock(&l->lock);
    return n;
}

static void loop_close(struct loop *l)
{
    struct async_handle *h;
    pthread_mutex_lock(&l->lock);
    h = l->async;
    l->async = NULL;
    pthread_mutex_unlock(&l->lock);
    free(h);
}

int main(void)
{
    struct loop loop;
    struct work_req reqs[NREQS];
    pthread_t tid[NWORKERS];
    long sum = 0;
    int n;
    int i;
    loop_init(&loop);
    for (i = 0; i < NREQS; i++)
        queue_work(&loop, &reqs[i], i);
    for (i = 0; i < NWORKERS; i++)
        pthread_create(&tid[i], NULL, worker_main, &loop);
    n = loop_run(&loop, &sum);
    loop_close(&loop);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(tid[i], NULL);
    pthread_cond_destroy(&loop.done);
    pthread_mutex_destroy(&loop.lock);
    printf("%d requests, sum %ld\n", n, sum);
    return n == NREQS ? 0 : 1;
}
