#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NSINKS 3

enum clock_return { CLOCK_OK, CLOCK_EARLY, CLOCK_UNSCHEDULED, CLOCK_BUSY };

struct clock_entry {
    enum clock_return status;
    unsigned long time;
};

struct media_clock {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned long now;
    int waiting;
};

struct sink {
    pthread_mutex_t lock;
    struct media_clock *clock;
    struct clock_entry *id;
    int flushing;
    sem_t prerolled;
    int rendered;
    int skipped;
    pthread_t thread;
};

static atomic_int waits;

static enum clock_return clock_wait(struct media_clock *c, struct clock_entry *e)
{
    enum clock_return r;
    pthread_mutex_lock(&c->lock);
    if (e->time <= c->now) {
        pthread_mutex_unlock(&c->lock);
        return CLOCK_EARLY;
    }
    e->status = CLOCK_BUSY;
    c->waiting++;
    while (e->status == CLOCK_BUSY)
        pthread_cond_wait(&c->changed, &c->lock);
    c->waiting--;
    r = e->status;
    pthread_mutex_unlock(&c->lock);
    return r;
}

static void clock_unschedule(struct media_clock *c, struct clock_entry *e)
{
    pthread_mutex_lock(&c->lock);
    e->status = CLOCK_UNSCHEDULED;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static enum clock_return sink_wait(struct sink *s, unsigned long time)
{
    struct clock_entry *e = malloc(sizeof *e);
    enum clock_return r;
    if (e == NULL)
        abort();
    e->status = CLOCK_OK;
    e->time = time;
    pthread_mutex_lock(&s->lock);
    if (s->flushing) {
        pthread_mutex_unlock(&s->lock);
        free(e);
        return CLOCK_UNSCHEDULED;
    }
    s->id = e;
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add_explicit(&waits, 1, memory_order_relaxed);
    r = clock_wait(s->clock, e);
    pthread_mutex_lock(&s->lock);
    s->id = NULL;
    pthread_mutex_unlock(&s->lock);
    free(e);
    return r;
}

static void sink_unlock(struct sink *s)
{
    pthread_mutex_lock(&s->lock);
    s->flushing = 1;
    if (s->id != NULL)
        clock_unschedule(s->clock, s->id);
    pthread_mutex_unlock(&s->lock);
}

static void *sink_main(void *arg)
{
    struct sink *s = arg;
    unsigned long pts;
    for (pts = 80;; pts += 40) {
        switch (sink_wait(s, pts)) {
        case CLOCK_UNSCHEDULED:
            s->skipped++;
            return NULL;
        default:
            if (s->rendered++ == 0)
                sem_post(&s->prerolled);
        }
    }
}

int main(void)
{
    static struct media_clock clock = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .now = 100
    };
    static struct sink sinks[NSINKS];
    int i, rendered = 0;
    for (i = 0; i < NSINKS; i++) {
        pthread_mutex_init(&sinks[i].lock, NULL);
        sem_init(&sinks[i].prerolled, 0, 0);
        sinks[i].clock = &clock;
        pthread_create(&sinks[i].thread, NULL, sink_main, &sinks[i]);
    }
    for (i = 0; i < NSINKS; i++)
        sem_wait(&sinks[i].prerolled);
    for (i = 0; i < NSINKS; i++)
        sink_unlock(&sinks[i]);
    for (i = 0; i < NSINKS; i++) {
        pthread_join(sinks[i].thread, NULL);
        rendered += sinks[i].rendered;
    }
    printf("%d rendered, %d waits\n", rendered, atomic_load(&waits));
    return 0;
}
