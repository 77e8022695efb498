/* Log handler that keeps records in memory and passes them on to a target
 * handler when its buffer is full or a severe record comes in. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY  4
#define NWORKERS  3
#define NRECORDS  6

enum level { LOG_DEBUG, LOG_INFO, LOG_ERROR };

struct record {
    int        worker;
    int        serial;
    enum level level;
    char       text[32];
};

struct handler {
    const char     *name;
    pthread_mutex_t lock;
    long            emitted;
    long            bytes;
};

struct mem_handler {
    pthread_mutex_t lock;           /* target and closed */
    struct handler *target;
    int             closed;

    pthread_mutex_t buffer_lock;    /* the buffer */
    struct record   buffer[CAPACITY];
    int             used;
    long            kept;
};

static struct handler file_handler = { .name = "file", .lock = PTHREAD_MUTEX_INITIALIZER };
static struct mem_handler mem = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .buffer_lock = PTHREAD_MUTEX_INITIALIZER,
};
static atomic_int workers_left = NWORKERS;
static int last_serial[NWORKERS];

static struct handler *mh_target(struct mem_handler *h)
{
    struct handler *t;

    pthread_mutex_lock(&h->lock);
    t = h->target;
    pthread_mutex_unlock(&h->lock);
    return t;
}

static void mh_set_target(struct mem_handler *h, struct handler *t)
{
    pthread_mutex_lock(&h->lock);
    h->target = t;
    h->closed = t == NULL;
    pthread_mutex_unlock(&h->lock);
}

static void handler_emit(struct handler *t, const struct record *r)
{
    pthread_mutex_lock(&t->lock);
    t->emitted++;
    t->bytes += (long)strlen(r->text);
    pthread_mutex_unlock(&t->lock);
}

/* Called with the buffer locked. */
static void mh_flush(struct mem_handler *h)
{
    if (mh_target(h) != NULL) {
        for (int i = 0; i < h->used; i++)
            handler_emit(mh_target(h), &h->buffer[i]);
        h->used = 0;
    } else {
        h->kept += h->used;
        h->used = 0;
    }
}

static void mh_emit(struct mem_handler *h, int worker, int serial, enum level level)
{
    struct record *r;

    pthread_mutex_lock(&h->buffer_lock);
    r = &h->buffer[h->used++];
    r->worker = worker;
    r->serial = serial;
    r->level = level;
    snprintf(r->text, sizeof(r->text), "worker %d record %d", worker, serial);
    if (h->used == CAPACITY || level == LOG_ERROR)
        mh_flush(h);
    pthread_mutex_unlock(&h->buffer_lock);
}

static void *worker_main(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NRECORDS; i++) {
        mh_emit(&mem, id, i, i == NRECORDS - 1 ? LOG_ERROR : LOG_INFO);
        last_serial[id] = i;
    }
    atomic_fetch_sub(&workers_left, 1);
    return NULL;
}

/* Takes the file away while it is rotated, then gives it back. */
static void *rotate_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2 && atomic_load(&workers_left) > 0; i++) {
        mh_set_target(&mem, NULL);
        pthread_mutex_lock(&file_handler.lock);
        file_handler.bytes = 0;
        pthread_mutex_unlock(&file_handler.lock);
        mh_set_target(&mem, &file_handler);
    }
    return NULL;
}

int main(void)
{
    pthread_t w[NWORKERS], r;
    int ids[NWORKERS];

    mh_set_target(&mem, &file_handler);
    for (int i = 0; i < NWORKERS; i++) {
        ids[i] = i;
        pthread_create(&w[i], NULL, worker_main, &ids[i]);
    }
    pthread_create(&r, NULL, rotate_main, NULL);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(w[i], NULL);
    pthread_join(r, NULL);
    mh_flush(&mem);
    printf("%s: %ld emitted, %ld kept back\n", file_handler.name, file_handler.emitted, mem.kept);
    return file_handler.emitted + mem.kept == NWORKERS * NRECORDS ? 0 : 1;
}
