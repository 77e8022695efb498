#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CAP 4
#define NJOBS 7

struct print_job {
    int id;
    int pages;
};

struct spool {
    pthread_mutex_t lock;
    sem_t slots;
    sem_t items;
    struct print_job ring[CAP];
    unsigned in;
    unsigned out;
};

struct printer {
    pthread_mutex_t lock;
    long pages;
    int jobs;
};

static struct spool spool;
static struct printer printer;

static void spool_init(struct spool *s)
{
    pthread_mutex_init(&s->lock, NULL);
    sem_init(&s->slots, 0, CAP);
    sem_init(&s->items, 0, 0);
}

static void spool_put(struct spool *s, struct print_job j)
{
    pthread_mutex_lock(&s->lock);
    sem_wait(&s->slots);
    s->ring[s->in++ % CAP] = j;
    pthread_mutex_unlock(&s->lock);
    sem_post(&s->items);
}

static struct print_job spool_get(struct spool *s)
{
    struct print_job j;
    sem_wait(&s->items);
    pthread_mutex_lock(&s->lock);
    j = s->ring[s->out++ % CAP];
    pthread_mutex_unlock(&s->lock);
    sem_post(&s->slots);
    return j;
}

static void print_job(struct printer *p, struct print_job j)
{
    pthread_mutex_lock(&p->lock);
    p->pages += j.pages;
    p->jobs++;
    pthread_mutex_unlock(&p->lock);
}

static void *printer_main(void *arg)
{
    struct printer *p = arg;
    int i;
    for (i = 0; i < NJOBS; i++)
        print_job(p, spool_get(&spool));
    return NULL;
}

static struct print_job render(int id)
{
    struct print_job j;
    usleep(1500);
    j.id = id;
    j.pages = 1 + id % 3;
    return j;
}

int main(void)
{
    pthread_t t;
    int i;
    spool_init(&spool);
    pthread_mutex_init(&printer.lock, NULL);
    pthread_create(&t, NULL, printer_main, &printer);
    for (i = 0; i < NJOBS; i++)
        spool_put(&spool, render(i));
    pthread_join(t, NULL);
    printf("%d jobs, %ld pages\n", printer.jobs, printer.pages);
    return printer.jobs == NJOBS ? 0 : 1;
}
