/* A pool of 200 threads waits for one start signal, each handles a few
 * tickets of a shared counter, and the last one reports. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CROWD 200
#define TICKETS 1000

struct hall {
    pthread_mutex_t m;
    pthread_cond_t doors;
    pthread_cond_t empty;
    int open;
    int waiting;
    int inside;
    int next_ticket;
    long sum;
};

static struct hall hall = {
    .m = PTHREAD_MUTEX_INITIALIZER,
    .doors = PTHREAD_COND_INITIALIZER,
    .empty = PTHREAD_COND_INITIALIZER,
    .inside = CROWD,
};

static int take(struct hall *h)
{
    pthread_mutex_lock(&h->m);
    int t = h->next_ticket < TICKETS ? h->next_ticket++ : -1;
    pthread_mutex_unlock(&h->m);
    return t;
}

static void *visitor(void *arg)
{
    struct hall *h = arg;
    long mine = 0;
    int t;

    pthread_mutex_lock(&h->m);
    h->waiting++;
    while (!h->open)
        pthread_cond_wait(&h->doors, &h->m);
    h->waiting--;
    pthread_mutex_unlock(&h->m);
    while ((t = take(h)) >= 0)
        mine += (long)t * (t % 3);
    pthread_mutex_lock(&h->m);
    h->sum += mine;
    if (--h->inside == 0)
        pthread_cond_broadcast(&h->empty);
    pthread_mutex_unlock(&h->m);
    return NULL;
}

int main(void)
{
    static pthread_t t[CROWD];
    pthread_attr_t at;

    pthread_attr_init(&at);
    pthread_attr_setstacksize(&at, 64 * 1024);
    for (int i = 0; i < CROWD; i++)
        if (pthread_create(&t[i], &at, visitor, &hall)) {
            perror("pthread_create");
            return 2;
        }
    pthread_mutex_lock(&hall.m);
    hall.open = 1;
    pthread_cond_broadcast(&hall.doors);
    while (hall.inside > 0)
        pthread_cond_wait(&hall.empty, &hall.m);
    long s = hall.sum;
    pthread_mutex_unlock(&hall.m);
    for (int i = 0; i < CROWD; i++)
        pthread_join(t[i], NULL);
    printf("tickets %d sum %ld\n", hall.next_ticket, s);
    return hall.next_ticket != TICKETS;
}
