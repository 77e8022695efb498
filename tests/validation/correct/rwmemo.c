/* Memo of Collatz lengths behind a read-write lock, with a second look after
 * the change from reading to writing. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define RANGE   40

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int memo[RANGE + 1];
static int stored;
static atomic_long hits, computed;

static int collatz(long n)
{
    int len = 1;

    for (; n != 1; len++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return len;
}

static int lookup(int n)
{
    int len;

    pthread_rwlock_rdlock(&lock);
    len = memo[n];
    pthread_rwlock_unlock(&lock);
    if (len) {
        atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
        return len;
    }
    len = collatz(n);
    atomic_fetch_add_explicit(&computed, 1, memory_order_relaxed);
    pthread_rwlock_wrlock(&lock);
    if (!memo[n]) {
        memo[n] = len;
        stored++;
    }
    len = memo[n];
    pthread_rwlock_unlock(&lock);
    return len;
}

static void *worker(void *arg)
{
    long *sum = arg;

    for (int n = 1; n <= RANGE; n++)
        *sum += lookup(n);
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    long sum[THREADS] = { 0 };
    int bad = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, worker, &sum[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        bad |= sum[i] != sum[0];
    }
    bad |= atomic_load(&hits) + atomic_load(&computed) != THREADS * RANGE;
    printf("%d stored, sum %ld\n", stored, sum[0]);
    return bad || stored != RANGE;
}
