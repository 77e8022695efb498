/* Worker registry: workers sign off when their batch is done; the service
 * waits for the batch and then stops every worker still registered. */
#include <unistd.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct worker {
    pthread_t tid;
    bool registered;
    int lo, hi;
    long result;
    struct service *svc;
};

struct service {
    pthread_mutex_t reg_lock;
    struct worker w[2];
    int n_registered;
    bool stopping;
    sem_t batch_done;
};

static long crunch(int lo, int hi)
{
    long acc = 0;
    for (int i = lo; i < hi; i++)
        acc += (long)i * i % 13;
    return acc;
}

static bool must_stop(struct service *s)
{
    return __atomic_load_n(&s->stopping, __ATOMIC_ACQUIRE);
}

static void sign_off(struct worker *w)
{
    struct service *s = w->svc;
    pthread_mutex_lock(&s->reg_lock);
    w->registered = false;
    s->n_registered--;
    pthread_mutex_unlock(&s->reg_lock);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    for (int k = w->lo; k < w->hi && !must_stop(w->svc); k += 50)
        w->result += crunch(k, k + 50);
    sem_post(&w->svc->batch_done);
 usleep(30000);
    sign_off(w);
    return NULL;
}

static void service_start(struct service *s)
{
    pthread_mutex_init(&s->reg_lock, NULL);
    sem_init(&s->batch_done, 0, 0);
    pthread_mutex_lock(&s->reg_lock);
    for (int i = 0; i < 2; i++) {
        struct worker *w = &s->w[i];
        w->svc = s;
        w->lo = i * 1000;
        w->hi = w->lo + 1000;
        w->registered = true;
        s->n_registered++;
        pthread_create(&w->tid, NULL, worker_main, w);
    }
    pthread_mutex_unlock(&s->reg_lock);
}

static long service_stop(struct service *s)
{
    long sum = 0;
    bool joined[2] = { false, false };

    pthread_mutex_lock(&s->reg_lock);
    __atomic_store_n(&s->stopping, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        if (s->w[i].registered) {
            pthread_join(s->w[i].tid, NULL);
            joined[i] = true;
        }
    pthread_mutex_unlock(&s->reg_lock);
    for (int i = 0; i < 2; i++) {
        if (!joined[i])
            pthread_join(s->w[i].tid, NULL);
        sum += s->w[i].result;
    }
    return sum;
}

int main(void)
{
    struct service *s = calloc(1, sizeof *s);
    char line[64];

    service_start(s);
    sem_wait(&s->batch_done);
    sem_wait(&s->batch_done);
    poll(NULL, 0, 2);               /* time to sign off */
    snprintf(line, sizeof line, "crunch %ld..%ld", crunch(0, 3000), crunch(0, 30));
    long sum = service_stop(s);
    printf("%s: %ld\n", line, sum);
    free(s);
    return 0;
}
