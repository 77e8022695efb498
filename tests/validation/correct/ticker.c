/* A periodic POSIX timer whose notifications run in their own threads
   (SIGEV_THREAD); main collects five ticks, then removes the timer. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WANT 5

struct ticks {
    pthread_mutex_t lock;
    sem_t arrived;
    int count;
    int closed;
};

static struct ticks tk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void on_tick(union sigval v)
{
    struct ticks *t = v.sival_ptr;

    pthread_mutex_lock(&t->lock);
    if (!t->closed && t->count < WANT) {
        t->count++;
        sem_post(&t->arrived);
    }
    pthread_mutex_unlock(&t->lock);
}

static void *compute(void *arg)
{
    unsigned long *out = arg, x = *out;
    int i;

    for (i = 0; i < 50000; i++)
        x = x * 6364136223846793005UL + 1442695040888963407UL;
    *out = x;
    return NULL;
}

int main(void)
{
    struct sigevent ev;
    struct itimerspec its;
    unsigned long a = 1, b = 1;
    pthread_t t1, t2;
    timer_t id;
    int i, n;

    sem_init(&tk.arrived, 0, 0);
    pthread_create(&t1, NULL, compute, &a);
    pthread_create(&t2, NULL, compute, &b);
    memset(&ev, 0, sizeof ev);
    ev.sigev_notify = SIGEV_THREAD;
    ev.sigev_notify_function = on_tick;
    ev.sigev_value.sival_ptr = &tk;
    if (timer_create(CLOCK_MONOTONIC, &ev, &id) != 0) {
        perror("timer_create");
        return 2;
    }
    memset(&its, 0, sizeof its);
    its.it_value.tv_nsec = 4000000;
    its.it_interval.tv_nsec = 4000000;
    timer_settime(id, 0, &its, NULL);
    for (i = 0; i < WANT; i++)
        while (sem_wait(&tk.arrived) != 0 && errno == EINTR)
            ;
    timer_delete(id);
    pthread_mutex_lock(&tk.lock);
    tk.closed = 1;
    n = tk.count;
    pthread_mutex_unlock(&tk.lock);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    printf("ticks %d, equal %d\n", n, a == b);
    return n == WANT && a == b ? 0 : 1;
}
