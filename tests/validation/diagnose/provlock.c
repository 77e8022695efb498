/* Providers of algorithms: a store of them, and for each the flags that say
 * whether it is initialized and active. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NPROV    3
#define NUSERS   2
#define NROUNDS  4

struct provider {
    const char     *name;
    pthread_mutex_t flag_lock;
    int             initialized;
    int             activated;
    int             in_store;
    atomic_long     uses;
};

struct store {
    pthread_rwlock_t lock;
    struct provider *providers[NPROV];
    int              nprov;
    int              use_fallbacks;
    long             generation;
};

static struct provider provs[NPROV] = {
    { .name = "default", .flag_lock = PTHREAD_MUTEX_INITIALIZER },
    { .name = "legacy", .flag_lock = PTHREAD_MUTEX_INITIALIZER },
    { .name = "base", .flag_lock = PTHREAD_MUTEX_INITIALIZER },
};
static struct store store = { .lock = PTHREAD_RWLOCK_INITIALIZER, .use_fallbacks = 1 };
static atomic_long fetches;

static struct provider *store_find(struct store *s, const char *name)
{
    struct provider *found = NULL;

    pthread_rwlock_rdlock(&s->lock);
    for (int i = 0; i < s->nprov; i++)
        if (strcmp(s->providers[i]->name, name) == 0)
            found = s->providers[i];
    pthread_rwlock_unlock(&s->lock);
    return found;
}

static void provider_activate(struct store *s, struct provider *p)
{
    pthread_rwlock_rdlock(&s->lock);
    pthread_mutex_lock(&p->flag_lock);
    p->activated++;
    if (s->use_fallbacks && p->initialized)
        atomic_fetch_add_explicit(&p->uses, 1, memory_order_relaxed);
    pthread_mutex_unlock(&p->flag_lock);
    pthread_rwlock_unlock(&s->lock);
}

static void provider_deactivate(struct store *s, struct provider *p)
{
    pthread_rwlock_rdlock(&s->lock);
    pthread_mutex_lock(&p->flag_lock);
    p->activated--;
    pthread_mutex_unlock(&p->flag_lock);
    pthread_rwlock_unlock(&s->lock);
}

/* Puts an initialized provider into the store, once. */
static void provider_add_to_store(struct store *s, struct provider *p)
{
    pthread_mutex_lock(&p->flag_lock);
    if (p->initialized && !p->in_store) {
        pthread_rwlock_wrlock(&s->lock);
        s->providers[s->nprov++] = p;
        s->use_fallbacks = 0;
        s->generation++;
        pthread_rwlock_unlock(&s->lock);
        p->in_store = 1;
    }
    pthread_mutex_unlock(&p->flag_lock);
}

static void provider_init(struct provider *p)
{
    pthread_mutex_lock(&p->flag_lock);
    p->initialized = 1;
    pthread_mutex_unlock(&p->flag_lock);
}

static void *loader_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NPROV; i++) {
        provider_init(&provs[i]);
        provider_add_to_store(&store, &provs[i]);
    }
    return NULL;
}

static void *user_main(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NROUNDS; i++) {
        struct provider *p = &provs[(id + i) % NPROV];

        provider_activate(&store, p);
        if (store_find(&store, p->name) == p)
            atomic_fetch_add_explicit(&fetches, 1, memory_order_relaxed);
        provider_deactivate(&store, p);
    }
    return NULL;
}

int main(void)
{
    pthread_t loader, users[NUSERS];
    int ids[NUSERS], active = 0;

    for (int i = 0; i < NUSERS; i++) {
        ids[i] = i;
        pthread_create(&users[i], NULL, user_main, &ids[i]);
        if (i == 0)
            pthread_create(&loader, NULL, loader_main, NULL);
    }
    for (int i = 0; i < NUSERS; i++)
        pthread_join(users[i], NULL);
    pthread_join(loader, NULL);
    for (int i = 0; i < NPROV; i++)
        active += provs[i].activated;
    printf("%d providers, %d active, %ld fetches\n", store.nprov, active, atomic_load(&fetches));
    return store.nprov == NPROV && active == 0 ? 0 : 1;
}
