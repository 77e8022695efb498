/* Inserts into a table whose key is an AUTO_INCREMENT column. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MAXROWS  64
#define NCLIENTS 3
#define NINSERTS 4

enum { OK = 0, ERR_DUP_ENTRY = 1062 };

struct dict_table {
    pthread_mutex_t autoinc_mutex;
    unsigned long   autoinc;            /* next value to hand out */

    pthread_mutex_t index_mutex;
    unsigned long   keys[MAXROWS];
    long            values[MAXROWS];
    int             nrows;
};

struct client {
    int           id;
    unsigned long increment, offset;    /* auto_increment_increment, _offset */
    int           errors;
    pthread_t     thread;
};

static struct dict_table table = {
    .autoinc_mutex = PTHREAD_MUTEX_INITIALIZER,
    .index_mutex = PTHREAD_MUTEX_INITIALIZER,
    .autoinc = 1,
};
static atomic_long handler_write, com_insert;

static unsigned long table_autoinc_read(struct dict_table *t)
{
    unsigned long v;

    pthread_mutex_lock(&t->autoinc_mutex);
    v = t->autoinc;
    pthread_mutex_unlock(&t->autoinc_mutex);
    return v;
}

/* Never goes back. */
static void table_autoinc_update_if_greater(struct dict_table *t, unsigned long v)
{
    pthread_mutex_lock(&t->autoinc_mutex);
    if (v > t->autoinc)
        t->autoinc = v;
    pthread_mutex_unlock(&t->autoinc_mutex);
}

/* The first value of the series offset + n * increment that is not below v. */
static unsigned long next_value(const struct client *c, unsigned long v)
{
    unsigned long n;

    if (v <= c->offset)
        return c->offset;
    n = (v - c->offset + c->increment - 1) / c->increment;
    return c->offset + n * c->increment;
}

static unsigned long get_auto_increment(struct client *c, struct dict_table *t)
{
    unsigned long v = next_value(c, table_autoinc_read(t));

    table_autoinc_update_if_greater(t, v + c->increment);
    return v;
}

static int index_insert(struct dict_table *t, unsigned long key, long value)
{
    int err = OK;

    pthread_mutex_lock(&t->index_mutex);
    for (int i = 0; i < t->nrows; i++)
        if (t->keys[i] == key)
            err = ERR_DUP_ENTRY;
    if (err == OK) {
        t->keys[t->nrows] = key;
        t->values[t->nrows] = value;
        t->nrows++;
    }
    pthread_mutex_unlock(&t->index_mutex);
    return err;
}

static void write_row(struct client *c, struct dict_table *t, long value)
{
    unsigned long key = get_auto_increment(c, t);

    atomic_fetch_add_explicit(&handler_write, 1, memory_order_relaxed);
    if (index_insert(t, key, value) != OK)
        c->errors++;
}

static void *client_main(void *arg)
{
    struct client *c = arg;

    for (int i = 0; i < NINSERTS; i++) {
        atomic_fetch_add_explicit(&com_insert, 1, memory_order_relaxed);
        write_row(c, &table, 100L * c->id + i);
    }
    return NULL;
}

int main(void)
{
    struct client c[NCLIENTS];
    long sum = 0;

    for (int i = 0; i < NCLIENTS; i++) {
        c[i] = (struct client){ .id = i, .increment = 2, .offset = 1 };
        pthread_create(&c[i].thread, NULL, client_main, &c[i]);
    }
    for (int i = 0; i < NCLIENTS; i++)
        pthread_join(c[i].thread, NULL);
    for (int i = 0; i < table.nrows; i++)
        sum += table.values[i];
    printf("%d rows, sum %ld, next key %lu\n", table.nrows, sum, table.autoinc);
    for (int i = 0; i < NCLIENTS; i++)
        if (c[i].errors)
            fprintf(stderr, "client %d: %d duplicate entries\n", i, c[i].errors);
    return table.nrows == NCLIENTS * NINSERTS ? 0 : 1;
}
