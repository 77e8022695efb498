/* Shaper tables built on first use: several threads ask for the table of a
 * script, one of them builds it, fonts are shared by reference. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NSCRIPTS 4
#define NTHREADS 4
#define NGLYPHS  16

struct table {
    int script;
    int nglyphs;
    int advance[NGLYPHS];
};

struct font {
    atomic_int             ref_count;
    _Atomic(struct table *) tables[NSCRIPTS];
    int                    units_per_em;
    pthread_mutex_t        cache_lock;
    long                   cache_bytes;
};

struct shaper {
    int          id;
    struct font *font;
    long         width;
    pthread_t    thread;
};

static atomic_int fonts_alive, tables_alive, discarded;

static struct table *table_build(const struct font *f, int script)
{
    struct table *t = malloc(sizeof(*t));

    if (t == NULL)
        abort();
    t->script = script;
    t->nglyphs = NGLYPHS;
    for (int i = 0; i < NGLYPHS; i++)
        t->advance[i] = f->units_per_em / 4 + script * 10 + i;
    atomic_fetch_add_explicit(&tables_alive, 1, memory_order_relaxed);
    return t;
}

static void table_free(struct table *t)
{
    free(t);
    atomic_fetch_sub_explicit(&tables_alive, 1, memory_order_relaxed);
}

/* No lock: whoever comes second throws its table away. */
static struct table *font_table(struct font *f, int script)
{
    struct table *t = atomic_load_explicit(&f->tables[script], memory_order_acquire);
    struct table *expected = NULL;

    if (t != NULL)
        return t;
    t = table_build(f, script);
    if (atomic_compare_exchange_strong_explicit(&f->tables[script], &expected, t,
                                                memory_order_acq_rel, memory_order_acquire)) {
        pthread_mutex_lock(&f->cache_lock);
        f->cache_bytes += (long)sizeof(*t);
        pthread_mutex_unlock(&f->cache_lock);
        return t;
    }
    table_free(t);
    atomic_fetch_add_explicit(&discarded, 1, memory_order_relaxed);
    return expected;
}

static struct font *font_create(int upem)
{
    struct font *f = calloc(1, sizeof(*f));

    if (f == NULL)
        abort();
    atomic_init(&f->ref_count, 1);
    f->units_per_em = upem;
    pthread_mutex_init(&f->cache_lock, NULL);
    atomic_fetch_add(&fonts_alive, 1);
    return f;
}

static struct font *font_reference(struct font *f)
{
    atomic_fetch_add_explicit(&f->ref_count, 1, memory_order_relaxed);
    return f;
}

static void font_destroy(struct font *f)
{
    if (atomic_fetch_sub_explicit(&f->ref_count, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < NSCRIPTS; i++) {
        struct table *t = atomic_load_explicit(&f->tables[i], memory_order_relaxed);

        if (t != NULL)
            table_free(t);
    }
    pthread_mutex_destroy(&f->cache_lock);
    free(f);
    atomic_fetch_sub(&fonts_alive, 1);
}

static void *shape_main(void *arg)
{
    struct shaper *s = arg;

    for (int i = 0; i < NSCRIPTS; i++) {
        const struct table *t = font_table(s->font, (i + s->id) % NSCRIPTS);

        for (int g = 0; g < t->nglyphs; g++)
            s->width += t->advance[g];
    }
    font_destroy(s->font);
    return NULL;
}

int main(void)
{
    struct shaper s[NTHREADS];
    struct font *f = font_create(1000);
    int bad = 0;

    for (int i = 0; i < NTHREADS; i++) {
        s[i].id = i;
        s[i].width = 0;
        s[i].font = font_reference(f);
        pthread_create(&s[i].thread, NULL, shape_main, &s[i]);
    }
    font_destroy(f);
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(s[i].thread, NULL);
    for (int i = 0; i < NTHREADS; i++)
        bad += s[i].width != s[0].width;
    printf("width %ld, %d tables alive, %d fonts alive\n", s[0].width,
           atomic_load(&tables_alive), atomic_load(&fonts_alive));
    return bad == 0 && atomic_load(&tables_alive) == 0 && atomic_load(&fonts_alive) == 0 ? 0 : 1;
}
