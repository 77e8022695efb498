/* Background workers: the postmaster starts a worker in a slot, a backend
 * waits for it to start and gives it work through its mailbox. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NSLOTS 3
#define NTASKS 3

enum { FREE, STARTING, RUNNING, STOPPED };

struct slot {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    int             state;
    int             mailbox;            /* number of tasks it was sent, -1: no mailbox */
    int             closed;
    long            done;
    pthread_t       thread;
};

static struct slot slots[NSLOTS];
static atomic_long started, notices;

static void slot_set_state(struct slot *s, int state)
{
    pthread_mutex_lock(&s->lock);
    s->state = state;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void mailbox_open(struct slot *s)
{
    pthread_mutex_lock(&s->lock);
    s->mailbox = 0;
    pthread_mutex_unlock(&s->lock);
}

/* 0 if there is no mailbox. */
static int mailbox_send(struct slot *s)
{
    int ok = 0;

    pthread_mutex_lock(&s->lock);
    if (s->mailbox >= 0) {
        s->mailbox++;
        ok = 1;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

static void *worker_main(void *arg)
{
    struct slot *s = arg;

    atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
    slot_set_state(s, RUNNING);
    mailbox_open(s);
    pthread_mutex_lock(&s->lock);
    while (!s->closed || s->mailbox > 0) {
        if (s->mailbox > 0) {
            s->mailbox--;
            s->done++;
        } else {
            pthread_cond_wait(&s->changed, &s->lock);
        }
    }
    s->state = STOPPED;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void wait_for_startup(struct slot *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->state == STARTING)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void *backend_main(void *arg)
{
    int *lost = arg;

    for (int i = 0; i < NSLOTS; i++) {
        struct slot *s = &slots[i];

        wait_for_startup(s);
        for (int t = 0; t < NTASKS; t++) {
            atomic_fetch_add_explicit(&notices, 1, memory_order_relaxed);
            if (!mailbox_send(s))
                ++*lost;
        }
        pthread_mutex_lock(&s->lock);
        s->closed = 1;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t backend;
    int lost = 0;
    long done = 0;

    for (int i = 0; i < NSLOTS; i++) {
        struct slot *s = &slots[i];

        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->changed, NULL);
        s->state = STARTING;
        s->mailbox = -1;
        pthread_create(&s->thread, NULL, worker_main, s);
    }
    pthread_create(&backend, NULL, backend_main, &lost);
    pthread_join(backend, NULL);
    for (int i = 0; i < NSLOTS; i++) {
        pthread_join(slots[i].thread, NULL);
        done += slots[i].done;
    }
    printf("%ld workers, %ld notices\n", atomic_load(&started), atomic_load(&notices));
    if (lost)
        fprintf(stderr, "%d tasks sent to a worker without mailbox, %ld done\n", lost, done);
    return lost ? 1 : 0;
}
