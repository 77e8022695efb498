/* Bulk load of comma-separated rows into tables. Each table named on the
 * command line as database.table becomes a job; loader threads take jobs from a
 * list and put the rows into the catalogue under the full name of the table. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define LOADERS 2
#define MAX_JOBS 8
#define NAME_BYTES 48

struct job {
    struct job *next;
    char *table;
    char *database;
    const char *rows;
};

struct table {
    char name[NAME_BYTES];
    int rows;
    long sum;
};

struct catalogue {
    pthread_mutex_t lock;
    struct table table[MAX_JOBS];
    int tables;
    struct job *jobs;
};

static const char *const input[] = {
    "17,4\n23,9\n5,5\n",
    "1,2\n3,4\n5,6\n7,8\n",
    "1000,1\n2000,2\n",
};

/* Splits database.table; the strings belong to the job. */
static struct job *job_new(const char *name, const char *rows)
{
    struct job *j = malloc(sizeof *j);
    const char *dot = strchr(name, '.');

    if (j == NULL)
        abort();
    j->rows = rows;
    if (dot != NULL) {
        j->database = strndup(name, (size_t)(dot - name));
        j->table = strdup(dot + 1);
    } else {
        j->table = strdup(name);
    }
    return j;
}

static void job_free(struct job *j)
{
    free(j->database);
    free(j->table);
    free(j);
}

static void catalogue_queue(struct catalogue *c, struct job *j)
{
    pthread_mutex_lock(&c->lock);
    j->next = c->jobs;
    c->jobs = j;
    pthread_mutex_unlock(&c->lock);
}

static struct job *catalogue_take(struct catalogue *c)
{
    pthread_mutex_lock(&c->lock);
    struct job *j = c->jobs;
    if (j != NULL)
        c->jobs = j->next;
    pthread_mutex_unlock(&c->lock);
    return j;
}

static void full_name(const struct job *j, char *name)
{
    size_t n = strlen(j->database);

    if (n > NAME_BYTES / 2 - 2)
        n = NAME_BYTES / 2 - 2;
    memcpy(name, j->database, n);
    name[n++] = '.';
    snprintf(name + n, NAME_BYTES - n, "%s", j->table);
}

static void load(struct catalogue *c, const struct job *j)
{
    struct table t = {.rows = 0};
    const char *p = j->rows;

    full_name(j, t.name);
    while (*p != '\0') {
        char *end;
        t.sum += strtol(p, &end, 10);
        if (*end == '\n')
            t.rows++;
        p = *end != '\0' ? end + 1 : end;
    }
    pthread_mutex_lock(&c->lock);
    c->table[c->tables++] = t;
    pthread_mutex_unlock(&c->lock);
}

static void *loader_main(void *arg)
{
    struct catalogue *c = arg;
    struct job *j;

    while ((j = catalogue_take(c)) != NULL) {
        load(c, j);
        job_free(j);
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct table *)a)->name, ((const struct table *)b)->name);
}

int main(int argc, char **argv)
{
    static struct catalogue cat = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t loader[LOADERS];

    if (argc < 2 || argc > MAX_JOBS) {
        fprintf(stderr, "usage: table-load [DATABASE.]TABLE...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++)
        catalogue_queue(&cat, job_new(argv[i], input[i % 3]));
    for (int i = 0; i < LOADERS; i++)
        if (pthread_create(&loader[i], NULL, loader_main, &cat) != 0)
            return 2;
    for (int i = 0; i < LOADERS; i++)
        pthread_join(loader[i], NULL);
    qsort(cat.table, (size_t)cat.tables, sizeof cat.table[0], by_name);
    for (int i = 0; i < cat.tables; i++)
        printf("%s: %d rows, sum %ld\n", cat.table[i].name, cat.table[i].rows, cat.table[i].sum);
    return 0;
}
