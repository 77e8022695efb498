/* A timer thread. Other threads add timers; the timer thread sleeps until there
 * is something to do, fires what has been added, and ends when it is told to
 * shut down. Time is counted in ticks that the timers carry. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../pause.h"

#define TIMERS 12

struct timer {
    struct timer *next;
    int tick;
    void (*fire)(struct timer *t, uint32_t *digest);
};

struct timer_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct timer *pending;
    int shutdown;
    int fired;
    uint32_t digest;
};

static uint32_t stir(uint32_t x, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

static void fire_blink(struct timer *t, uint32_t *digest)
{
    *digest += stir((uint32_t)t->tick * 3u + 1u, 300);
}

static void fire_refresh(struct timer *t, uint32_t *digest)
{
    *digest += stir((uint32_t)t->tick * 5u + 2u, 500);
}

/* Takes the list of pending timers and fires them, without the lock held. */
static void fire_pending(struct timer_thread *tt)
{
    pthread_mutex_lock(&tt->lock);
    struct timer *list = tt->pending;
    tt->pending = NULL;
    pthread_mutex_unlock(&tt->lock);

    while (list != NULL) {
        struct timer *t = list;
        list = t->next;
        t->fire(t, &tt->digest);
        tt->fired++;
        free(t);
    }
}

static void *timer_main(void *arg)
{
    struct timer_thread *tt = arg;

    fire_pending(tt);
    while (!tt->shutdown) { PAUSE(60);
        pthread_mutex_lock(&tt->lock);
        if (tt->pending == NULL)
            pthread_cond_wait(&tt->wake, &tt->lock);
        pthread_mutex_unlock(&tt->lock);
        fire_pending(tt);
    }
    fire_pending(tt);
    return NULL;
}

static int timer_thread_init(struct timer_thread *tt)
{
    pthread_mutex_init(&tt->lock, NULL);
    pthread_cond_init(&tt->wake, NULL);
    int status = pthread_create(&tt->thread, NULL, timer_main, tt); PAUSE(20);
    return status;
}

static void timer_thread_add(struct timer_thread *tt, int tick, void (*fire)(struct timer *, uint32_t *))
{
    struct timer *t = malloc(sizeof *t);

    if (t == NULL)
        abort();
    t->tick = tick;
    t->fire = fire;
    pthread_mutex_lock(&tt->lock);
    t->next = tt->pending;
    tt->pending = t;
    pthread_cond_signal(&tt->wake);
    pthread_mutex_unlock(&tt->lock);
}

static void timer_thread_shutdown(struct timer_thread *tt)
{
    pthread_mutex_lock(&tt->lock);
    tt->shutdown = 1;
    pthread_cond_signal(&tt->wake);
    pthread_mutex_unlock(&tt->lock);
    pthread_join(tt->thread, NULL);
    pthread_cond_destroy(&tt->wake);
    pthread_mutex_destroy(&tt->lock);
}

int main(void)
{
    static struct timer_thread tt;
    uint32_t page = 1;

    if (timer_thread_init(&tt) != 0)
        return 2;
    for (int i = 0; i < TIMERS; i++) {
        page = stir(page + (uint32_t)i, 3000);
        timer_thread_add(&tt, i, i % 3 == 0 ? fire_refresh : fire_blink);
    }
    page = stir(page, 20000); PAUSE(70);
    timer_thread_shutdown(&tt);
    printf("%d timers fired, digest %08x, page %08x\n", tt.fired, (unsigned)tt.digest,
           (unsigned)page);
    return 0;
}
