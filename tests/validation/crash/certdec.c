#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXTENSIONS 8

struct octets {
    unsigned char *data;
    int length;
};

struct extension {
    int oid;
    int critical;
    struct octets value;
};

struct certificate {
    struct extension *extensions[MAX_EXTENSIONS];
    int count;
    int version;
};

struct reader {
    const unsigned char *at, *end;
};

static int get_byte(struct reader *r)
{
    return r->at < r->end ? *r->at++ : -1;
}

static void octets_clear(struct octets *o)
{
    free(o->data);
    o->length = 0;
}

static int octets_decode(struct octets *o, struct reader *r)
{
    int n = get_byte(r);
    if (n < 0)
        return -1;
    o->data = malloc(n + 1);
    if (o->data == NULL)
        return -1;
    if (r->end - r->at < n) {
        octets_clear(o);
        return -1;
    }
    memcpy(o->data, r->at, n);
    o->length = n;
    r->at += n;
    return 0;
}

static void extension_free(struct extension *e)
{
    if (e == NULL)
        return;
    octets_clear(&e->value);
    free(e);
}

static struct extension *extension_decode(struct reader *r)
{
    struct extension *e = calloc(1, sizeof *e);
    if (e == NULL)
        return NULL;
    e->oid = get_byte(r);
    e->critical = get_byte(r);
    if (e->oid < 0 || e->critical < 0 || octets_decode(&e->value, r) < 0) {
        extension_free(e);
        return NULL;
    }
    return e;
}

static void certificate_free(struct certificate *c)
{
    int i;
    for (i = 0; i < c->count; i++)
        extension_free(c->extensions[i]);
    free(c);
}

static struct certificate *certificate_decode(const unsigned char *der, int length)
{
    struct reader r = { der, der + length };
    struct certificate *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->version = get_byte(&r);
    while (r.at < r.end && c->count < MAX_EXTENSIONS) {
        struct extension *e = extension_decode(&r);
        if (e == NULL) {
            certificate_free(c);
            return NULL;
        }
        c->extensions[c->count++] = e;
    }
    return c;
}

static void show(const char *name, const unsigned char *der, int length)
{
    struct certificate *c = certificate_decode(der, length);
    int i, critical = 0;
    if (c == NULL) {
        printf("%s: cannot be decoded\n", name);
        fflush(stdout);
        return;
    }
    for (i = 0; i < c->count; i++)
        critical += c->extensions[i]->critical;
    printf("%s: version %d, %d extensions, %d critical\n", name, c->version, c->count, critical);
    fflush(stdout);
    certificate_free(c);
}

int main(void)
{
    static const unsigned char root[] = { 3, 19, 1, 2, 'c', 'a', 15, 0, 1, 6 };
    static const unsigned char empty[] = { 1 };
    static const unsigned char missing[] = { 3, 19, 1, 1, 'c', 17 };
    static const unsigned char leaf[] = { 3, 19, 0, 3, 'e', 'n', 'd', 17, 0, 40, 'w', 'w', 'w', '.', 'e', 'x' };
    show("root", root, sizeof root);
    show("empty", empty, sizeof empty);
    show("missing", missing, sizeof missing);
    show("leaf", leaf, sizeof leaf);
    return 0;
}
