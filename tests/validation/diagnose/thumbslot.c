#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NSLOTS 3
#define NPIX 4
#define NVIEWERS 3
#define NSTEPS 4

struct slot {
    int key;
    unsigned stamp;
    unsigned pixels[NPIX];
};

struct cache {
    pthread_mutex_t lock;
    struct slot slots[NSLOTS];
    unsigned clock;
    atomic_uint hits;
    int last_key;
};

struct viewer {
    struct cache *cache;
    int first;
    int wrong;
};

static unsigned decode(int key, int i)
{
    return (unsigned)(key * 1000 + i * 7);
}

static unsigned expected(int key)
{
    unsigned sum = 0;
    int i;
    for (i = 0; i < NPIX; i++)
        sum += decode(key, i);
    return sum;
}

static int cache_find(struct cache *c, int key)
{
    int i, found = -1;
    pthread_mutex_lock(&c->lock);
    for (i = 0; i < NSLOTS; i++) {
        struct slot *s = &c->slots[i];
        if (s->key == key) {
            s->stamp = ++c->clock;
            found = i;
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

static int cache_load(struct cache *c, int key)
{
    unsigned pixels[NPIX];
    struct slot *s;
    int i, oldest = 0;
    for (i = 0; i < NPIX; i++)
        pixels[i] = decode(key, i);
    pthread_mutex_lock(&c->lock);
    for (i = 1; i < NSLOTS; i++)
        if (c->slots[i].stamp < c->slots[oldest].stamp)
            oldest = i;
    s = &c->slots[oldest];
    s->key = key;
    s->stamp = ++c->clock;
    for (i = 0; i < NPIX; i++)
        s->pixels[i] = pixels[i];
    pthread_mutex_unlock(&c->lock);
    return oldest;
}

static unsigned cache_draw(struct cache *c, int slot)
{
    unsigned sum = 0;
    int i;
    pthread_mutex_lock(&c->lock);
    for (i = 0; i < NPIX; i++)
        sum += c->slots[slot].pixels[i];
    pthread_mutex_unlock(&c->lock);
    return sum;
}

static unsigned view(struct cache *c, int key)
{
    int slot = cache_find(c, key);
    if (slot < 0)
        slot = cache_load(c, key);
    else
        atomic_fetch_add_explicit(&c->hits, 1, memory_order_relaxed);
    c->last_key = key;
    return cache_draw(c, slot);
}

static void *viewer_main(void *arg)
{
    struct viewer *v = arg;
    int i;
    for (i = 0; i < NSTEPS; i++) {
        int key = 1 + (v->first + i) % 5;
        if (view(v->cache, key) != expected(key))
            v->wrong++;
    }
    return NULL;
}

int main(void)
{
    static struct cache c = { .lock = PTHREAD_MUTEX_INITIALIZER };
    struct viewer viewers[NVIEWERS];
    pthread_t t[NVIEWERS];
    int i, wrong = 0;
    for (i = 0; i < NVIEWERS; i++) {
        viewers[i] = (struct viewer){ &c, i, 0 };
        pthread_create(&t[i], NULL, viewer_main, &viewers[i]);
    }
    for (i = 0; i < NVIEWERS; i++) {
        pthread_join(t[i], NULL);
        wrong += viewers[i].wrong;
    }
    printf("%d wrong pictures\n", wrong);
    return wrong != 0;
}
