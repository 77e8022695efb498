/* Line editor with an undo entry that remembers where the last edit was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct style {
    const char *face;
    int size;
    int weight;
    char pad[16];
};

struct doc {
    char *text;
    size_t len, cap;
    struct style *style;
};

struct undo {
    char *where;
    char old[8];
    size_t n;
};

static struct undo last;

static void doc_init(struct doc *d, const char *s)
{
    d->len = strlen(s);
    d->cap = 32;
    d->text = malloc(d->cap);
    memcpy(d->text, s, d->len + 1);
    d->style = NULL;
}

static void doc_replace(struct doc *d, size_t at, const char *s)
{
    last.where = d->text + at;
    last.n = strlen(s);
    memcpy(last.old, last.where, last.n);
    memcpy(last.where, s, last.n);
}

static void doc_append(struct doc *d, const char *s)
{
    size_t n = strlen(s);
    if (d->len + n + 1 > d->cap) {
        char *bigger = malloc(d->cap * 4);
        memcpy(bigger, d->text, d->len + 1);
        free(d->text);
        d->text = bigger;
        d->cap *= 4;
    }
    memcpy(d->text + d->len, s, n + 1);
    d->len += n;
}

static void doc_set_style(struct doc *d, const char *face, int size)
{
    struct style *st = malloc(sizeof *st);
    st->face = face;
    st->size = size;
    st->weight = 400;
    st->pad[0] = 0;
    d->style = st;
}

static void undo_last(void)
{
    memcpy(last.where, last.old, last.n);
    last.n = 0;
}

static size_t render(const struct doc *d)
{
    const char *face = d->style->face;
    size_t w = 0;
    while (*face)
        w += (size_t)(*face++ & 7);
    return w * d->len + (size_t)d->style->size;
}

struct command {
    char op;
    const char *arg;
    size_t n;
};

static void play(struct doc *d, const struct command *c)
{
    for (; c->op; c++)
        switch (c->op) {
        case 'n': doc_init(d, c->arg); break;
        case 'r': doc_replace(d, c->n, c->arg); break;
        case 'a': doc_append(d, c->arg); break;
        case 's': doc_set_style(d, c->arg, (int)c->n); break;
        case 'u': undo_last(); break;
        case 'p': printf("width %zu\n", render(d)); break;
        }
}

int main(void)
{
    static const struct command script[] = {
        { 'n', "the colour of magic", 0 },
        { 's', "Palatino", 10 },
        { 'p', NULL, 0 },
        { 'r', "The col", 0 },
        { 'a', " and other tales", 0 },
        { 's', "Garamond", 12 },
        { 'u', NULL, 0 },
        { 'p', NULL, 0 },
        { 0, NULL, 0 },
    };
    struct doc d = { 0 };
    play(&d, script);
    free(d.style);
    free(d.text);
    return 0;
}
