/* Small portable-runtime style thread layer: every thread announces itself
 * and then runs the events which the dispatcher posts to it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 3
#define NEVENTS  64

typedef struct {
    pthread_t tid;
    void    (*start)(void *);
    void     *arg;
    int       priority;
    int       joinable;
} pr_thread;

typedef struct {
    pr_thread *thread;
    char       name[24];
    int        events[NEVENTS];
    int        posted;
    long       result;
} ns_thread;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t  added, posted;
    ns_thread      *threads[NTHREADS];
    int             count;
} registry = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .added = PTHREAD_COND_INITIALIZER,
    .posted = PTHREAD_COND_INITIALIZER,
};

static atomic_int events_run;

static void *pr_entry(void *p)
{
    pr_thread *t = p;

    t->start(t->arg);
    return NULL;
}

static pr_thread *pr_create_thread(void (*start)(void *), void *arg, int joinable)
{
    pr_thread *t = calloc(1, sizeof *t);

    t->start = start;
    t->arg = arg;
    t->joinable = joinable;
    t->priority = 1;
    if (pthread_create(&t->tid, NULL, pr_entry, t) != 0) {
        free(t);
        return NULL;
    }
    return t;
}

static void registry_add(ns_thread *nt)
{
    pthread_mutex_lock(&registry.lock);
    registry.threads[registry.count++] = nt;
    pthread_cond_signal(&registry.added);
    while (!nt->posted)
        pthread_cond_wait(&registry.posted, &registry.lock);
    pthread_mutex_unlock(&registry.lock);
}

static void *dispatcher_main(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&registry.lock);
    while (registry.count < NTHREADS)
        pthread_cond_wait(&registry.added, &registry.lock);
    for (int i = 0; i < NTHREADS; i++) {
        ns_thread *nt = registry.threads[i];
        unsigned x = 1u + (unsigned)i;

        for (int k = 0; k < NEVENTS; k++) {
            for (int spin = 0; spin < 20000; spin++)
                x = x * 1664525u + 1013904223u;
            nt->events[k] = (int)(x >> 20);
        }
        nt->posted = 1;
    }
    pthread_cond_broadcast(&registry.posted);
    pthread_mutex_unlock(&registry.lock);
    return NULL;
}

static long run_events(ns_thread *self)
{
    long acc = 0;

    for (int i = 0; i < NEVENTS; i++) {
        acc = acc * 17 + self->events[i];
        acc %= 1000003;
        atomic_fetch_add(&events_run, 1);
    }
    return acc;
}

static void thread_main(void *arg)
{
    ns_thread *self = arg;

    registry_add(self);
    self->result = run_events(self);
    self->thread->priority = 2;
    self->result += run_events(self);
}

static void ns_thread_init(ns_thread *nt, int index)
{
    snprintf(nt->name, sizeof nt->name, "worker-%d", index);
    nt->thread = pr_create_thread(thread_main, nt, 1);
}

static void ns_thread_shutdown(ns_thread *nt)
{
    pthread_join(nt->thread->tid, NULL);
}

int main(void)
{
    static ns_thread threads[NTHREADS];
    pthread_t dispatcher;

    pthread_create(&dispatcher, NULL, dispatcher_main, NULL);
    for (int i = 0; i < NTHREADS; i++)
        ns_thread_init(&threads[i], i);
    for (int i = 0; i < NTHREADS; i++)
        ns_thread_shutdown(&threads[i]);
    pthread_join(dispatcher, NULL);
    for (int i = 0; i < NTHREADS; i++) {
        printf("%s: result %ld priority %d\n", threads[i].name, threads[i].result,
               threads[i].thread->priority);
        free(threads[i].thread);
    }
    printf("%d threads, %d events\n", registry.count, atomic_load(&events_run));
    return registry.count == NTHREADS ? 0 : 1;
}
