/* Token bucket: threads take tokens without a lock, a timer thread puts new
 * ones in up to the limit. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NTHREADS 3
#define NSENDS   20
#define LIMIT    8

struct bucket {
    atomic_int  tokens;
    atomic_int  highest;
    atomic_long granted, refilled;
};

static struct bucket bucket;
static atomic_int senders = NTHREADS;

static void raise_highest(struct bucket *b, int v)
{
    int old = atomic_load(&b->highest);

    while (v > old && !atomic_compare_exchange_weak(&b->highest, &old, v))
        ;
}

static int bucket_take(struct bucket *b)
{
    int old = atomic_load(&b->tokens);

    do {
        if (old == 0)
            return 0;
    } while (!atomic_compare_exchange_weak(&b->tokens, &old, old - 1));
    atomic_fetch_add(&b->granted, 1);
    return 1;
}

static void bucket_fill(struct bucket *b, int n)
{
    int old = atomic_load(&b->tokens), now;

    do {
        now = old + n > LIMIT ? LIMIT : old + n;
        if (now == old)
            return;
    } while (!atomic_compare_exchange_weak(&b->tokens, &old, now));
    atomic_fetch_add(&b->refilled, now - old);
    raise_highest(b, now);
}

static void *sender_main(void *arg)
{
    int *sent = arg;

    while (*sent < NSENDS) {
        if (bucket_take(&bucket))
            ++*sent;
        else
            sched_yield();
    }
    atomic_fetch_sub(&senders, 1);
    return NULL;
}

static void *timer_main(void *arg)
{
    (void)arg;
    while (atomic_load(&senders) > 0) {
        bucket_fill(&bucket, 3);
        sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS], timer;
    int sent[NTHREADS] = { 0 }, total = 0, ok;

    for (int i = 0; i < NTHREADS; i++)
        pthread_create(&t[i], NULL, sender_main, &sent[i]);
    pthread_create(&timer, NULL, timer_main, NULL);
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(t[i], NULL);
        total += sent[i];
    }
    pthread_join(timer, NULL);
    ok = atomic_load(&bucket.granted) == total &&
         atomic_load(&bucket.refilled) - total == atomic_load(&bucket.tokens) &&
         atomic_load(&bucket.highest) <= LIMIT;
    printf("%d sent, %s\n", total, ok ? "balanced" : "not balanced");
    return ok ? 0 : 1;
}
