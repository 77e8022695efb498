#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 16
#define MAX_LOG 16

enum op { OP_INSERT, OP_DELETE_ALL };

struct stmt {
    enum op op;
    int value;
};

struct table {
    pthread_mutex_t lock;
    int rows[MAX_ROWS];
    int nrows;
};

struct stmt_log {
    pthread_mutex_t lock;
    struct stmt entries[MAX_LOG];
    int n;
};

struct client {
    pthread_t tid;
    const struct stmt *script;
    int nstmts;
};

static struct table master = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct table replica = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct stmt_log repl_log = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct stmt script_a[] = {
    { OP_INSERT, 4 },
    { OP_INSERT, 9 },
    { OP_INSERT, 2 },
};

static const struct stmt script_b[] = {
    { OP_DELETE_ALL, 0 },
    { OP_INSERT, 7 },
};

static void table_apply(struct table *t, const struct stmt *s)
{
    pthread_mutex_lock(&t->lock);
    if (s->op == OP_DELETE_ALL)
        t->nrows = 0;
    else
        t->rows[t->nrows++] = s->value;
    pthread_mutex_unlock(&t->lock);
}

static void log_append(struct stmt_log *l, const struct stmt *s)
{
    pthread_mutex_lock(&l->lock);
    l->entries[l->n++] = *s;
    pthread_mutex_unlock(&l->lock);
}

static int log_length(struct stmt_log *l)
{
    int n;
    pthread_mutex_lock(&l->lock);
    n = l->n;
    pthread_mutex_unlock(&l->lock);
    return n;
}

static void execute(const struct stmt *s)
{
    table_apply(&master, s);
    log_append(&repl_log, s);
}

static void *client_main(void *arg)
{
    struct client *c = arg;
    int i;
    for (i = 0; i < c->nstmts; i++)
        execute(&c->script[i]);
    return NULL;
}

static void replay(struct table *t, struct stmt_log *l)
{
    int n = log_length(l);
    int i;
    for (i = 0; i < n; i++)
        table_apply(t, &l->entries[i]);
}

static int compare_int(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

static int same_rows(struct table *a, struct table *b)
{
    size_t n = (size_t)a->nrows;
    if (a->nrows != b->nrows)
        return 0;
    qsort(a->rows, n, sizeof(int), compare_int);
    qsort(b->rows, n, sizeof(int), compare_int);
    return memcmp(a->rows, b->rows, n * sizeof(int)) == 0;
}

int main(void)
{
    struct client a = { .script = script_a, .nstmts = 3 };
    struct client b = { .script = script_b, .nstmts = 2 };
    pthread_create(&a.tid, NULL, client_main, &a);
    pthread_create(&b.tid, NULL, client_main, &b);
    pthread_join(a.tid, NULL);
    pthread_join(b.tid, NULL);
    replay(&replica, &repl_log);
    printf("master %d rows, replica %d\n", master.nrows, replica.nrows);
    if (!same_rows(&master, &replica)) {
        fprintf(stderr, "replica differs\n");
        return 1;
    }
    return 0;
}
