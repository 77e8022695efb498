#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_LEN 16
#define MAX_INDEX 8

struct section {
    char name[16];
    int weight;
    char value[VALUE_LEN];
    struct section *next;
};

struct config {
    struct section *first;
    struct section *index[MAX_INDEX];
    int count;
    int indexed;
};

static const char text[] =
    "log=/var/log\n"
    "db=local\n"
    "cache=/srv/cache/images/large\n"
    "net=eth0\n";

static struct section *new_section(struct config *c)
{
    struct section *s = calloc(1, sizeof *s);
    if (s == NULL)
        abort();
    s->next = c->first;
    c->first = s;
    c->count++;
    return s;
}

static const char *set_name(struct section *s, const char *p)
{
    size_t n = 0;
    while (*p != '=' && *p != 0) {
        if (n + 1 < sizeof s->name)
            s->name[n++] = *p;
        p++;
    }
    s->name[n] = 0;
    s->weight = (int)n;
    return *p == '=' ? p + 1 : p;
}

static const char *set_value(struct section *s, const char *p)
{
    char *to = s->value;
    while (*p != '\n' && *p != 0) {
        *to++ = *p++;
    }
    *to = 0;
    return *p == '\n' ? p + 1 : p;
}

static void parse(struct config *c, const char *p)
{
    while (*p != 0) {
        struct section *s = new_section(c);
        p = set_name(s, p);
        p = set_value(s, p);
    }
}

static void build_index(struct config *c)
{
    struct section *s = c->first;
    int i;
    for (i = 0; i < c->count && i < MAX_INDEX && s != NULL; i++) {
        c->index[i] = s;
        c->indexed++;
        if (i + 1 < c->count)
            s = s->next;
    }
}

static const struct section *find_section(const struct config *c, const char *name)
{
    int i, weight = (int)strlen(name);
    for (i = 0; i < c->indexed; i++) {
        const struct section *s = c->index[i];
        if (s->weight == weight && strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

static void show(const struct config *c, const char *name)
{
    const struct section *s = find_section(c, name);
    if (s == NULL)
        printf("%s is not set\n", name);
    else
        printf("%s is %s\n", s->name, s->value);
    fflush(stdout);
}

int main(void)
{
    static struct config c;
    parse(&c, text);
    build_index(&c);
    show(&c, "net");
    show(&c, "db");
    show(&c, "log");
    show(&c, "proxy");
    printf("%d sections\n", c.count);
    return 0;
}
