#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NSWITCH 4

struct timer_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    atomic_int need_tick;
    atomic_int quit;
    unsigned long ticks;
};

struct vm_thread {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int interrupted;
    int done;
};

static struct timer_thread timer;
static struct vm_thread vm;

static void vm_interrupt(struct vm_thread *v)
{
    pthread_mutex_lock(&v->lock);
    v->interrupted++;
    pthread_cond_signal(&v->cond);
    pthread_mutex_unlock(&v->lock);
}

static void vm_wait_interrupt(struct vm_thread *v, int n)
{
    pthread_mutex_lock(&v->lock);
    while (v->interrupted < n)
        pthread_cond_wait(&v->cond, &v->lock);
    v->done = n;
    pthread_mutex_unlock(&v->lock);
}

static int timer_sleep(struct timer_thread *t)
{
    int quit;
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->need_tick) == 0 && !atomic_load(&t->quit)) {
        pthread_cond_wait(&t->cond, &t->lock);
    }
    atomic_store(&t->need_tick, 0);
    quit = atomic_load(&t->quit);
    pthread_mutex_unlock(&t->lock);
    return quit;
}

static void *timer_main(void *arg)
{
    struct timer_thread *t = arg;
    while (!timer_sleep(t)) {
        t->ticks++;
        vm_interrupt(&vm);
    }
    return NULL;
}

static void timer_wake(struct timer_thread *t)
{
    atomic_store(&t->need_tick, 1);
    pthread_cond_signal(&t->cond);
}

static void timer_stop(struct timer_thread *t)
{
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->quit, 1);
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
}

static unsigned run_slice(unsigned x)
{
    int i;
    for (i = 0; i < 30000; i++)
        x = x * 69069u + 1u;
    return x;
}

int main(void)
{
    unsigned acc = 1;
    int i;
    pthread_mutex_init(&timer.lock, NULL);
    pthread_cond_init(&timer.cond, NULL);
    pthread_mutex_init(&vm.lock, NULL);
    pthread_cond_init(&vm.cond, NULL);
    pthread_create(&timer.thread, NULL, timer_main, &timer);
    for (i = 1; i <= NSWITCH; i++) {
        acc = run_slice(acc);
        timer_wake(&timer);
        vm_wait_interrupt(&vm, i);
    }
    timer_stop(&timer);
    printf("%u: %lu ticks\n", acc, timer.ticks);
    return timer.ticks == NSWITCH ? 0 : 1;
}
