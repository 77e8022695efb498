#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPEERS 4
#define NPULSES 3

struct bandwidth {
    unsigned limit_up;
    unsigned limit_down;
    unsigned long used;
};

struct peer {
    unsigned id;
    unsigned wanted;
    unsigned granted;
};

struct event_loop {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int queued;
    int closing;
    int running;
    unsigned pulses;
};

struct session {
    char config_dir[32];
    struct event_loop *loop;
    struct bandwidth *bandwidth;
    struct peer peers[NPEERS];
    unsigned long granted;
};

static unsigned allocate(struct bandwidth *b, unsigned wanted)
{
    unsigned n = wanted;
    if (n > b->limit_down)
        n = b->limit_down;
    b->used += n;
    return n;
}

static void session_pulse(struct session *s)
{
    struct bandwidth *b = s->bandwidth;
    int i;
    for (i = 0; i < NPEERS; i++) {
        struct peer *p = &s->peers[i];
        p->granted = allocate(b, p->wanted);
        s->granted += p->granted;
    }
}

static void *loop_main(void *arg)
{
    struct session *s = arg;
    struct event_loop *l = s->loop;
    int closing = 0;
    pthread_mutex_lock(&l->lock);
    l->running = 1;
    pthread_mutex_unlock(&l->lock);
    while (!closing) {
        session_pulse(s);
        l->pulses++;
        pthread_mutex_lock(&l->lock);
        while (l->queued == 0 && !l->closing)
            pthread_cond_wait(&l->cond, &l->lock);
        if (l->queued > 0)
            l->queued--;
        else
            closing = 1;
        pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

static void loop_init(struct session *s)
{
    struct event_loop *l = calloc(1, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->cond, NULL);
    s->loop = l;
    pthread_mutex_lock(&l->lock);
    pthread_create(&l->thread, NULL, loop_main, s);
    pthread_mutex_unlock(&l->lock);
}

static void loop_queue(struct event_loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->queued++;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->lock);
}

static void loop_close(struct event_loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->closing = 1;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->cond);
    pthread_mutex_destroy(&l->lock);
}

static struct bandwidth *bandwidth_new(unsigned up, unsigned down)
{
    struct bandwidth *b = calloc(1, sizeof *b);
    b->limit_up = up;
    b->limit_down = down;
    return b;
}

static struct session *session_new(const char *dir)
{
    struct session *s = calloc(1, sizeof *s);
    unsigned i;
    snprintf(s->config_dir, sizeof s->config_dir, "%s", dir);
    for (i = 0; i < NPEERS; i++) {
        s->peers[i].id = i;
        s->peers[i].wanted = 10 + i * 5;
    }
    loop_init(s);
    s->bandwidth = bandwidth_new(16, 20);
    return s;
}

int main(void)
{
    struct session *s = session_new("/home/user/.config");
    unsigned pulses;
    int i;
    for (i = 0; i < NPULSES; i++)
        loop_queue(s->loop);
    loop_close(s->loop);
    pulses = s->loop->pulses;
    printf("%u pulses, %lu granted\n", pulses, s->granted);
    free(s->loop);
    free(s->bandwidth);
    free(s);
    return pulses == NPULSES + 1 ? 0 : 1;
}
