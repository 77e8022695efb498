/* Time page: one thread publishes the clock parameters, readers take a
 * consistent copy without a lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NREADERS 3
#define NUPDATES 30
#define NREADS   40

struct clock_page {
    atomic_uint  seq;
    atomic_ulong base;
    atomic_ulong mult;
    atomic_ulong check;
};

struct sample {
    unsigned long base, mult, check;
};

struct reader {
    int       id;
    int       bad;
    long      retries;
    pthread_t thread;
};

static struct clock_page page;
static pthread_mutex_t update_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long updates;
static atomic_ulong reads;

static unsigned long mix(unsigned long base, unsigned long mult)
{
    return base * 2654435761UL ^ mult;
}

static void page_update(unsigned long base, unsigned long mult)
{
    unsigned seq;

    pthread_mutex_lock(&update_lock);
    seq = atomic_load_explicit(&page.seq, memory_order_relaxed);
    atomic_store(&page.seq, seq + 1);
    atomic_store(&page.base, base);
    atomic_store(&page.mult, mult);
    atomic_store(&page.check, mix(base, mult));
    atomic_store(&page.seq, seq + 2);
    updates++;
    pthread_mutex_unlock(&update_lock);
}

static int page_try_read(struct sample *s)
{
    unsigned before = atomic_load(&page.seq);

    if (before & 1)
        return 0;
    s->base = atomic_load(&page.base);
    s->mult = atomic_load(&page.mult);
    s->check = atomic_load(&page.check);
    return atomic_load(&page.seq) == before;
}

/* After some tries in vain the reader keeps the writer out. */
static long page_read(struct sample *s)
{
    long tries = 0;

    while (!page_try_read(s)) {
        if (++tries == 8) {
            pthread_mutex_lock(&update_lock);
            s->base = atomic_load(&page.base);
            s->mult = atomic_load(&page.mult);
            s->check = atomic_load(&page.check);
            pthread_mutex_unlock(&update_lock);
            break;
        }
    }
    atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed);
    return tries;
}

static void *writer_main(void *arg)
{
    unsigned long step = *(unsigned long *)arg;

    for (unsigned long i = 1; i <= NUPDATES; i++)
        page_update(i * step, 1000 + i);
    return NULL;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    struct sample s;

    for (int i = 0; i < NREADS; i++) {
        r->retries += page_read(&s);
        if (s.check != mix(s.base, s.mult))
            r->bad++;
    }
    return NULL;
}

int main(void)
{
    struct reader r[NREADERS];
    unsigned long steps[2] = { 1000, 1024 };
    pthread_t w[2];
    int bad = 0;

    page_update(0, 1000);
    for (int i = 0; i < NREADERS; i++) {
        r[i] = (struct reader){ .id = i };
        pthread_create(&r[i].thread, NULL, reader_main, &r[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&w[i], NULL, writer_main, &steps[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    for (int i = 0; i < NREADERS; i++) {
        pthread_join(r[i].thread, NULL);
        bad += r[i].bad;
    }
    printf("%lu updates, %lu reads, %d bad\n", updates, atomic_load(&reads), bad);
    return bad == 0 && updates == 2 * NUPDATES + 1 ? 0 : 1;
}
