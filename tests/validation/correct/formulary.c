/* Threads evaluate small formulas; errors leave the recursion by longjmp.
   The functions come from libm, which every thread opens and closes. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define TURNS 12

enum { BAD_SYNTAX = 1, DIV_ZERO, NO_FUNCTION };

struct eval {
    const char *p;
    void *lib;
    jmp_buf out;
    int depth;
};

struct sum { int good, err[4], wrong; };

static const struct { const char *text; double value; int err; } formula[] = {
    { "(1+2)*4", 12, 0 },
    { "8/(3-3)", 0, DIV_ZERO },
    { "sqrt(16)+cos(0)", 5, 0 },
    { "((((2*(3+)))))", 0, BAD_SYNTAX },
    { "nosuchfunction(1)", 0, NO_FUNCTION },
    { "floor(exp(0)*7/2)", 3, 0 },
};
#define FORMULAS ((int)(sizeof formula / sizeof formula[0]))

static double expr(struct eval *e);

static double call(struct eval *e, const char *name, double arg)
{
    double (*fn)(double);
    void *sym = dlsym(e->lib, name);

    if (!sym)
        longjmp(e->out, NO_FUNCTION);
    memcpy(&fn, &sym, sizeof fn);
    return fn(arg);
}

static double factor(struct eval *e)
{
    char name[32];
    size_t n = 0;
    double v;

    if (*e->p >= '0' && *e->p <= '9') {
        for (v = 0; *e->p >= '0' && *e->p <= '9'; e->p++)
            v = v * 10 + (*e->p - '0');
        return v;
    }
    while (*e->p >= 'a' && *e->p <= 'z' && n < sizeof name - 1)
        name[n++] = *e->p++;
    name[n] = 0;
    if (*e->p++ != '(')
        longjmp(e->out, BAD_SYNTAX);
    e->depth++;
    v = expr(e);
    if (*e->p++ != ')')
        longjmp(e->out, BAD_SYNTAX);
    e->depth--;
    return n ? call(e, name, v) : v;
}

static double term(struct eval *e)
{
    double v = factor(e), d;

    while (*e->p == '*' || *e->p == '/') {
        if (*e->p++ == '*') {
            v *= factor(e);
        } else {
            d = factor(e);
            if (d == 0)
                longjmp(e->out, DIV_ZERO);
            v /= d;
        }
    }
    return v;
}

static double expr(struct eval *e)
{
    double v = term(e);

    while (*e->p == '+' || *e->p == '-') {
        if (*e->p++ == '+')
            v += term(e);
        else
            v -= term(e);
    }
    return v;
}

/* 0 and the value, or the number of the error. */
static int evaluate(struct eval *e, const char *text, double *value)
{
    int err = setjmp(e->out);

    if (err)
        return err;
    e->p = text;
    e->depth = 0;
    *value = expr(e);
    if (*e->p || e->depth)
        return BAD_SYNTAX;
    return 0;
}

static void *pupil(void *arg)
{
    struct sum *s = arg;
    struct eval *e = malloc(sizeof *e);
    int turn, i, err;
    double v;

    if (!e)
        exit(1);
    for (turn = 0; turn < TURNS; turn++) {
        e->lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        if (!e->lib) {
            fprintf(stderr, "formulary: %s\n", dlerror());
            exit(1);
        }
        for (i = 0; i < FORMULAS; i++) {
            v = 0;
            err = evaluate(e, formula[i].text, &v);
            if (err != formula[i].err || (!err && v != formula[i].value))
                s->wrong++;
            else if (err)
                s->err[err]++;
            else
                s->good++;
        }
        dlclose(e->lib);
    }
    free(e);
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    struct sum s[THREADS];
    int i, good = 0, errs = 0, wrong = 0;

    memset(s, 0, sizeof s);
    for (i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, pupil, &s[i]))
            return 1;
    for (i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        good += s[i].good;
        errs += s[i].err[BAD_SYNTAX] + s[i].err[DIV_ZERO] + s[i].err[NO_FUNCTION];
        wrong += s[i].wrong;
    }
    printf("good %d, errors %d, wrong %d\n", good, errs, wrong);
    return wrong == 0 && good == 3 * THREADS * TURNS &&
           errs == 3 * THREADS * TURNS ? 0 : 1;
}
