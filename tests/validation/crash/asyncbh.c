#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NREQ 12

struct req {
    int id;
    int result;
    struct req *next;
};

struct queue {
    pthread_mutex_t lock;
    struct req *head;
    struct req **tail;
};

struct loop {
    pthread_mutex_t lock;
    pthread_cond_t kick;
    int scheduled;
    int stopping;
    struct queue q;
    int wakeups;
};

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int completed;
    long sum;
};

static struct loop loop;
static struct waiter waiter;

static void queue_push(struct queue *q, struct req *r)
{
    pthread_mutex_lock(&q->lock);
    r->next = NULL;
    *q->tail = r;
    q->tail = &r->next;
    pthread_mutex_unlock(&q->lock);
}

static struct req *queue_take_all(struct queue *q)
{
    struct req *list;
    pthread_mutex_lock(&q->lock);
    list = q->head;
    q->head = NULL;
    q->tail = &q->head;
    pthread_mutex_unlock(&q->lock);
    return list;
}

static void loop_schedule(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    if (!l->scheduled) {
        l->scheduled = 1;
        pthread_cond_signal(&l->kick);
    }
    pthread_mutex_unlock(&l->lock);
}

static int loop_wait(struct loop *l)
{
    int stop;
    pthread_mutex_lock(&l->lock);
    while (!l->scheduled && !l->stopping)
        pthread_cond_wait(&l->kick, &l->lock);
    stop = l->stopping;
    pthread_mutex_unlock(&l->lock);
    return stop;
}

static void loop_done(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->scheduled = 0;
    l->wakeups++;
    pthread_mutex_unlock(&l->lock);
}

static void complete(struct req *r)
{
    pthread_mutex_lock(&waiter.lock);
    waiter.completed++;
    waiter.sum += r->result;
    pthread_cond_signal(&waiter.done);
    pthread_mutex_unlock(&waiter.lock);
    free(r);
}

static void run_bottom_half(struct loop *l)
{
    struct req *r = queue_take_all(&l->q);
    while (r != NULL) {
        struct req *next = r->next;
        r->result = r->id * r->id;
        complete(r);
        r = next;
    }
}

static void *loop_main(void *arg)
{
    struct loop *l = arg;
    while (!loop_wait(l)) {
        run_bottom_half(l);
        loop_done(l);
    }
    return NULL;
}

static void submit(struct loop *l, int id)
{
    struct req *r = calloc(1, sizeof(*r));
    r->id = id;
    queue_push(&l->q, r);
    loop_schedule(l);
}

static void wait_all(struct waiter *w, int n)
{
    pthread_mutex_lock(&w->lock);
    while (w->completed < n)
        pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

int main(void)
{
    pthread_t tid;

    pthread_mutex_init(&loop.lock, NULL);
    pthread_cond_init(&loop.kick, NULL);
    pthread_mutex_init(&loop.q.lock, NULL);
    loop.q.tail = &loop.q.head;
    pthread_mutex_init(&waiter.lock, NULL);
    pthread_cond_init(&waiter.done, NULL);

    pthread_create(&tid, NULL, loop_main, &loop);
    for (int i = 0; i < NREQ; i++) {
        submit(&loop, i);
    }
    wait_all(&waiter, NREQ);

    pthread_mutex_lock(&loop.lock);
    loop.stopping = 1;
    pthread_cond_signal(&loop.kick);
    pthread_mutex_unlock(&loop.lock);
    pthread_join(tid, NULL);
    printf("sum %ld in %d wakeups\n", waiter.sum, loop.wakeups);
    return 0;
}
