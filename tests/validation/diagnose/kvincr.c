/* Tiny key/value store with a text protocol (set / get / incr). */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUCKET 16

struct item {
    char key[16];
    char value[24];
    struct item *h_next;
};

static struct item *table[NBUCKET];
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned bucket_of(const char *k)
{
    unsigned h = 2166136261u;
    while (*k)
        h = (h ^ (unsigned char)*k++) * 16777619u;
    return h % NBUCKET;
}

static struct item *assoc_find(const char *k)
{
    struct item *it = table[bucket_of(k)];
    while (it && strcmp(it->key, k))
        it = it->h_next;
    return it;
}

static int item_get(const char *k, char *out, size_t cap)
{
    int found = 0;
    pthread_mutex_lock(&cache_lock);
    struct item *it = assoc_find(k);
    if (it) {
        snprintf(out, cap, "%s", it->value);
        found = 1;
    }
    pthread_mutex_unlock(&cache_lock);
    return found;
}

static void item_set(const char *k, const char *v)
{
    pthread_mutex_lock(&cache_lock);
    struct item *it = assoc_find(k);
    if (!it) {
        unsigned b = bucket_of(k);
        it = calloc(1, sizeof *it);
        snprintf(it->key, sizeof it->key, "%s", k);
        it->h_next = table[b];
        table[b] = it;
    }
    snprintf(it->value, sizeof it->value, "%s", v);
    pthread_mutex_unlock(&cache_lock);
}

static void process_incr(const char *k, unsigned long long delta)
{
    char tmp[24];
    if (!item_get(k, tmp, sizeof tmp))
        return;
    unsigned long long v = strtoull(tmp, NULL, 10) + delta;
    snprintf(tmp, sizeof tmp, "%llu", v);
    item_set(k, tmp);
}

static void process_line(const char *line)
{
    char cmd[8], key[16], arg[24] = "";
    if (sscanf(line, "%7s %15s %23s", cmd, key, arg) < 2)
        return;
    if (!strcmp(cmd, "set"))
        item_set(key, arg);
    else if (!strcmp(cmd, "incr") && isdigit((unsigned char)arg[0]))
        process_incr(key, strtoull(arg, NULL, 10));
}

static void *connection(void *arg)
{
    const char *const *lines = arg;
    for (; *lines; lines++)
        process_line(*lines);
    return NULL;
}

int main(void)
{
    static const char *const c1[] = { "set one 1", "incr hits 5", "incr one 2", NULL };
    static const char *const c2[] = { "set two 2", "incr hits 7", "incr two 9", NULL };
    pthread_t t1, t2;
    char v[24] = "?";

    process_line("set hits 100");
    pthread_create(&t1, NULL, connection, (void *)c1);
    pthread_create(&t2, NULL, connection, (void *)c2);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    item_get("hits", v, sizeof v);
    printf("hits=%s\n", v);
    return strcmp(v, "112") != 0;
}
