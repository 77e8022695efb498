#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define NSERVERS 2
#define NREQ 6

struct desk {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t idle;
    int pending;
    int busy;
    int served;
    int closed;
};

struct server {
    pthread_t thread;
    struct desk *desk;
    char *scratch;
};

static void leave_desk(void *arg)
{
    struct desk *d = arg;
    d->closed++;
    pthread_mutex_unlock(&d->lock);
}

static void drop_scratch(void *arg)
{
    struct server *s = arg;
    free(s->scratch);
    s->scratch = NULL;
}

static void serve_one(struct desk *d)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    d->pending--;
    d->busy++;
    pthread_mutex_unlock(&d->lock);
    sched_yield();
    pthread_mutex_lock(&d->lock);
    d->busy--;
    d->served++;
    if (d->pending == 0 && d->busy == 0)
        pthread_cond_signal(&d->idle);
    pthread_setcancelstate(old, NULL);
}

static void *server_main(void *arg)
{
    struct server *s = arg;
    struct desk *d = s->desk;
    s->scratch = malloc(64);
    pthread_cleanup_push(drop_scratch, s);
    pthread_mutex_lock(&d->lock);
    pthread_cleanup_push(leave_desk, d);
    for (;;) {
        while (d->pending == 0)
            pthread_cond_wait(&d->work, &d->lock);
        serve_one(d);
    }
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    static struct desk d = { .lock = PTHREAD_MUTEX_INITIALIZER,
                             .work = PTHREAD_COND_INITIALIZER,
                             .idle = PTHREAD_COND_INITIALIZER };
    static struct server s[NSERVERS];
    int bad = 0;
    int i;
    for (i = 0; i < NSERVERS; i++) {
        s[i].desk = &d;
        pthread_create(&s[i].thread, NULL, server_main, &s[i]);
    }
    pthread_mutex_lock(&d.lock);
    d.pending = NREQ;
    pthread_cond_broadcast(&d.work);
    while (d.pending > 0 || d.busy > 0)
        pthread_cond_wait(&d.idle, &d.lock);
    pthread_mutex_unlock(&d.lock);
    for (i = 0; i < NSERVERS; i++)
        pthread_cancel(s[i].thread);
    for (i = 0; i < NSERVERS; i++) {
        void *res;
        pthread_join(s[i].thread, &res);
        bad += res != PTHREAD_CANCELED || s[i].scratch != NULL;
    }
    printf("served %d\n", d.served);
    return bad || d.served != NREQ ? 1 : 0;
}
