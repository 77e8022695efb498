#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vec {
    char *data;
    size_t elem;
    size_t len;
    size_t cap;
};

struct option {
    const char *name;
    int argc;
    int flags;
    long (*run)(const char *arg);
};

struct call {
    const struct option *opt;
    const char *arg;
};

struct shell {
    struct vec options;
    struct vec history;
    long result;
};

static void vec_init(struct vec *v, size_t elem)
{
    v->elem = elem;
    v->len = 0;
    v->cap = 4;
    v->data = calloc(v->cap, elem);
}

static void vec_push(struct vec *v, const void *e)
{
    if (v->len == v->cap)
        abort();
    memcpy(v->data + v->len * v->elem, e, v->elem);
    v->len++;
}

static void *vec_at(struct vec *v, size_t i)
{
    return v->data + i * v->elem;
}

static long run_length(const char *arg)
{
    return (long)strlen(arg);
}

static long run_number(const char *arg)
{
    return strtol(arg, NULL, 10);
}

static void shell_init(struct shell *s)
{
    static const struct option opts[] = {
        { "length", 1, 0, run_length },
        { "number", 1, 0, run_number },
    };
    size_t i;
    vec_init(&s->options, sizeof(struct call));
    vec_init(&s->history, sizeof(struct call));
    s->result = 0;
    for (i = 0; i < sizeof opts / sizeof opts[0]; i++)
        vec_push(&s->options, &opts[i]);
}

static const struct option *find_option(struct shell *s, const char *name)
{
    size_t i;
    for (i = 0; i < s->options.len; i++) {
        const struct option *o = vec_at(&s->options, i);
        if (strcmp(o->name, name) == 0)
            return o;
    }
    return NULL;
}

static void plan(struct shell *s, const char *name, const char *arg)
{
    struct call c;
    c.opt = find_option(s, name);
    c.arg = arg;
    if (c.opt)
        vec_push(&s->history, &c);
}

static void execute(struct shell *s)
{
    size_t i;
    for (i = 0; i < s->history.len; i++) {
        struct call *c = vec_at(&s->history, i);
        s->result += c->opt->run(c->arg);
    }
}

int main(void)
{
    struct shell s;
    shell_init(&s);
    plan(&s, "number", "35");
    plan(&s, "length", "seven77");
    execute(&s);
    printf("%zu calls, result %ld\n", s.history.len, s.result);
    free(s.options.data);
    free(s.history.data);
    return s.result == 42 ? 0 : 1;
}
