#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NPARTS 4
#define NREQUESTS 4
#define NWORKERS 2

struct request {
    atomic_int pending;
    atomic_int failed;
    int number;
    int parts;
    long checksum[NPARTS];
    struct batch *batch;
};

struct part {
    struct part *next;
    struct request *request;
    int index;
};

struct batch {
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int left;
    long total;
};

struct device {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct part *stack;
    int stop;
};

static struct device device = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };
static atomic_int live_requests;

static void request_finish(struct request *r)
{
    struct batch *b = r->batch;
    long sum = 0;
    int i;
    for (i = 0; i < r->parts; i++)
        sum += r->checksum[i];
    free(r);
    atomic_fetch_sub(&live_requests, 1);
    pthread_mutex_lock(&b->lock);
    b->total += sum;
    if (--b->left == 0)
        pthread_cond_signal(&b->finished);
    pthread_mutex_unlock(&b->lock);
}

static void request_put(struct request *r)
{
    if (atomic_fetch_sub_explicit(&r->pending, 1, memory_order_acq_rel) == 1)
        request_finish(r);
}

static void device_submit(struct device *d, struct part *p)
{
    pthread_mutex_lock(&d->lock);
    p->next = d->stack;
    d->stack = p;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->lock);
}

static void *worker_main(void *arg)
{
    struct device *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->stop || d->stack != NULL) {
        struct part *p = d->stack;
        if (p == NULL) {
            pthread_cond_wait(&d->work, &d->lock);
            continue;
        }
        d->stack = p->next;
        pthread_mutex_unlock(&d->lock);
        p->request->checksum[p->index] = 100L * p->request->number + p->index;
        request_put(p->request);
        free(p);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void submit_request(struct batch *b, int number, int parts)
{
    struct request *r = calloc(1, sizeof *r);
    int i;
    if (r == NULL)
        abort();
    r->number = number;
    r->parts = parts;
    r->batch = b;
    atomic_init(&r->pending, 1);
    atomic_fetch_add(&live_requests, 1);
    for (i = 0; i < parts; i++) {
        struct part *p = malloc(sizeof *p);
        if (p == NULL)
            abort();
        p->request = r;
        p->index = i;
        atomic_fetch_add_explicit(&r->pending, 1, memory_order_relaxed);
        device_submit(&device, p);
    }
    request_put(r);
}

int main(void)
{
    static struct batch batch = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER, .left = NREQUESTS
    };
    pthread_t workers[NWORKERS];
    long expected = 0;
    int i, k;
    for (i = 0; i < NWORKERS; i++)
        pthread_create(&workers[i], NULL, worker_main, &device);
    for (i = 0; i < NREQUESTS; i++) {
        submit_request(&batch, i, 1 + i % NPARTS);
        for (k = 0; k < 1 + i % NPARTS; k++)
            expected += 100L * i + k;
    }
    pthread_mutex_lock(&batch.lock);
    while (batch.left > 0)
        pthread_cond_wait(&batch.finished, &batch.lock);
    pthread_mutex_unlock(&batch.lock);
    pthread_mutex_lock(&device.lock);
    device.stop = 1;
    pthread_cond_broadcast(&device.work);
    pthread_mutex_unlock(&device.lock);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("total %ld, %d requests live\n", batch.total, atomic_load(&live_requests));
    return batch.total != expected || atomic_load(&live_requests) != 0;
}
