#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NBUCKETS 4
#define MAGIC 0x5eedfeedu
#define NREADERS 2
#define NROUNDS 4

struct entry {
    unsigned magic;
    int key;
    int refs;
    struct entry *next;
    int value;
};

static struct {
    pthread_mutex_t lock;
    struct entry *buckets[NBUCKETS];
    int entries;
    int misses;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
    pthread_mutex_t lock;
    unsigned long taken;
    unsigned long evicted;
} lru = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct entry *table_find(int key)
{
    struct entry *e;
    pthread_mutex_lock(&table.lock);
    for (e = table.buckets[key % NBUCKETS]; e != NULL; e = e->next)
        if (e->key == key)
            break;
    if (e == NULL)
        table.misses++;
    pthread_mutex_unlock(&table.lock);
    if (e == NULL)
        return NULL;
    pthread_mutex_lock(&lru.lock);
    e->refs++;
    lru.taken++;
    pthread_mutex_unlock(&lru.lock);
    return e;
}

static void entry_put(struct entry *e)
{
    pthread_mutex_lock(&lru.lock);
    e->refs--;
    pthread_mutex_unlock(&lru.lock);
}

static void table_add(int key)
{
    struct entry *e = calloc(1, sizeof *e);
    if (e == NULL)
        abort();
    e->magic = MAGIC;
    e->key = key;
    e->value = key * key;
    pthread_mutex_lock(&table.lock);
    e->next = table.buckets[key % NBUCKETS];
    table.buckets[key % NBUCKETS] = e;
    table.entries++;
    pthread_mutex_unlock(&table.lock);
}

static void table_evict(int key)
{
    struct entry **link, *e = NULL;
    int busy = 1;
    pthread_mutex_lock(&table.lock);
    for (link = &table.buckets[key % NBUCKETS]; *link != NULL; link = &(*link)->next)
        if ((*link)->key == key) {
            e = *link;
            pthread_mutex_lock(&lru.lock);
            busy = e->refs > 0;
            if (!busy)
                lru.evicted++;
            pthread_mutex_unlock(&lru.lock);
            if (!busy) {
                *link = e->next;
                table.entries--;
            }
            break;
        }
    pthread_mutex_unlock(&table.lock);
    if (e != NULL && !busy)
        free(e);
}

static int serve(int key)
{
    struct entry *e = table_find(key);
    int value;
    if (e == NULL)
        return 0;
    assert(e->magic == MAGIC && e->key == key);
    value = e->value;
    entry_put(e);
    return value == key * key;
}

static void *reader_main(void *arg)
{
    int *served = arg;
    int i;
    for (i = 0; i < NROUNDS; i++)
        *served += serve(1 + i % 3);
    return NULL;
}

int main(void)
{
    pthread_t t[NREADERS];
    int served[NREADERS] = { 0 };
    int i, sum = 0;
    for (i = 1; i <= 6; i++)
        table_add(i);
    for (i = 0; i < NREADERS; i++)
        pthread_create(&t[i], NULL, reader_main, &served[i]);
    for (i = 3; i >= 1; i--)
        table_evict(i);
    for (i = 0; i < NREADERS; i++) {
        pthread_join(t[i], NULL);
        sum += served[i];
    }
    for (i = 1; i <= 6; i++)
        table_evict(i);
    printf("%d served, %d missed, %d left\n", sum, table.misses, table.entries);
    return sum + table.misses != NREADERS * NROUNDS || table.entries != 0;
}
