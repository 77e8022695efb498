/* Images share their pixels until one of them is modified. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPIXELS  32
#define NEDITS   5
#define NVIEWERS 2
#define NVIEWS   5

struct cache_info {
    pthread_mutex_t semaphore;
    int             reference_count;
    int             columns, rows;
    unsigned char   pixels[NPIXELS];
};

struct image {
    pthread_mutex_t    lock;        /* the pointer to the pixels */
    struct cache_info *cache;
    int                quality;
    char               name[16];
};

static struct image canvas;
static atomic_long copies, in_place;
static long last_sum;               /* progress display */
static atomic_int torn;

static struct cache_info *cache_new(void)
{
    struct cache_info *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    pthread_mutex_init(&c->semaphore, NULL);
    c->reference_count = 1;
    c->columns = 8;
    c->rows = NPIXELS / 8;
    return c;
}

static struct cache_info *cache_reference(struct cache_info *c)
{
    pthread_mutex_lock(&c->semaphore);
    c->reference_count++;
    pthread_mutex_unlock(&c->semaphore);
    return c;
}

static void cache_destroy(struct cache_info *c)
{
    int left;

    pthread_mutex_lock(&c->semaphore);
    left = --c->reference_count;
    pthread_mutex_unlock(&c->semaphore);
    if (left == 0) {
        pthread_mutex_destroy(&c->semaphore);
        free(c);
    }
}

static int cache_is_shared(struct cache_info *c)
{
    int shared;

    pthread_mutex_lock(&c->semaphore);
    shared = c->reference_count > 1;
    pthread_mutex_unlock(&c->semaphore);
    return shared;
}

static struct image *image_clone(struct image *src)
{
    struct image *img = calloc(1, sizeof(*img));

    if (img == NULL)
        abort();
    pthread_mutex_init(&img->lock, NULL);
    pthread_mutex_lock(&src->lock);
    img->cache = cache_reference(src->cache);
    img->quality = src->quality;
    memcpy(img->name, src->name, sizeof(img->name));
    pthread_mutex_unlock(&src->lock);
    return img;
}

static void image_destroy(struct image *img)
{
    cache_destroy(img->cache);
    pthread_mutex_destroy(&img->lock);
    free(img);
}

/* Pixels which may be written. Only the owner of an image calls this. */
static struct cache_info *get_authentic_cache(struct image *img)
{
    struct cache_info *old = img->cache, *c;

    if (!cache_is_shared(old)) {
        atomic_fetch_add_explicit(&in_place, 1, memory_order_relaxed);
        return old;
    }
    c = cache_new();
    memcpy(c->pixels, old->pixels, NPIXELS);
    pthread_mutex_lock(&img->lock);
    img->cache = c;
    pthread_mutex_unlock(&img->lock);
    cache_destroy(old);
    atomic_fetch_add_explicit(&copies, 1, memory_order_relaxed);
    return c;
}

static void image_fill(struct image *img, int color)
{
    struct cache_info *c = get_authentic_cache(img);

    for (int i = 0; i < NPIXELS; i++)
        c->pixels[i] = (unsigned char)color;
    last_sum = color * NPIXELS;
}

static long image_sum(const struct image *img)
{
    long sum = 0;

    for (int i = 0; i < NPIXELS; i++)
        sum += img->cache->pixels[i];
    return sum;
}

static void *editor_main(void *arg)
{
    (void)arg;
    for (int i = 1; i <= NEDITS; i++)
        image_fill(&canvas, 7 * i);
    return NULL;
}

static void *viewer_main(void *arg)
{
    long *shown = arg;

    for (int i = 0; i < NVIEWS; i++) {
        struct image *view = image_clone(&canvas);
        long before = image_sum(view);

        *shown += before % NPIXELS == 0;
        if (image_sum(view) != before)
            atomic_fetch_add(&torn, 1);
        image_destroy(view);
    }
    return NULL;
}

int main(void)
{
    pthread_t e, v[NVIEWERS];
    long shown[NVIEWERS] = { 0 }, n = 0;

    pthread_mutex_init(&canvas.lock, NULL);
    canvas.cache = cache_new();
    canvas.quality = 85;
    strcpy(canvas.name, "canvas");
    for (int i = 0; i < NVIEWERS; i++)
        pthread_create(&v[i], NULL, viewer_main, &shown[i]);
    pthread_create(&e, NULL, editor_main, NULL);
    for (int i = 0; i < NVIEWERS; i++) {
        pthread_join(v[i], NULL);
        n += shown[i];
    }
    pthread_join(e, NULL);
    printf("%ld views, %ld copies, %ld in place\n", n, atomic_load(&copies), atomic_load(&in_place));
    cache_destroy(canvas.cache);
    if (n != NVIEWERS * NVIEWS || atomic_load(&torn) != 0) {
        fprintf(stderr, "a view changed\n");
        return 1;
    }
    return 0;
}
