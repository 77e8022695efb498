#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUCKETS 2
#define NADDR 3

struct name {
    char key[16];
    unsigned *addrs;
    int count;
    unsigned expires;
};

struct adb {
    pthread_mutex_t lock[NBUCKETS];
    struct name bucket[NBUCKETS][2];
    pthread_mutex_t stats_lock;
    int hits, misses, expired;
};

static struct adb adb;

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h % NBUCKETS;
}

static void adb_add(const char *key, unsigned expires)
{
    unsigned b = hash(key);
    int i;
    pthread_mutex_lock(&adb.lock[b]);
    for (i = 0; i < 2; i++) {
        struct name *n = &adb.bucket[b][i];
        if (n->addrs)
            continue;
        snprintf(n->key, sizeof n->key, "%s", key);
        n->addrs = calloc(NADDR, sizeof *n->addrs);
        n->addrs[0] = 10 + b;
        n->count = NADDR;
        n->expires = expires;
        break;
    }
    pthread_mutex_unlock(&adb.lock[b]);
}

static struct name *adb_find(const char *key)
{
    unsigned b = hash(key);
    struct name *found = NULL;
    int i;
    pthread_mutex_lock(&adb.lock[b]);
    for (i = 0; i < 2; i++) {
        struct name *n = &adb.bucket[b][i];
        if (n->addrs && strcmp(n->key, key) == 0)
            found = n;
    }
    pthread_mutex_unlock(&adb.lock[b]);
    return found;
}

static void count(int *what)
{
    pthread_mutex_lock(&adb.stats_lock);
    (*what)++;
    pthread_mutex_unlock(&adb.stats_lock);
}

static unsigned resolve(const char *key)
{
    struct name *n = adb_find(key);
    if (!n) {
        count(&adb.misses);
        return 0;
    }
    count(&adb.hits);
    return n->addrs[0];
}

static void adb_expire(unsigned now)
{
    int b, i;
    for (b = 0; b < NBUCKETS; b++) {
        pthread_mutex_lock(&adb.lock[b]);
        for (i = 0; i < 2; i++) {
            struct name *n = &adb.bucket[b][i];
            if (n->addrs && n->expires <= now) {
                free(n->addrs);
                n->addrs = NULL;
                count(&adb.expired);
            }
        }
        pthread_mutex_unlock(&adb.lock[b]);
    }
}

static void *cleaner(void *arg)
{
    unsigned now;
    for (now = 1; now <= 3; now++)
        adb_expire(now);
    return arg;
}

int main(void)
{
    static const char *const q[] = { "ns1.example", "ns2.example", "mx.example" };
    pthread_t t;
    unsigned sum = 0;
    unsigned i;
    for (i = 0; i < NBUCKETS; i++)
        pthread_mutex_init(&adb.lock[i], NULL);
    pthread_mutex_init(&adb.stats_lock, NULL);
    adb_add(q[0], 2);
    adb_add(q[1], 3);
    pthread_create(&t, NULL, cleaner, NULL);
    for (i = 0; i < 3; i++)
        sum += resolve(q[i]);
    pthread_join(t, NULL);
    printf("sum %u, %d hits, %d misses, %d expired\n", sum, adb.hits, adb.misses, adb.expired);
    return adb.hits + adb.misses == 3 && adb.expired == 2 ? 0 : 1;
}
