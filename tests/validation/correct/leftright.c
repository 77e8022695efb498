/* Two copies of a table: readers use one, the writer changes the other, turns
 * round, waits for the readers of the first to go and changes that too. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NREADERS 3
#define NREADS   60
#define NWRITES  20

struct table {
    long a, b, sum;
};

static struct table copy[2];
static atomic_int which;
static atomic_int version;
static atomic_int readers[2];
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

static int arrive(void)
{
    int v = atomic_load(&version);

    atomic_fetch_add(&readers[v], 1);
    return v;
}

static void depart(int v)
{
    atomic_fetch_sub(&readers[v], 1);
}

static void wait_empty(int v)
{
    while (atomic_load(&readers[v]) != 0)
        sched_yield();
}

static void change(struct table *t, long n)
{
    t->a += n;
    t->b -= 2 * n;
    t->sum = t->a + t->b;
}

static void update(long n)
{
    int w, v;

    pthread_mutex_lock(&writers);
    w = atomic_load(&which);
    change(&copy[1 - w], n);
    atomic_store(&which, 1 - w);
    v = atomic_load(&version);
    wait_empty(1 - v);
    atomic_store(&version, 1 - v);
    wait_empty(v);
    change(&copy[w], n);
    pthread_mutex_unlock(&writers);
}

static void *reader(void *arg)
{
    int *bad = arg;

    for (int i = 0; i < NREADS; i++) {
        int v = arrive();
        struct table t = copy[atomic_load(&which)];

        depart(v);
        if (t.sum != t.a + t.b)
            ++*bad;
    }
    return NULL;
}

static void *writer(void *arg)
{
    long n = *(long *)arg;

    for (int i = 0; i < NWRITES; i++)
        update(n);
    return NULL;
}

int main(void)
{
    pthread_t r[NREADERS], w[2];
    int bad[NREADERS] = { 0 }, total = 0;
    long step[2] = { 1, 10 };

    for (int i = 0; i < NREADERS; i++)
        pthread_create(&r[i], NULL, reader, &bad[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&w[i], NULL, writer, &step[i]);
    for (int i = 0; i < NREADERS; i++) {
        pthread_join(r[i], NULL);
        total += bad[i];
    }
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    printf("%ld %ld %ld, %d bad\n", copy[0].a, copy[0].b, copy[0].sum, total);
    return total || copy[0].sum != copy[1].sum;
}
