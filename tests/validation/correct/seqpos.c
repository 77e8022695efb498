#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NWRITERS 2
#define NREADERS 2
#define NUPDATES 4
#define NREADS 4

struct position {
    long x;
    long y;
    long z;
};

struct seqlock {
    pthread_mutex_t writers;
    atomic_uint sequence;
    atomic_long x;
    atomic_long y;
    atomic_long z;
};

static struct seqlock fix = { .writers = PTHREAD_MUTEX_INITIALIZER, .y = 1, .z = 2, .x = 0 };
static atomic_int retries;

static unsigned read_begin(struct seqlock *s)
{
    unsigned seen;
    while ((seen = atomic_load_explicit(&s->sequence, memory_order_acquire)) & 1)
        sched_yield();
    return seen;
}

static int read_retry(struct seqlock *s, unsigned seen)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&s->sequence, memory_order_relaxed) != seen;
}

static void seq_write(struct seqlock *s, long x)
{
    unsigned n;
    pthread_mutex_lock(&s->writers);
    n = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    atomic_store_explicit(&s->sequence, n + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&s->x, x, memory_order_relaxed);
    atomic_store_explicit(&s->y, x + 1, memory_order_relaxed);
    atomic_store_explicit(&s->z, 2 * x + 2, memory_order_relaxed);
    atomic_store_explicit(&s->sequence, n + 2, memory_order_release);
    pthread_mutex_unlock(&s->writers);
}

static struct position seq_read(struct seqlock *s)
{
    struct position p;
    unsigned seen;
    for (;;) {
        seen = read_begin(s);
        p.x = atomic_load_explicit(&s->x, memory_order_relaxed);
        p.y = atomic_load_explicit(&s->y, memory_order_relaxed);
        p.z = atomic_load_explicit(&s->z, memory_order_relaxed);
        if (!read_retry(s, seen))
            return p;
        atomic_fetch_add_explicit(&retries, 1, memory_order_relaxed);
    }
}

static void *writer_main(void *arg)
{
    int id = *(int *)arg, i;
    for (i = 0; i < NUPDATES; i++)
        seq_write(&fix, id * 1000 + i);
    return NULL;
}

static void *reader_main(void *arg)
{
    int *torn = arg;
    int i;
    for (i = 0; i < NREADS; i++) {
        struct position p = seq_read(&fix);
        if (p.y != p.x + 1 || p.z != p.x + p.y + 1)
            ++*torn;
    }
    return NULL;
}

int main(void)
{
    pthread_t w[NWRITERS], r[NREADERS];
    int ids[NWRITERS], torn[NREADERS] = { 0 }, i, bad = 0;
    for (i = 0; i < NREADERS; i++)
        pthread_create(&r[i], NULL, reader_main, &torn[i]);
    for (i = 0; i < NWRITERS; i++) {
        ids[i] = i;
        pthread_create(&w[i], NULL, writer_main, &ids[i]);
    }
    for (i = 0; i < NREADERS; i++) {
        pthread_join(r[i], NULL);
        bad += torn[i];
    }
    for (i = 0; i < NWRITERS; i++)
        pthread_join(w[i], NULL);
    printf("%d torn, sequence %u\n", bad, atomic_load(&fix.sequence));
    return bad != 0 || atomic_load(&fix.sequence) != 2 * NWRITERS * NUPDATES;
}
