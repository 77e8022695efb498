/* Table catalogue and statement log of a small database server. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TABLES 6

struct table_def {
    char name[16];
    int open_count;
    int version;
};

static struct table_def tables[MAX_TABLES];
static int n_tables;
static char statement_log[512];
static size_t log_pos;
static int checkpoints;

static pthread_mutex_t LOCK_open = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t LOCK_log = PTHREAD_MUTEX_INITIALIZER;

static void append(const char *verb, const char *what)
{
    int n = snprintf(statement_log + log_pos, sizeof statement_log - log_pos,
                     "%s %s;", verb, what);
    log_pos += (size_t)n;
}

static struct table_def *find(const char *name)
{
    for (int i = 0; i < n_tables; i++)
        if (!strcmp(tables[i].name, name))
            return &tables[i];
    return NULL;
}

static void create_table(const char *name)
{
    pthread_mutex_lock(&LOCK_open);
    if (!find(name) && n_tables < MAX_TABLES) {
        struct table_def *t = &tables[n_tables++];
        memcpy(t->name, name, strlen(name) + 1);
        t->version = 1;
        pthread_mutex_lock(&LOCK_log);
        append("CREATE", name);
        pthread_mutex_unlock(&LOCK_log);
    }
    pthread_mutex_unlock(&LOCK_open);
}

static void touch_table(const char *name)
{
    pthread_mutex_lock(&LOCK_open);
    struct table_def *t = find(name);
    if (t)
        t->open_count++;
    pthread_mutex_unlock(&LOCK_open);
}

static void checkpoint(void)
{
    char line[16] = "#0";
    int versions = 0;
    pthread_mutex_lock(&LOCK_log);
    line[1] = (char)('0' + ++checkpoints);
    pthread_mutex_lock(&LOCK_open);
    for (int i = 0; i < n_tables; i++)
        versions += tables[i].version;
    pthread_mutex_unlock(&LOCK_open);
    if (versions >= 0)
        append("CHECKPOINT", line);
    pthread_mutex_unlock(&LOCK_log);
}

static void *client(void *arg)
{
    const char *name = arg;
    touch_table(name);
    create_table(name);
    touch_table(name);
    return NULL;
}

static void *maintenance(void *arg)
{
    (void)arg;
    checkpoint();
    return NULL;
}

int main(void)
{
    pthread_t c1, c2, m;
    int uses = 0;

    create_table("system");
    touch_table("system");
    checkpoint();
    pthread_create(&c1, NULL, client, "orders");
    pthread_create(&m, NULL, maintenance, NULL);
    pthread_create(&c2, NULL, client, "items");
    pthread_join(c1, NULL);
    pthread_join(c2, NULL);
    pthread_join(m, NULL);
    for (int i = 0; i < n_tables; i++)
        uses += tables[i].open_count;
    printf("tables %d uses %d log %zu\n", n_tables, uses, log_pos);
    return 0;
}
