#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTYPE 4
#define MAXFIELD 8
#define PER_SOURCE 10
#define NSOURCE 2

struct type {
    int id;
    int nfields;
    const char *name;
};

struct record {
    int type_id;
    char *vals[MAXFIELD];
    struct record *next;
};

struct registry {
    pthread_mutex_t lock;
    const struct type *types[NTYPE];
    int last_id;
    const struct type *last;
    int hits;
};

struct source {
    struct registry *reg;
    struct record *out;
    pthread_t tid;
    int first_id;
};

static const struct type catalog[NTYPE] = {
    { 1, 2, "begin" },
    { 2, 6, "row" },
    { 3, 3, "commit" },
    { 4, 5, "schema" },
};

static int memo_matches(struct registry *reg, int id)
{
    int match;
    pthread_mutex_lock(&reg->lock);
    match = reg->last_id == id;
    pthread_mutex_unlock(&reg->lock);
    return match;
}

static const struct type *memo_get(struct registry *reg)
{
    const struct type *t;
    pthread_mutex_lock(&reg->lock);
    t = reg->last;
    reg->hits++;
    pthread_mutex_unlock(&reg->lock);
    return t;
}

static void memo_set(struct registry *reg, const struct type *t)
{
    pthread_mutex_lock(&reg->lock);
    reg->last_id = t->id;
    reg->last = t;
    pthread_mutex_unlock(&reg->lock);
}

static const struct type *type_find(struct registry *reg, int id)
{
    const struct type *t = NULL;
    if (memo_matches(reg, id)) {
        return memo_get(reg);
    }
    for (int i = 0; i < NTYPE; i++) {
        if (reg->types[i]->id == id)
            t = reg->types[i];
    }
    memo_set(reg, t);
    return t;
}

static struct record *record_new(const struct type *t, int id, int seq)
{
    char text[32];
    struct record *r = calloc(1, sizeof(*r));
    r->type_id = id;
    for (int i = 0; i < t->nfields; i++) {
        snprintf(text, sizeof(text), "f%d=%d", i, seq + i);
        r->vals[i] = strdup(text);
    }
    return r;
}

static void *source_main(void *arg)
{
    struct source *s = arg;
    for (int i = 0; i < PER_SOURCE; i++) {
        int id = s->first_id + (i / 3) % 2;
        const struct type *t = type_find(s->reg, id);
        struct record *r = record_new(t, id, i);
        r->next = s->out;
        s->out = r;
    }
    return NULL;
}

static size_t record_size(const struct record *r)
{
    size_t total = 0;
    const struct type *t = &catalog[r->type_id - 1];
    for (int i = 0; i < t->nfields; i++)
        total += strlen(r->vals[i]) + 1;
    return total;
}

static size_t drain(struct source *s)
{
    size_t total = 0;
    while (s->out != NULL) {
        struct record *r = s->out;
        s->out = r->next;
        total += record_size(r);
        for (int i = 0; i < MAXFIELD; i++)
            free(r->vals[i]);
        free(r);
    }
    return total;
}

int main(void)
{
    static struct registry reg;
    static struct source src[NSOURCE];
    size_t total = 0;

    pthread_mutex_init(&reg.lock, NULL);
    for (int i = 0; i < NTYPE; i++)
        reg.types[i] = &catalog[i];
    for (int i = 0; i < NSOURCE; i++) {
        src[i].reg = &reg;
        src[i].first_id = 1 + 2 * i;
        pthread_create(&src[i].tid, NULL, source_main, &src[i]);
    }
    for (int i = 0; i < NSOURCE; i++)
        pthread_join(src[i].tid, NULL);

    for (int i = 0; i < NSOURCE; i++)
        total += drain(&src[i]);
    printf("%zu bytes, %d memo hits\n", total, reg.hits);
    return 0;
}
