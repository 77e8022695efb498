/* Synchronous calls to a service thread: the caller makes an event on its
 * stack, posts the request and waits for the event. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCALLERS 3
#define NCALLS   3
#define LIVE     0x45564e54u
#define DEAD     0xdeadbeefu

struct event {
    unsigned        magic;
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    atomic_int      signaled;
    int             wakeups;
};

struct request {
    struct event   *done;
    int             arg, result;
    struct request *next;
};

static pthread_mutex_t q_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t q_cond = PTHREAD_COND_INITIALIZER;
static struct request *q_head;
static int q_stop;
static atomic_long calls;

static void event_init(struct event *e)
{
    e->magic = LIVE;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->cond, NULL);
    atomic_init(&e->signaled, 0);
    e->wakeups = 0;
}

static void event_destroy(struct event *e)
{
    e->magic = DEAD;
}

static void event_signal(struct event *e)
{
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->signaled, 1);
    pthread_cond_signal(&e->cond);
    if (e->magic != LIVE) {
        fprintf(stderr, "event %x used after it was destroyed\n", e->magic);
        abort();
    }
    pthread_mutex_unlock(&e->lock);
}

static void event_wait(struct event *e)
{
    if (atomic_load(&e->signaled))
        return;
    pthread_mutex_lock(&e->lock);
    while (!atomic_load(&e->signaled)) {
        pthread_cond_wait(&e->cond, &e->lock);
        e->wakeups++;
    }
    pthread_mutex_unlock(&e->lock);
}

static void *service_main(void *arg)
{
    (void)arg;
    for (;;) {
        struct request *r;

        pthread_mutex_lock(&q_lock);
        while (!q_head && !q_stop)
            pthread_cond_wait(&q_cond, &q_lock);
        r = q_head;
        if (r)
            q_head = r->next;
        pthread_mutex_unlock(&q_lock);
        if (!r)
            return NULL;
        r->result = r->arg * r->arg;
        event_signal(r->done);
    }
}

static int call_service(struct event *e, int arg)
{
    struct request r = { .done = e, .arg = arg };

    event_init(e);
    pthread_mutex_lock(&q_lock);
    r.next = q_head;
    q_head = &r;
    pthread_cond_signal(&q_cond);
    pthread_mutex_unlock(&q_lock);
    event_wait(e);
    event_destroy(e);
    return r.result;
}

static void *caller_main(void *arg)
{
    long *sum = arg;
    static _Thread_local struct event e[NCALLS];

    for (int i = 0; i < NCALLS; i++) {
        *sum += call_service(&e[i], i + 1);
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t service, t[NCALLERS];
    long sum[NCALLERS] = { 0 }, total = 0;

    for (int i = 0; i < NCALLERS; i++)
        pthread_create(&t[i], NULL, caller_main, &sum[i]);
    pthread_create(&service, NULL, service_main, NULL);
    for (int i = 0; i < NCALLERS; i++) {
        pthread_join(t[i], NULL);
        total += sum[i];
    }
    pthread_mutex_lock(&q_lock);
    q_stop = 1;
    pthread_cond_signal(&q_cond);
    pthread_mutex_unlock(&q_lock);
    pthread_join(service, NULL);
    printf("%ld calls, total %ld\n", atomic_load(&calls), total);
    return total == NCALLERS * 14 ? 0 : 1;
}
