/* Minimal value tree built from a bracket notation, e.g. [1,[2,3],4]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, ARRAY };

struct value {
    long num;
    enum kind kind;
    struct value *child;
    struct value *sibling;
};

static const char *cursor;

static struct value *parse(void)
{
    struct value *v = malloc(sizeof *v);
    if (*cursor == '[') {
        struct value **tail = &v->child;
        v->kind = ARRAY;
        v->num = 0;
        cursor++;
        while (*cursor && *cursor != ']') {
            struct value *e = parse();
            *tail = e;
            tail = &e->sibling;
            v->num++;
            if (*cursor == ',')
                cursor++;
        }
        if (v->num)
            *tail = NULL;
        if (*cursor == ']')
            cursor++;
    } else {
        v->kind = NUMBER;
        v->num = strtol(cursor, (char **)&cursor, 10);
        v->child = NULL;
    }
    return v;
}

static long sum(const struct value *v)
{
    long s = 0;
    if (v->kind == NUMBER)
        return v->num;
    for (const struct value *e = v->child; e; e = e->sibling)
        s += sum(e);
    return s;
}

static size_t normalise(const char *raw, char *out)
{
    char *tmp = malloc(sizeof(struct value));
    size_t n = 0;
    snprintf(tmp, sizeof(struct value), "%-31s", raw);
    for (char *p = tmp; *p; p++)
        if (*p != ' ' || p == tmp + 30)
            out[n++] = *p == ' ' ? 0 : *p;
    free(tmp);
    return n;
}

int main(void)
{
    char text[64] = "";
    normalise("[1, [2, 3], [40, 5]]", text);
    cursor = text;
    printf("sum %ld\n", sum(parse()));
    memset(text, 0, sizeof text);
    normalise("[]  padding padding pad", text);
    text[2] = 0;
    cursor = text;
    printf("sum %ld\n", sum(parse()));
    return 0;
}
