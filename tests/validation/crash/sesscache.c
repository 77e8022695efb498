#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSESS 5
#define PASSES 4

struct cipher {
    const char *name;
    int bits;
};

struct session {
    char id[24];
    int expires;
    int refs;
    const struct cipher *cipher;
    struct session *next;
};

struct cache {
    pthread_mutex_t lock;
    struct session *head;
    int lookups;
};

struct client {
    pthread_t tid;
    int bits;
    int misses;
};

static const struct cipher suites[] = {
    { "AES128-SHA", 128 },
    { "AES256-SHA", 256 },
};

static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t ref_lock = PTHREAD_MUTEX_INITIALIZER;

static void session_free(struct session *s)
{
    explicit_bzero(s, sizeof(*s));
    free(s);
}

static void session_up_ref(struct session *s)
{
    pthread_mutex_lock(&ref_lock);
    s->refs++;
    pthread_mutex_unlock(&ref_lock);
}

static void session_put(struct session *s)
{
    int left;
    pthread_mutex_lock(&ref_lock);
    left = --s->refs;
    pthread_mutex_unlock(&ref_lock);
    if (left == 0)
        session_free(s);
}

static void cache_add(const char *id, int expires)
{
    struct session *s = calloc(1, sizeof(*s));
    snprintf(s->id, sizeof(s->id), "%s", id);
    s->expires = expires;
    s->refs = 1;
    s->cipher = &suites[expires % 2];
    pthread_mutex_lock(&cache.lock);
    s->next = cache.head;
    cache.head = s;
    pthread_mutex_unlock(&cache.lock);
}

static struct session *cache_get(const char *id)
{
    struct session *s;
    pthread_mutex_lock(&cache.lock);
    for (s = cache.head; s != NULL; s = s->next) {
        if (strcmp(s->id, id) == 0)
            break;
    }
    pthread_mutex_unlock(&cache.lock);
    if (s != NULL) {
        session_up_ref(s);
    }
    return s;
}

static void cache_expire(int now)
{
    struct session *dead = NULL;
    struct session **pp;
    pthread_mutex_lock(&cache.lock);
    pp = &cache.head;
    while (*pp != NULL) {
        struct session *s = *pp;
        if (s->expires <= now) {
            *pp = s->next;
            s->next = dead;
            dead = s;
        } else {
            pp = &s->next;
        }
    }
    pthread_mutex_unlock(&cache.lock);
    while (dead != NULL) {
        struct session *s = dead;
        dead = s->next;
        session_put(s);
    }
}

static int resume(const struct session *s)
{
    return s->cipher->bits;
}

static void *client_main(void *arg)
{
    struct client *c = arg;
    char id[24];
    for (int i = 0; i < PASSES * NSESS; i++) {
        snprintf(id, sizeof(id), "sess-%d", i % NSESS);
        cache.lookups++;
        struct session *s = cache_get(id);
        if (s == NULL) {
            c->misses++;
            continue;
        }
        c->bits += resume(s);
        session_put(s);
    }
    return NULL;
}

static void *reaper_main(void *arg)
{
    int *until = arg;
    for (int now = 0; now <= *until; now++) {
        cache_expire(now);
    }
    return NULL;
}

int main(void)
{
    static struct client cl[2];
    pthread_t reaper;
    int until = NSESS;
    char id[24];

    for (int i = 0; i < NSESS; i++) {
        snprintf(id, sizeof(id), "sess-%d", i);
        cache_add(id, i + 1);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&cl[i].tid, NULL, client_main, &cl[i]);
    pthread_create(&reaper, NULL, reaper_main, &until);
    for (int i = 0; i < 2; i++)
        pthread_join(cl[i].tid, NULL);
    pthread_join(reaper, NULL);

    printf("lookups ~%d, bits %d/%d, misses %d/%d\n",
           cache.lookups, cl[0].bits, cl[1].bits,
           cl[0].misses, cl[1].misses);
    return 0;
}
