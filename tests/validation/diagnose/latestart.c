/* Workers are started before the tables they use are built; they wait for the
 * gate, and the tables are taken away after the last one has gone. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NWORKERS 3
#define TABLE    64

struct engine {
    pthread_mutex_t lock;
    pthread_cond_t  opened;
    int             gate;
    int            *table;
    int             left;
    sem_t           gone;
};

struct worker {
    struct engine *e;
    int            first;
    long           sum;
};

static struct engine engine;
static atomic_long steps;

static void engine_enter(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    while (!e->gate)
        pthread_cond_wait(&e->opened, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static void engine_leave(struct engine *e)
{
    int last;

    pthread_mutex_lock(&e->lock);
    last = --e->left == 0;
    pthread_mutex_unlock(&e->lock);
    if (last)
        sem_post(&e->gone);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;

    engine_enter(w->e);
    for (int i = w->first; i < TABLE; i += NWORKERS) {
        w->sum += w->e->table[i];
        atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
    }
    engine_leave(w->e);
    return NULL;
}

static void engine_open(struct engine *e)
{
    e->table = malloc(TABLE * sizeof e->table[0]);
    if (!e->table)
        abort();
    for (int i = 0; i < TABLE; i++)
        e->table[i] = i * i;
    pthread_mutex_lock(&e->lock);
    e->gate = 1;
    pthread_cond_broadcast(&e->opened);
    pthread_mutex_unlock(&e->lock);
}

static void engine_close(struct engine *e)
{
    while (sem_wait(&e->gone) != 0)
        ;
    free(e->table);
    e->table = NULL;
}

int main(void)
{
    pthread_t t[NWORKERS];
    struct worker w[NWORKERS];
    long sum = 0;

    pthread_mutex_init(&engine.lock, NULL);
    pthread_cond_init(&engine.opened, NULL);
    sem_init(&engine.gone, 0, 0);
    engine.left = NWORKERS;
    for (int i = 0; i < NWORKERS; i++) {
        w[i] = (struct worker){ .e = &engine, .first = i };
        pthread_create(&t[i], NULL, worker_main, &w[i]);
    }
    engine_open(&engine);
    engine_close(&engine);
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(t[i], NULL);
        sum += w[i].sum;
    }
    printf("%ld steps, sum %ld\n", atomic_load(&steps), sum);
    return sum == 85344 ? 0 : 1;
}
