/* A calculation without end is cancelled (asynchronous cancelability) as
 * soon as it has made enough progress. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static atomic_uint progress;
static int cleaned;

static void cleanup(void *arg)
{
    *(int *)arg = 1;
}

static uint32_t collatz(uint32_t n)
{
    uint32_t steps = 0;
    while (n != 1 && steps < 1000) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

static void *endless(void *arg)
{
    int old;
    pthread_cleanup_push(cleanup, arg);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (uint32_t n = 1;; n++) {
        uint32_t s = collatz(n % 100000 + 1);
        atomic_fetch_add_explicit(&progress, s > 0 ? 1 : 2, memory_order_relaxed);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    void *how = NULL;

    if (pthread_create(&t, NULL, endless, &cleaned))
        return 2;
    while (atomic_load_explicit(&progress, memory_order_relaxed) < 2000)
        sched_yield();
    pthread_cancel(t);
    pthread_join(t, &how);
    printf("%s, cleaned %d\n", how == PTHREAD_CANCELED ? "cancelled" : "returned", cleaned);
    return how == PTHREAD_CANCELED && cleaned ? 0 : 1;
}
