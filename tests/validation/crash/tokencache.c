/* Cache of verified access tokens.  Look-ups run under the read lock; a token
   found to be out of date is taken out under the write lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 8
#define THREADS 3
#define LOOKUPS 4

struct token {
    char id[24];
    long expires;
    size_t claims_len;
    char *claims;
};

static pthread_rwlock_t cache_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct token *cache[SLOTS];
static int cached;
static atomic_long clock_now;
static atomic_int hits, misses, purged;

static unsigned hash(const char *id)
{
    unsigned h = 5381;

    while (*id)
        h = h * 33 + (unsigned char)*id++;
    return h % SLOTS;
}

static struct token *token_new(const char *id, long expires)
{
    struct token *t = malloc(sizeof *t);
    size_t i;

    if (!t)
        exit(1);
    snprintf(t->id, sizeof t->id, "%s", id);
    t->expires = expires;
    t->claims_len = 1500 + strlen(id);
    t->claims = malloc(t->claims_len);
    if (!t->claims)
        exit(1);
    for (i = 0; i < t->claims_len; i++)
        t->claims[i] = "{\"sub\":42}"[i % 10];
    return t;
}

static void token_free(struct token *t)
{
    free(t->claims);
    free(t);
}

static void cache_store(struct token *t)
{
    unsigned h = hash(t->id);

    pthread_rwlock_wrlock(&cache_lock);
    if (cache[h]) {
        token_free(cache[h]);
        cached--;
    }
    cache[h] = t;
    cached++;
    pthread_rwlock_unlock(&cache_lock);
}

/* Copies at most n bytes of the claims; 0 if the token is not known. */
static size_t cache_lookup(const char *id, char *out, size_t n)
{
    unsigned h = hash(id);
    struct token *t;
    size_t len;

    pthread_rwlock_rdlock(&cache_lock);
    t = cache[h];
    if (!t || strcmp(t->id, id) != 0) {
        pthread_rwlock_unlock(&cache_lock);
        atomic_fetch_add(&misses, 1);
        return 0;
    }
    if (t->expires > atomic_load(&clock_now)) {
        len = t->claims_len < n ? t->claims_len : n;
        memcpy(out, t->claims, len);
        pthread_rwlock_unlock(&cache_lock);
        atomic_fetch_add(&hits, 1);
        return len;
    }
    pthread_rwlock_unlock(&cache_lock);

    pthread_rwlock_wrlock(&cache_lock);
    cache[h] = NULL;
    cached--;
    token_free(t);
    pthread_rwlock_unlock(&cache_lock);
    atomic_fetch_add(&purged, 1);
    return 0;
}

static void *client(void *arg)
{
    static const char *const ids[] = { "alice", "bob", "carol" };
    long me = (long)arg, i;
    char claims[64];

    for (i = 0; i < LOOKUPS; i++) {
        atomic_fetch_add(&clock_now, 1);
        cache_lookup(ids[(me + i) % 3], claims, sizeof claims);
    }
    return NULL;
}

int main(void)
{
    pthread_t th[THREADS];
    long i;

    cache_store(token_new("alice", 3));
    cache_store(token_new("bob", 6));
    cache_store(token_new("carol", 100));
    for (i = 0; i < THREADS; i++)
        pthread_create(&th[i], NULL, client, (void *)i);
    for (i = 0; i < THREADS; i++)
        pthread_join(th[i], NULL);
    printf("%d hits, %d misses, %d purged, %d left\n", atomic_load(&hits),
           atomic_load(&misses), atomic_load(&purged), cached);
    return 0;
}
