/* A baton goes round: every runner waits for his turn on a condition variable
 * of his own; the plain lap counter is only touched by the one with the baton. */
#include <pthread.h>
#include <stdio.h>

#define RUNNERS 4
#define LAPS    6

struct runner {
    int            id;
    pthread_cond_t turn;
    pthread_t      thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct runner runners[RUNNERS];
static int holder;
static char track[RUNNERS * LAPS + 1];
static int steps;               /* whoever holds the baton */

static void await_baton(int me)
{
    pthread_mutex_lock(&lock);
    while (holder != me)
        pthread_cond_wait(&runners[me].turn, &lock);
    pthread_mutex_unlock(&lock);
}

static void pass_baton(int to)
{
    pthread_mutex_lock(&lock);
    holder = to;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&runners[to].turn);
}

static void *run(void *arg)
{
    struct runner *r = arg;

    for (int i = 0; i < LAPS; i++) {
        await_baton(r->id);
        track[steps++] = (char)('a' + r->id);
        pass_baton((r->id + 1) % RUNNERS);
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < RUNNERS; i++) {
        runners[i].id = i;
        pthread_cond_init(&runners[i].turn, NULL);
    }
    for (int i = RUNNERS - 1; i >= 0; i--)
        pthread_create(&runners[i].thread, NULL, run, &runners[i]);
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(runners[i].thread, NULL);
    printf("%s\n", track);
    return steps == RUNNERS * LAPS ? 0 : 1;
}
