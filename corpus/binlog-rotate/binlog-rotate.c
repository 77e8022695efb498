/* A table store with an update log. Clients commit changes to rows; a commit is
 * applied to the table and appended to the log, from which a replica can be
 * rebuilt. The administrator rotates the log while clients are connected. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../pause.h"

#define CLIENTS 2
#define COMMITS 25
#define ROWS 16
#define SEGMENT_CHANGES (CLIENTS * COMMITS)

struct change {
    int row;
    int delta;
};

struct segment {
    struct segment *older;
    int number;
    int used;
    struct change change[SEGMENT_CHANGES];
};

enum log_state { LOG_CLOSED, LOG_OPEN };

struct archive {
    pthread_mutex_t lock;
    struct segment *newest;
    int segments;
};

struct binlog {
    pthread_mutex_t lock;
    enum log_state state;
    struct segment *current;
    struct archive archive;
};

struct store {
    pthread_mutex_t lock;
    long row[ROWS];
    int commits;
    struct binlog log;
};

struct client {
    struct store *store;
    uint32_t seed;
};

static uint32_t mix(uint32_t x, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

static struct segment *segment_new(int number)
{
    struct segment *s = calloc(1, sizeof *s);
    if (s == NULL)
        abort();
    s->number = number;
    return s;
}

static void archive_add(struct archive *a, struct segment *s)
{
    pthread_mutex_lock(&a->lock);
    s->older = a->newest;
    a->newest = s;
    a->segments++;
    pthread_mutex_unlock(&a->lock);
}

static void binlog_open(struct binlog *log, struct segment *s)
{
    log->current = s;
    log->state = LOG_OPEN;
}

static void binlog_close(struct binlog *log)
{
    log->state = LOG_CLOSED; PAUSE(130);
    archive_add(&log->archive, log->current);
    log->current = NULL;
}

static void binlog_rotate(struct binlog *log, int number)
{
    struct segment *fresh = segment_new(number);

    pthread_mutex_lock(&log->lock);
    binlog_close(log);
    binlog_open(log, fresh);
    pthread_mutex_unlock(&log->lock);
}

/* Logging can be switched off; a closed log takes nothing. */
static void binlog_append(struct binlog *log, struct change c)
{
    if (log->state == LOG_CLOSED)
        return;
    pthread_mutex_lock(&log->lock);
    struct segment *s = log->current;
    s->change[s->used++] = c;
    pthread_mutex_unlock(&log->lock);
}

static void store_commit(struct store *st, struct change c)
{
    pthread_mutex_lock(&st->lock);
    st->row[c.row] += c.delta;
    st->commits++;
    pthread_mutex_unlock(&st->lock);
    binlog_append(&st->log, c);
}

static void *client_main(void *arg)
{
    struct client *cl = arg; PAUSE(50);

    for (int i = 0; i < COMMITS; i++) {
        cl->seed = mix(cl->seed + (uint32_t)i, 6000);
        struct change c = {(int)(cl->seed % ROWS), (int)(cl->seed >> 8 & 63) + 1};
        store_commit(cl->store, c);
    }
    return NULL;
}

static void *admin_main(void *arg)
{
    struct store *st = arg;

    binlog_rotate(&st->log, 2);
    return NULL;
}

/* Rebuilds the rows from all segments; returns the number of changes read. */
static int replay(const struct binlog *log, long *row)
{
    int changes = 0;

    for (const struct segment *s = log->archive.newest; s != NULL; s = s->older)
        for (int i = 0; i < s->used; i++, changes++)
            row[s->change[i].row] += s->change[i].delta;
    return changes;
}

int main(void)
{
    static struct store st = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .log = {.lock = PTHREAD_MUTEX_INITIALIZER, .archive.lock = PTHREAD_MUTEX_INITIALIZER},
    };
    struct client client[CLIENTS];
    pthread_t thread[CLIENTS], admin;
    long replica[ROWS] = {0};
    int differ = 0;

    binlog_open(&st.log, segment_new(1));
    for (int i = 0; i < CLIENTS; i++) {
        client[i] = (struct client){&st, 2463534242u + 977u * (uint32_t)i};
        if (pthread_create(&thread[i], NULL, client_main, &client[i]) != 0)
            return 2;
    }
    if (pthread_create(&admin, NULL, admin_main, &st) != 0)
        return 2;
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(admin, NULL);
    binlog_close(&st.log);

    int logged = replay(&st.log, replica);
    for (int r = 0; r < ROWS; r++)
        differ += replica[r] != st.row[r];
    printf("committed %d, logged %d in %d segments\n", st.commits, logged, st.log.archive.segments);
    printf("replica: %d rows differ\n", differ);
    while (st.log.archive.newest != NULL) {
        struct segment *s = st.log.archive.newest;
        st.log.archive.newest = s->older;
        free(s);
    }
    return 0;
}
