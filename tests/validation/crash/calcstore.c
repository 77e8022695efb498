/* Storage of a desk calculator: tables of scalars, arrays and functions
   which grow as names are defined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE_INCR 8

struct var {
    long value;
    struct var *saved;
};

struct array {
    int used;
    long cell[6];
};

static struct var **variables;
static char **v_names;
static int v_count;

struct slot {
    struct array *ary;
    int depth;
};

static struct slot *arrays;
static char **a_names;
static int a_count;

static int next_var = 1, next_array = 1;

static void *xmalloc(size_t n)
{
    void *p = malloc(n);

    if (!p)
        exit(2);
    return p;
}

static void more_variables(void)
{
    int indx, old_count = v_count;
    struct var **old_var = variables;
    char **old_names = v_names;

    v_count += STORE_INCR;
    variables = xmalloc(v_count * sizeof *variables);
    v_names = xmalloc(v_count * sizeof *v_names);
    for (indx = 0; indx < old_count; indx++) {
        variables[indx] = old_var[indx];
        v_names[indx] = old_names[indx];
    }
    for (; indx < v_count; indx++) {
        variables[indx] = NULL;
        v_names[indx] = NULL;
    }
    free(old_var);
    free(old_names);
}

static void more_arrays(void)
{
    int indx, old_count = a_count;
    struct slot *old_ary = arrays;
    char **old_names = a_names;

    a_count += STORE_INCR;
    a_names = xmalloc(a_count * sizeof *a_names);
    arrays = xmalloc(a_count * sizeof *arrays);
    for (indx = 0; indx < old_count; indx++) {
        arrays[indx] = old_ary[indx];
        a_names[indx] = old_names[indx];
    }
    for (; indx < a_count; indx++)
        a_names[indx] = NULL;
    for (indx = old_count; indx < v_count; indx++) {
        arrays[indx].ary = NULL;
        arrays[indx].depth = 0;
    }
    free(old_ary);
    free(old_names);
}

static char *dupname(const char *s)
{
    return strcpy(xmalloc(strlen(s) + 1), s);
}

static void define_var(const char *name, long value)
{
    struct var *v;

    if (next_var >= v_count)
        more_variables();
    v = xmalloc(sizeof *v);
    v->value = value;
    v->saved = NULL;
    v_names[next_var] = dupname(name);
    variables[next_var++] = v;
}

static void define_array(const char *name, int fill)
{
    struct array *a;

    if (next_array >= a_count)
        more_arrays();
    a = xmalloc(sizeof *a);
    for (a->used = 0; a->used < 6; a->used++)
        a->cell[a->used] = fill * (a->used + 1);
    a_names[next_array] = dupname(name);
    arrays[next_array].depth = 1;
    arrays[next_array++].ary = a;
}

static long total(void)
{
    long t = 0;
    int i, j;

    for (i = 1; i < next_var; i++)
        t += variables[i]->value;
    for (i = 1; i < next_array; i++)
        for (j = 0; j < arrays[i].ary->used; j++)
            t += arrays[i].ary->cell[j];
    return t;
}

int main(void)
{
    char name[16];
    int i;

    more_variables();
    more_arrays();
    for (i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "var_%d", i);
        define_var(name, i * 3);
    }
    for (i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "arr_%d", i);
        define_array(name, i);
    }
    printf("total %ld\n", total());
    return 0;
}
