#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAXROWS 64
#define NALBUMS 3
#define NTRACKS 2
#define NIMPORTERS 2

struct row {
    int parent;
    int artist;
};

struct connection {
    pthread_mutex_t mutex;
    struct row rows[MAXROWS];
    int count;
    int last_id;
    int changes;
    int in_use;
};

struct importer {
    struct connection *db;
    int artist;
};

static int db_insert(struct connection *c, int parent, int artist)
{
    int id;
    pthread_mutex_lock(&c->mutex);
    id = c->count++;
    c->rows[id].parent = parent;
    c->rows[id].artist = artist;
    c->last_id = id;
    c->changes++;
    pthread_mutex_unlock(&c->mutex);
    return id < MAXROWS ? 0 : -1;

}

static int db_last_id(struct connection *c)
{
    int id;
    pthread_mutex_lock(&c->mutex);
    id = c->last_id;
    pthread_mutex_unlock(&c->mutex);
    return id;
}

static void db_check(struct connection *c, int *orphans)
{
    int i;
    pthread_mutex_lock(&c->mutex);
    for (i = 0; i < c->count; i++) {
        const struct row *r = &c->rows[i];
        if (r->parent >= 0 && c->rows[r->parent].artist != r->artist)
            (*orphans)++;
    }
    pthread_mutex_unlock(&c->mutex);
}

static int import_album(struct importer *m)
{
    int album, i;
    if (db_insert(m->db, -1, m->artist) < 0)
        return -1;
    album = db_last_id(m->db);
    for (i = 0; i < NTRACKS; i++)
        if (db_insert(m->db, album, m->artist) < 0)
            return -1;
    return 0;
}

static void *importer_main(void *arg)
{
    struct importer *m = arg;
    int i;
    m->db->in_use = 1;
    for (i = 0; i < NALBUMS; i++)
        import_album(m);
    return NULL;
}

int main(void)
{
    static struct connection db = { .mutex = PTHREAD_MUTEX_INITIALIZER };
    struct importer m[NIMPORTERS];
    pthread_t t[NIMPORTERS];
    int i, orphans = 0;
    for (i = 0; i < NIMPORTERS; i++) {
        m[i] = (struct importer){ &db, 7 + i };
        pthread_create(&t[i], NULL, importer_main, &m[i]);
    }
    for (i = 0; i < NIMPORTERS; i++)
        pthread_join(t[i], NULL);
    db_check(&db, &orphans);
    printf("%d rows, %d changes, %d in wrong albums\n", db.count, db.changes, orphans);
    return orphans != 0 || db.changes != NIMPORTERS * NALBUMS * (1 + NTRACKS);
}
