/* Embedded database: several threads share one connection, which is
 * serialized by its own mutex. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NROWS    16
#define NTHREADS 3
#define NSTMTS   10

enum { DB_OK = 0, DB_CONSTRAINT = 19, DB_NOTFOUND = 12, DB_RANGE = 25 };

struct row {
    int  used;
    int  key;
    long value;
};

struct db {
    pthread_mutex_t mutex;
    struct row      rows[NROWS];
    int             nrow;
    int             err_code;
    char            err_msg[48];
    long            changes;
    atomic_long     steps;
};

struct client {
    int       id;
    int       failed;       /* statements that did not succeed */
    int       odd;          /* errors that are not ours */
    pthread_t thread;
};

static struct db conn = { .mutex = PTHREAD_MUTEX_INITIALIZER };
static int busy_hint;

static int set_error(struct db *db, int code, const char *what, int key)
{
    db->err_code = code;
    if (code == DB_OK)
        db->err_msg[0] = '\0';
    else
        snprintf(db->err_msg, sizeof(db->err_msg), "%s: key %d", what, key);
    return code;
}

static struct row *find_row(struct db *db, int key)
{
    for (int i = 0; i < NROWS; i++)
        if (db->rows[i].used && db->rows[i].key == key)
            return &db->rows[i];
    return NULL;
}

static int insert_locked(struct db *db, int key, long value)
{
    if (find_row(db, key) != NULL)
        return set_error(db, DB_CONSTRAINT, "UNIQUE constraint failed", key);
    for (int i = 0; i < NROWS; i++) {
        struct row *r = &db->rows[i];

        if (!r->used) {
            r->used = 1;
            r->key = key;
            r->value = value;
            db->nrow++;
            db->changes++;
            return set_error(db, DB_OK, NULL, key);
        }
    }
    return set_error(db, DB_RANGE, "table full", key);
}

static int db_insert(struct db *db, int key, long value)
{
    int rc;

    pthread_mutex_lock(&db->mutex);
    busy_hint = 1;
    rc = insert_locked(db, key, value);
    atomic_fetch_add_explicit(&db->steps, 1, memory_order_relaxed);
    pthread_mutex_unlock(&db->mutex);
    busy_hint = 0;
    return rc == DB_OK ? 0 : -1;
}

static int db_delete(struct db *db, int key)
{
    struct row *r;
    int rc;

    pthread_mutex_lock(&db->mutex);
    r = find_row(db, key);
    if (r == NULL) {
        rc = set_error(db, DB_NOTFOUND, "no such row", key);
    } else {
        r->used = 0;
        db->nrow--;
        db->changes++;
        rc = set_error(db, DB_OK, NULL, key);
    }
    atomic_fetch_add_explicit(&db->steps, 1, memory_order_relaxed);
    pthread_mutex_unlock(&db->mutex);
    return rc == DB_OK ? 0 : -1;
}

static int db_errcode(struct db *db)
{
    int code;

    pthread_mutex_lock(&db->mutex);
    code = db->err_code;
    pthread_mutex_unlock(&db->mutex);
    return code;
}

/* Each client works on its own keys, so it knows what must fail and how. */
static void *client_main(void *arg)
{
    struct client *c = arg;
    int base = 100 * (c->id + 1);

    for (int i = 0; i < NSTMTS; i++) {
        int key = base + i / 2 % 3;

        if (c->id == 1) {
            if (db_delete(&conn, key) != 0) {
                c->failed++;
                if (db_errcode(&conn) != DB_NOTFOUND)
                    c->odd++;
            }
        } else if (db_insert(&conn, key, i) != 0) {
            c->failed++;
            if (db_errcode(&conn) != DB_CONSTRAINT)
                c->odd++;
        }
    }
    return NULL;
}

int main(void)
{
    struct client c[NTHREADS];
    int failed = 0, odd = 0;

    memset(c, 0, sizeof(c));
    for (int i = 0; i < NTHREADS; i++) {
        c[i].id = i;
        pthread_create(&c[i].thread, NULL, client_main, &c[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(c[i].thread, NULL);
        failed += c[i].failed;
        odd += c[i].odd;
    }
    printf("%d rows, %ld changes, %d statements failed\n", conn.nrow, conn.changes, failed);
    if (odd != 0) {
        fprintf(stderr, "%d errors of unexpected kind\n", odd);
        return 1;
    }
    return 0;
}
