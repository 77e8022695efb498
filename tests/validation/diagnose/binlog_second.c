/* Sessions insert rows and record them in a replication log which an
 * administrator thread rotates. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NSESSIONS  3
#define NROWS      8
#define NROTATIONS 3
#define MAXEVENTS  256

enum log_state { LOG_CLOSED, LOG_OPEN };

struct event { int session; int row; };

struct binlog {
    pthread_mutex_t lock;
    enum log_state  state;
    char            name[32];
    int             file_no;
    struct event    events[MAXEVENTS];
    int             nevents;
};

struct table {
    pthread_mutex_t lock;
    int             rows[NSESSIONS * NROWS];
    int             nrows;
};

static struct binlog blog = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct table tbl = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t status_lock = PTHREAD_MUTEX_INITIALIZER;
static int queries, flushes;

static void status_inc(int *counter)
{
    pthread_mutex_lock(&status_lock);
    (*counter)++;
    pthread_mutex_unlock(&status_lock);
}

static void binlog_open(struct binlog *b, const char *name)
{
    pthread_mutex_lock(&b->lock);
    strncpy(b->name, name, sizeof b->name - 1);
    b->state = LOG_OPEN;
    pthread_mutex_unlock(&b->lock);
}

static int binlog_close(struct binlog *b)
{
    int no;

    pthread_mutex_lock(&b->lock);
    b->state = LOG_CLOSED;
    no = ++b->file_no;
    pthread_mutex_unlock(&b->lock);
    return no;
}

static void binlog_write(struct binlog *b, int session, int row)
{
    pthread_mutex_lock(&b->lock);
    if (b->state == LOG_OPEN) {
        struct event *e = &b->events[b->nevents++];
        e->session = session;
        e->row = row;
    }
    pthread_mutex_unlock(&b->lock);
}

static void binlog_rotate(struct binlog *b)
{
    char name[32];
    int no = binlog_close(b);

    snprintf(name, sizeof name, "master-bin.%06d", no);
    binlog_open(b, name);
}

static void table_insert(struct table *t, int value)
{
    pthread_mutex_lock(&t->lock);
    t->rows[t->nrows++] = value;
    pthread_mutex_unlock(&t->lock);
}

static void *session_main(void *arg)
{
    int id = (int)(long)arg;

    for (int i = 0; i < NROWS; i++) {
        table_insert(&tbl, id * 1000 + i);
        binlog_write(&blog, id, i);
        status_inc(&queries);
    }
    return NULL;
}

static void *admin_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NROTATIONS; i++) {
        binlog_rotate(&blog);
        status_inc(&flushes);
    }
    return NULL;
}

int main(void)
{
    pthread_t s[NSESSIONS], admin;

    binlog_open(&blog, "master-bin.000000");
    for (long i = 0; i < NSESSIONS; i++)
        pthread_create(&s[i], NULL, session_main, (void *)i);
    pthread_create(&admin, NULL, admin_main, NULL);
    for (int i = 0; i < NSESSIONS; i++)
        pthread_join(s[i], NULL);
    pthread_join(admin, NULL);

    printf("%s: %d queries, %d flushes\n", blog.name, queries, flushes);
    if (blog.nevents != tbl.nrows) {
        fprintf(stderr, "replica out of step: %d rows, %d logged events\n",
                tbl.nrows, blog.nevents);
        return 1;
    }
    return 0;
}
