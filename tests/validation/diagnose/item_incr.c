#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUCKETS 8
#define KEY_MAX 16
#define DATA_MAX 24
#define NCLIENTS 2
#define NROUNDS 5

struct item {
    struct item *next;
    char key[KEY_MAX];
    char data[DATA_MAX];
    unsigned cas;
};

struct cache {
    pthread_mutex_t lock;
    struct item *buckets[NBUCKETS];
    unsigned hits;
    unsigned misses;
};

static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned hash_key(const char *key)
{
    unsigned h = 5381;
    while (*key) {
        h = h * 33 + (unsigned char)*key;
        key++;
    }
    return h % NBUCKETS;
}

static struct item *assoc_find(struct cache *c, const char *key)
{
    struct item *it = c->buckets[hash_key(key)];
    while (it && strcmp(it->key, key) != 0)
        it = it->next;
    return it;
}

static int item_get(struct cache *c, const char *key, char *out)
{
    struct item *it;
    pthread_mutex_lock(&c->lock);
    it = assoc_find(c, key);
    if (it) {
        memcpy(out, it->data, DATA_MAX);
        c->hits++;
    } else {
        c->misses++;
    }
    pthread_mutex_unlock(&c->lock);
    return it != NULL;
}

static void item_store(struct cache *c, const char *key, const char *val)
{
    struct item *it;
    unsigned b = hash_key(key);
    pthread_mutex_lock(&c->lock);
    it = assoc_find(c, key);
    if (!it) {
        it = calloc(1, sizeof *it);
        snprintf(it->key, KEY_MAX, "%s", key);
        it->next = c->buckets[b];
        c->buckets[b] = it;
    }
    snprintf(it->data, DATA_MAX, "%s", val);
    it->cas++;
    pthread_mutex_unlock(&c->lock);
}

static int cmd_arith(const char *key, long delta)
{
    char buf[DATA_MAX];
    long value;
    if (!item_get(&cache, key, buf))
        return -1;
    value = strtol(buf, NULL, 10);
    value += delta;
    if (value < 0)
        value = 0;
    snprintf(buf, sizeof buf, "%ld", value);
    item_store(&cache, key, buf);
    return 0;
}

static int process_command(char *line)
{
    char verb[8];
    char key[KEY_MAX];
    char arg[DATA_MAX];
    arg[0] = 0;
    if (sscanf(line, "%7s %15s %23s", verb, key, arg) < 2)
        return -1;
    if (strcmp(verb, "incr") == 0)
        return cmd_arith(key, atol(arg));
    if (strcmp(verb, "get") == 0)
        return item_get(&cache, key, arg) ? 0 : -1;
    if (strcmp(verb, "set") == 0)
        item_store(&cache, key, arg);
    return 0;
}

static void *client_main(void *p)
{
    int id = *(int *)p;
    char line[64];
    int i;
    for (i = 0; i < NROUNDS; i++) {
        snprintf(line, sizeof line, "set last%d %d", id, i);
        process_command(line);
        snprintf(line, sizeof line, "incr visits 3");
        process_command(line);
        snprintf(line, sizeof line, "get banner");
        process_command(line);
    }
    return NULL;
}

static void cache_free(struct cache *c)
{
    int i;
    for (i = 0; i < NBUCKETS; i++) {
        while (c->buckets[i]) {
            struct item *it = c->buckets[i];
            c->buckets[i] = it->next;
            free(it);
        }
    }
}

int main(void)
{
    pthread_t tid[NCLIENTS];
    int ids[NCLIENTS];
    char buf[DATA_MAX];
    long visits;
    int i;
    item_store(&cache, "banner", "hello");
    item_store(&cache, "visits", "0");
    for (i = 0; i < NCLIENTS; i++) {
        ids[i] = i;
        pthread_create(&tid[i], NULL, client_main, &ids[i]);
    }
    for (i = 0; i < NCLIENTS; i++)
        pthread_join(tid[i], NULL);
    item_get(&cache, "visits", buf);
    visits = strtol(buf, NULL, 10);
    printf("visits %ld hits %u\n", visits, cache.hits);
    cache_free(&cache);
    return visits == 3L * NCLIENTS * NROUNDS ? 0 : 1;
}
