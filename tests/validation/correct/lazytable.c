/* A table that the first user builds: double-checked, with acquire and
 * release. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define N       4
#define ENTRIES 256

struct crc {
    unsigned entry[ENTRIES];
    int      built_by;
};

static _Atomic(struct crc *) table;
static pthread_mutex_t build_lock = PTHREAD_MUTEX_INITIALIZER;
static int builds;

static struct crc *build(int who)
{
    struct crc *c = malloc(sizeof *c);

    if (!c)
        abort();
    for (unsigned i = 0; i < ENTRIES; i++) {
        unsigned v = i;

        for (int k = 0; k < 8; k++)
            v = (v >> 1) ^ (v & 1 ? 0xedb88320u : 0);
        c->entry[i] = v;
    }
    c->built_by = who;
    builds++;
    return c;
}

static struct crc *get_table(int who)
{
    struct crc *c = atomic_load_explicit(&table, memory_order_acquire);

    if (!c) {
        pthread_mutex_lock(&build_lock);
        c = atomic_load_explicit(&table, memory_order_relaxed);
        if (!c) {
            c = build(who);
            atomic_store_explicit(&table, c, memory_order_release);
        }
        pthread_mutex_unlock(&build_lock);
    }
    return c;
}

static unsigned crc32(int who, const char *s)
{
    struct crc *c = get_table(who);
    unsigned v = ~0u;

    for (; *s; s++)
        v = (v >> 8) ^ c->entry[(v ^ (unsigned char)*s) & 255];
    return ~v;
}

struct job {
    int      id;
    unsigned result;
};

static void *worker(void *arg)
{
    struct job *j = arg;

    for (int i = 0; i < 5; i++)
        j->result = crc32(j->id, "123456789");
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    struct job j[N];
    int bad = 0;

    for (int i = 0; i < N; i++) {
        j[i] = (struct job){ .id = i };
        pthread_create(&t[i], NULL, worker, &j[i]);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        bad |= j[i].result != 0xcbf43926u;
    }
    printf("%08x, built %d times\n", j[0].result, builds);
    free(atomic_load(&table));
    return bad || builds != 1;
}
