/* Transfers between accounts in both directions: two locks in the order of
 * the addresses, or the second one by trylock with a step back. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NACC     4
#define NTHREADS 4
#define NMOVES   8

struct account {
    pthread_mutex_t lock;
    long            balance;
    long            moves;
};

static struct account acc[NACC];
static atomic_long retries;

static void move_ordered(struct account *from, struct account *to, long n)
{
    struct account *first = from < to ? from : to;
    struct account *second = from < to ? to : from;

    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->balance -= n;
    to->balance += n;
    from->moves++;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void move_backoff(struct account *from, struct account *to, long n)
{
    for (;;) {
        pthread_mutex_lock(&from->lock);
        if (pthread_mutex_trylock(&to->lock) == 0)
            break;
        pthread_mutex_unlock(&from->lock);
        atomic_fetch_add_explicit(&retries, 1, memory_order_relaxed);
        sched_yield();
    }
    from->balance -= n;
    to->balance += n;
    from->moves++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *mover_main(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NMOVES; i++) {
        struct account *a = &acc[(id + i) % NACC];
        struct account *b = &acc[(id + 2 * i + 1) % NACC];

        if (a == b)
            b = &acc[(id + i + 1) % NACC];
        if (id % 2)
            move_ordered(a, b, 5 + i);
        else
            move_backoff(b, a, 3 + i);
    }
    return NULL;
}

static long total(void)
{
    long sum = 0;

    for (int i = 0; i < NACC; i++)
        pthread_mutex_lock(&acc[i].lock);
    for (int i = 0; i < NACC; i++)
        sum += acc[i].balance;
    for (int i = NACC - 1; i >= 0; i--)
        pthread_mutex_unlock(&acc[i].lock);
    return sum;
}

static void *audit_main(void *arg)
{
    int *wrong = arg;

    for (int i = 0; i < 3; i++)
        *wrong += total() != NACC * 1000;
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS], audit;
    int id[NTHREADS], wrong = 0;
    long moves = 0;

    for (int i = 0; i < NACC; i++) {
        pthread_mutex_init(&acc[i].lock, NULL);
        acc[i].balance = 1000;
    }
    for (int i = 0; i < NTHREADS; i++) {
        id[i] = i;
        pthread_create(&t[i], NULL, mover_main, &id[i]);
    }
    pthread_create(&audit, NULL, audit_main, &wrong);
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    pthread_join(audit, NULL);
    for (int i = 0; i < NACC; i++)
        moves += acc[i].moves;
    printf("%ld moves, total %ld\n", moves, total());
    return wrong || moves != NTHREADS * NMOVES;
}
