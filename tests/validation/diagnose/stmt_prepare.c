#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_COLS 8
#define NREADERS 2
#define NQUERIES 5
#define NALTERS 2

enum step_result { STEP_ROW, STEP_SCHEMA };

struct schema {
    pthread_mutex_t lock;
    int ncol;
    char cols[MAX_COLS][12];
    unsigned cookie;
};

struct stmt {
    int width;
    unsigned cookie;
    int registers[MAX_COLS];
};

struct reader {
    pthread_t tid;
    struct schema *schema;
    int rows;
    int reprepares;
};

static struct schema main_db = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void schema_add_column(struct schema *s, const char *name)
{
    pthread_mutex_lock(&s->lock);
    snprintf(s->cols[s->ncol], sizeof s->cols[0], "%s", name);
    s->ncol++;
    s->cookie++;
    pthread_mutex_unlock(&s->lock);
}

static int schema_width(struct schema *s)
{
    int n;
    pthread_mutex_lock(&s->lock);
    n = s->ncol;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static unsigned schema_cookie(struct schema *s)
{
    unsigned c;
    pthread_mutex_lock(&s->lock);
    c = s->cookie;
    pthread_mutex_unlock(&s->lock);
    return c;
}

static void stmt_prepare(struct stmt *st, struct schema *s)
{
    int i;
    memset(st, 0, sizeof *st);
    st->width = schema_width(s);
    for (i = 0; i < st->width; i++)
        st->registers[i] = i;
    st->cookie = schema_cookie(s);
}

static enum step_result stmt_step(struct stmt *st, struct schema *s)
{
    enum step_result rc = STEP_SCHEMA;
    int i;
    pthread_mutex_lock(&s->lock);
    if (st->cookie == s->cookie) {
        assert(st->width == s->ncol);
        for (i = 0; i < st->width; i++)
            st->registers[i] += (int)strlen(s->cols[i]);
        rc = STEP_ROW;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    struct stmt st;
    stmt_prepare(&st, r->schema);
    while (r->rows < NQUERIES) {
        if (stmt_step(&st, r->schema) == STEP_ROW) {
            r->rows++;
        } else {
            r->reprepares++;
            stmt_prepare(&st, r->schema);
        }
    }
    return NULL;
}

static void *alter_main(void *arg)
{
    struct schema *s = arg;
    char name[12];
    int i;
    for (i = 0; i < NALTERS; i++) {
        snprintf(name, sizeof name, "extra%d", i);
        schema_add_column(s, name);
    }
    return NULL;
}

int main(void)
{
    struct reader r[NREADERS];
    pthread_t alter;
    int total = 0;
    int i;
    schema_add_column(&main_db, "id");
    schema_add_column(&main_db, "name");
    schema_add_column(&main_db, "price");
    for (i = 0; i < NREADERS; i++) {
        r[i].schema = &main_db;
        r[i].rows = 0;
        r[i].reprepares = 0;
        pthread_create(&r[i].tid, NULL, reader_main, &r[i]);
    }
    pthread_create(&alter, NULL, alter_main, &main_db);
    for (i = 0; i < NREADERS; i++) {
        pthread_join(r[i].tid, NULL);
        total += r[i].rows;
    }
    pthread_join(alter, NULL);
    printf("rows %d columns %d\n", total, main_db.ncol);
    return total == NREADERS * NQUERIES ? 0 : 1;
}
