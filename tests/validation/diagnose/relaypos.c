/* Replica of a database: the receiver writes events into relay logs and goes
 * on to the next log when one is full; others save how far it has come. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NLOGS      8
#define HEADER     4
#define EVENT      16
#define PERLOG     4
#define NEVENTS    16
#define NREADS     6

struct relay_info {
    pthread_mutex_t data_lock;          /* log_no, log_pos */
    int             log_no;
    long            log_pos;

    pthread_mutex_t log_lock;           /* of the logs themselves */
    long            log_size[NLOGS];
    long            space;
};

struct position {
    int  log_no;
    long log_pos;
};

static struct relay_info rli = {
    .data_lock = PTHREAD_MUTEX_INITIALIZER,
    .log_lock = PTHREAD_MUTEX_INITIALIZER,
};
static atomic_long heartbeats, status_queries;
static atomic_int bad_positions;

static int get_log_no(struct relay_info *r)
{
    int n;

    pthread_mutex_lock(&r->data_lock);
    n = r->log_no;
    pthread_mutex_unlock(&r->data_lock);
    return n;
}

static long get_log_pos(struct relay_info *r)
{
    long pos;

    pthread_mutex_lock(&r->data_lock);
    pos = r->log_pos;
    pthread_mutex_unlock(&r->data_lock);
    return pos;
}

static void set_position(struct relay_info *r, int no, long pos)
{
    pthread_mutex_lock(&r->data_lock);
    r->log_no = no;
    r->log_pos = pos;
    pthread_mutex_unlock(&r->data_lock);
}

static long log_append(struct relay_info *r, int no, long bytes)
{
    long size;

    pthread_mutex_lock(&r->log_lock);
    r->log_size[no] += bytes;
    r->space += bytes;
    size = r->log_size[no];
    pthread_mutex_unlock(&r->log_lock);
    return size;
}

static long log_length(struct relay_info *r, int no)
{
    long size;

    pthread_mutex_lock(&r->log_lock);
    size = r->log_size[no];
    pthread_mutex_unlock(&r->log_lock);
    return size;
}

static void *receiver_main(void *arg)
{
    struct relay_info *r = arg;
    int no = 0;

    for (int i = 0; i < NEVENTS; i++) {
        long pos = log_append(r, no, EVENT);

        set_position(r, no, pos);
        atomic_fetch_add_explicit(&heartbeats, 1, memory_order_relaxed);
        if (pos >= HEADER + PERLOG * EVENT) {
            pos = log_append(r, ++no, HEADER);
            set_position(r, no, pos);
        }
    }
    return NULL;
}

static void current_position(struct relay_info *r, struct position *p)
{
    p->log_pos = get_log_pos(r);
    p->log_no = get_log_no(r);
}

/* A replica that is started again there must find the place. */
static void save_position(struct relay_info *r, struct position *saved)
{
    current_position(r, saved);
    if (saved->log_pos > log_length(r, saved->log_no))
        atomic_fetch_add(&bad_positions, 1);
}

static void *checkpoint_main(void *arg)
{
    struct position *saved = arg;

    for (int i = 0; i < NREADS; i++)
        save_position(&rli, saved);
    return NULL;
}

static void *status_main(void *arg)
{
    long *space = arg;

    for (int i = 0; i < NREADS; i++) {
        pthread_mutex_lock(&rli.log_lock);
        *space = rli.space;
        pthread_mutex_unlock(&rli.log_lock);
        atomic_fetch_add_explicit(&status_queries, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    struct position saved[2] = { { 0, 0 } };
    pthread_t recv, ckpt[2], stat;
    long space = 0;

    set_position(&rli, 0, log_append(&rli, 0, HEADER));
    pthread_create(&recv, NULL, receiver_main, &rli);
    for (int i = 0; i < 2; i++)
        pthread_create(&ckpt[i], NULL, checkpoint_main, &saved[i]);
    pthread_create(&stat, NULL, status_main, &space);
    pthread_join(recv, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(ckpt[i], NULL);
    pthread_join(stat, NULL);
    printf("log %d, position %ld, saved %d:%ld, %ld bytes, %ld queries\n", rli.log_no, rli.log_pos,
           saved[0].log_no, saved[0].log_pos, rli.space, atomic_load(&status_queries));
    if (atomic_load(&bad_positions)) {
        fprintf(stderr, "position is beyond the end of the log\n");
        return 1;
    }
    return 0;
}
