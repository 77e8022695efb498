/* Clock page guarded by a sequence counter (seqlock, C11 atomics); the amount
 * of standard input is read as well but does not alter the output. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define UPDATES 3000

static struct {
    atomic_uint seq;
    _Atomic uint64_t sec, nsec, check;
} page;

static atomic_int writer_done;

static void page_write(uint64_t s, uint64_t n)
{
    unsigned q = atomic_load_explicit(&page.seq, memory_order_relaxed);
    atomic_store_explicit(&page.seq, q + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&page.sec, s, memory_order_relaxed);
    atomic_store_explicit(&page.nsec, n, memory_order_relaxed);
    atomic_store_explicit(&page.check, s ^ n, memory_order_relaxed);
    atomic_store_explicit(&page.seq, q + 2, memory_order_release);
}

static int page_read(uint64_t *s, uint64_t *n)
{
    unsigned q0, q1;
    uint64_t c;
    do {
        q0 = atomic_load_explicit(&page.seq, memory_order_acquire);
        *s = atomic_load_explicit(&page.sec, memory_order_relaxed);
        *n = atomic_load_explicit(&page.nsec, memory_order_relaxed);
        c = atomic_load_explicit(&page.check, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        q1 = atomic_load_explicit(&page.seq, memory_order_relaxed);
    } while ((q0 & 1) || q0 != q1);
    return c == (*s ^ *n);
}

static void *ticker(void *arg)
{
    (void)arg;
    for (uint64_t i = 1; i <= UPDATES; i++)
        page_write(i, i * 1000003u % 1000000000u);
    atomic_store_explicit(&writer_done, 1, memory_order_release);
    return NULL;
}

static void *observer(void *arg)
{
    int *bad = arg;
    uint64_t s, n, prev = 0;
    int last;
    do {
        last = atomic_load_explicit(&writer_done, memory_order_acquire);
        if (!page_read(&s, &n) || s < prev)
            (*bad)++;
        prev = s;
    } while (!last);
    if (prev != UPDATES)
        (*bad)++;
    return NULL;
}

int main(void)
{
    pthread_t w, r[2];
    int bad[2] = { 0, 0 };
    char buf[256];
    ssize_t k, in = 0;

    while ((k = read(0, buf, sizeof buf)) > 0)
        in += k;
    pthread_create(&r[0], NULL, observer, &bad[0]);
    pthread_create(&r[1], NULL, observer, &bad[1]);
    pthread_create(&w, NULL, ticker, NULL);
    pthread_join(w, NULL);
    pthread_join(r[0], NULL);
    pthread_join(r[1], NULL);
    printf("consistent: %s\n", bad[0] + bad[1] == 0 && in >= 0 ? "yes" : "no");
    return bad[0] + bad[1] != 0;
}
