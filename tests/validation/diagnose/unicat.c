#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCLASSES 4
#define NREADERS 2

struct cat_table {
    unsigned ncells;
    unsigned char *cells;
    char version[8];
};

struct reader {
    pthread_t thread;
    const char *text;
    unsigned counts[NCLASSES];
};

static _Atomic(struct cat_table *) table;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long lookups;

static unsigned char classify(unsigned c)
{
    if (c >= '0' && c <= '9')
        return 1;
    if ((c | 32) >= 'a' && (c | 32) <= 'z')
        return 2;
    return c == ' ' ? 3 : 0;
}

static void load_cells(struct cat_table *t)
{
    unsigned i;
    t->ncells = 128;
    t->cells = malloc(t->ncells);
    for (i = 0; i < t->ncells; i++)
        t->cells[i] = classify(i);
    memcpy(t->version, "15.0", 5);
}

static struct cat_table *get_table(void)
{
    struct cat_table *t = atomic_load(&table);
    if (t)
        return t;
    pthread_mutex_lock(&init_lock);
    t = atomic_load(&table);
    if (!t) {
        t = calloc(1, sizeof *t);
        atomic_store(&table, t);
        load_cells(t);
    }
    pthread_mutex_unlock(&init_lock);
    return t;
}

static unsigned char_class(unsigned char c)
{
    struct cat_table *t = get_table();
    return t->cells[c & 127];
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    const char *p;
    for (p = r->text; *p; p++)
        r->counts[char_class((unsigned char)*p)]++;
    pthread_mutex_lock(&stats_lock);
    lookups += (unsigned long)(p - r->text);
    pthread_mutex_unlock(&stats_lock);
    return NULL;
}

int main(void)
{
    static struct reader r[NREADERS];
    unsigned total = 0;
    int i, k;
    r[0].text = "Windows 95 and 98";
    r[1].text = "OS 2 Warp 4";
    for (i = 0; i < NREADERS; i++)
        pthread_create(&r[i].thread, NULL, reader_main, &r[i]);
    for (i = 0; i < NREADERS; i++)
        pthread_join(r[i].thread, NULL);
    for (i = 0; i < NREADERS; i++)
        for (k = 1; k < NCLASSES; k++)
            total += r[i].counts[k];
    free(atomic_load(&table)->cells);
    free(atomic_load(&table));
    printf("%u of %lu known\n", total, lookups);
    return total == lookups ? 0 : 1;
}
