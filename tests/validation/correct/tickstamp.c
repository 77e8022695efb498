#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NUPDATES 40
#define NREADERS 2
#define NREADS 30

struct timepage {
    atomic_uint seq;
    atomic_long sec;
    atomic_long nsec;
    atomic_long mult;
};

struct stamp {
    long sec;
    long nsec;
    long mult;
};

struct reader {
    pthread_t thread;
    struct stamp last;
    int torn;
    int backwards;
};

static struct timepage page;

static void page_update(struct timepage *p, long tick)
{
    unsigned s = atomic_load_explicit(&p->seq, memory_order_relaxed);
    atomic_store(&p->seq, s + 1);
    atomic_store(&p->sec, tick / 10);
    atomic_store(&p->nsec, tick % 10 * 100);
    atomic_store(&p->mult, tick / 10 * 1000 + tick % 10 * 100);
    atomic_store(&p->seq, s + 2);
}

static int page_try_read(struct timepage *p, struct stamp *st)
{
    unsigned s = atomic_load(&p->seq);
    if (s & 1)
        return 0;
    st->sec = atomic_load(&p->sec);
    st->nsec = atomic_load(&p->nsec);
    st->mult = atomic_load(&p->mult);
    return atomic_load(&p->seq) == s;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    int i;
    for (i = 0; i < NREADS; i++) {
        struct stamp st;
        while (!page_try_read(&page, &st))
            sched_yield();
        if (st.mult != st.sec * 1000 + st.nsec)
            r->torn++;
        if (st.mult < r->last.mult)
            r->backwards++;
        r->last = st;
    }
    return NULL;
}

static void *clock_main(void *arg)
{
    long t;
    for (t = 1; t <= NUPDATES; t++)
        page_update(&page, t);
    return arg;
}

int main(void)
{
    static struct reader r[NREADERS];
    struct stamp end;
    pthread_t c;
    int bad = 0;
    int i;
    for (i = 0; i < NREADERS; i++)
        pthread_create(&r[i].thread, NULL, reader_main, &r[i]);
    pthread_create(&c, NULL, clock_main, NULL);
    pthread_join(c, NULL);
    for (i = 0; i < NREADERS; i++) {
        pthread_join(r[i].thread, NULL);
        bad += r[i].torn + r[i].backwards;
    }
    if (!page_try_read(&page, &end))
        bad++;
    printf("end %ld.%03ld, bad %d\n", end.sec, end.nsec, bad);
    return bad || end.mult != NUPDATES * 100 ? 1 : 0;
}
