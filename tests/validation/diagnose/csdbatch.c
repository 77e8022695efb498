/* Cross calls: a thread asks a service thread to run a function and waits
 * for it.  The service thread takes all waiting calls at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCALLERS 3
#define NCALLS   3

typedef long (*call_fn)(long);

struct call {
    long         arg;
    long         result;
    call_fn      func;
    struct call *next;
    int          locked;                /* until the call is done; done_lock */
};

struct service {
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    struct call    *head;               /* newest first */
    int             stop;
    long            batches;
    long            calls;
    pthread_mutex_t done_lock;
    pthread_cond_t  done_cond;
};

struct caller {
    int       id;
    long      sum;
    pthread_t thread;
};

static struct service svc = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER,
    .done_lock = PTHREAD_MUTEX_INITIALIZER, .done_cond = PTHREAD_COND_INITIALIZER
};
static atomic_long caller_ops;          /* statistics */
static long longest_batch;

static long square(long x) { return x * x; }
static long triple(long x) { return 3 * x; }

static struct call *call_new(call_fn func, long arg)
{
    struct call *c = malloc(sizeof(*c));

    if (c == NULL)
        abort();
    c->func = func;
    c->arg = arg;
    c->result = 0;
    c->next = NULL;
    c->locked = 1;
    return c;
}

static void call_queue(struct service *s, struct call *c)
{
    pthread_mutex_lock(&s->lock);
    c->next = s->head;
    s->head = c;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->lock);
}

static void call_unlock(struct service *s, struct call *c)
{
    pthread_mutex_lock(&s->done_lock);
    c->locked = 0;
    pthread_cond_broadcast(&s->done_cond);
    pthread_mutex_unlock(&s->done_lock);
}

static void call_wait(struct service *s, struct call *c)
{
    pthread_mutex_lock(&s->done_lock);
    while (c->locked)
        pthread_cond_wait(&s->done_cond, &s->done_lock);
    pthread_mutex_unlock(&s->done_lock);
}

static long call_sync(struct service *s, call_fn func, long arg)
{
    struct call *c = call_new(func, arg);
    long result;

    call_queue(s, c);
    atomic_fetch_add_explicit(&caller_ops, 1, memory_order_relaxed);
    call_wait(s, c);
    result = c->result;
    free(c);
    return result;
}

static struct call *take_batch(struct service *s)
{
    struct call *c;

    pthread_mutex_lock(&s->lock);
    while (s->head == NULL && !s->stop)
        pthread_cond_wait(&s->cond, &s->lock);
    c = s->head;
    s->head = NULL;
    if (c != NULL)
        s->batches++;
    pthread_mutex_unlock(&s->lock);
    return c;
}

static void flush_batch(struct service *s, struct call *c)
{
    long n = 0;

    for (; c != NULL; c = c->next) {
        c->result = c->func(c->arg);
        n++;
        call_unlock(s, c);
    }
    pthread_mutex_lock(&s->lock);
    s->calls += n;
    pthread_mutex_unlock(&s->lock);
    if (n > longest_batch)
        longest_batch = n;
}

static void *service_main(void *arg)
{
    struct service *s = arg;
    struct call *c;

    while ((c = take_batch(s)) != NULL)
        flush_batch(s, c);
    return NULL;
}

static void *caller_main(void *arg)
{
    struct caller *c = arg;

    for (int i = 0; i < NCALLS; i++)
        c->sum += call_sync(&svc, i % 2 ? square : triple, c->id + i);
    return NULL;
}

int main(void)
{
    struct caller callers[NCALLERS];
    pthread_t st;
    long sum = 0;

    memset(callers, 0, sizeof(callers));
    pthread_create(&st, NULL, service_main, &svc);
    for (int i = 0; i < NCALLERS; i++) {
        callers[i].id = i;
        pthread_create(&callers[i].thread, NULL, caller_main, &callers[i]);
    }
    for (int i = 0; i < NCALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        sum += callers[i].sum;
    }
    pthread_mutex_lock(&svc.lock);
    svc.stop = 1;
    pthread_cond_signal(&svc.cond);
    pthread_mutex_unlock(&svc.lock);
    pthread_join(st, NULL);
    printf("%ld calls in %ld batches, sum %ld\n", svc.calls, svc.batches, sum);
    return svc.calls == NCALLERS * NCALLS ? 0 : 1;
}
