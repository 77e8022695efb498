/* Disk cache of a browser: requests are served by threads for input and
 * output; a service lock guards the entries in memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NIO      2
#define NCLIENTS 2
#define NREQ     3
#define MAXQ     16
#define INDEX    30000

struct request {
    int key;
    int value;
    int done;
};

struct service {
    pthread_mutex_t lock;           /* the entries and the totals */
    int             entries;
    long            bytes;
    int             shut_down;

    pthread_mutex_t queue_lock;
    pthread_cond_t  queue_cond, done_cond;
    struct request *queue[MAXQ];
    int             head, tail;
    int             stop;
    pthread_t       io[NIO];
};

static struct service svc = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .queue_lock = PTHREAD_MUTEX_INITIALIZER,
    .queue_cond = PTHREAD_COND_INITIALIZER,
    .done_cond = PTHREAD_COND_INITIALIZER,
};
static atomic_long hits;

static struct request *next_request(struct service *s)
{
    struct request *r = NULL;

    pthread_mutex_lock(&s->queue_lock);
    while (s->head == s->tail && !s->stop)
        pthread_cond_wait(&s->queue_cond, &s->queue_lock);
    if (s->head != s->tail)
        r = s->queue[s->head++];
    pthread_mutex_unlock(&s->queue_lock);
    return r;
}

static int read_entry(int key)
{
    return key * key + 17;
}

static void request_done(struct service *s, struct request *r, int value)
{
    pthread_mutex_lock(&s->queue_lock);
    r->value = value;
    r->done = 1;
    pthread_cond_broadcast(&s->done_cond);
    pthread_mutex_unlock(&s->queue_lock);
}

static void account_entry(struct service *s, int value)
{
    pthread_mutex_lock(&s->lock);
    s->entries++;
    s->bytes += value;
    pthread_mutex_unlock(&s->lock);
}

static void *io_main(void *arg)
{
    struct service *s = arg;
    struct request *r;

    while ((r = next_request(s)) != NULL) {
        int value = read_entry(r->key);

        request_done(s, r, value);
        account_entry(s, value);
    }
    return NULL;
}

static int open_entry(struct service *s, int key)
{
    struct request r = { .key = key };

    pthread_mutex_lock(&s->queue_lock);
    s->queue[s->tail++] = &r;
    pthread_cond_signal(&s->queue_cond);
    while (!r.done)
        pthread_cond_wait(&s->done_cond, &s->queue_lock);
    pthread_mutex_unlock(&s->queue_lock);
    return r.value;
}

static void *client_main(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NREQ; i++)
        if (open_entry(&svc, id * 10 + i) == read_entry(id * 10 + i))
            atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
    return NULL;
}

static void stop_io(struct service *s)
{
    pthread_mutex_lock(&s->queue_lock);
    s->stop = 1;
    pthread_cond_broadcast(&s->queue_cond);
    pthread_mutex_unlock(&s->queue_lock);
    for (int i = 0; i < NIO; i++)
        pthread_join(s->io[i], NULL);
}

/* The index goes to disk before the service ends. */
static unsigned write_index(int entries)
{
    unsigned crc = (unsigned)entries;

    for (int i = 0; i < INDEX; i++)
        crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0) ^ (unsigned)i;
    return crc;
}

static long service_shutdown(struct service *s)
{
    long bytes = 0;

    pthread_mutex_lock(&s->lock);
    if (!s->shut_down) {
        s->shut_down = 1;
        stop_io(s);
        bytes = s->bytes;
    }
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

int main(void)
{
    pthread_t clients[NCLIENTS];
    int ids[NCLIENTS];
    unsigned crc;
    long bytes;

    for (int i = 0; i < NIO; i++)
        pthread_create(&svc.io[i], NULL, io_main, &svc);
    for (int i = 0; i < NCLIENTS; i++) {
        ids[i] = i + 1;
        pthread_create(&clients[i], NULL, client_main, &ids[i]);
    }
    for (int i = 0; i < NCLIENTS; i++)
        pthread_join(clients[i], NULL);
    crc = write_index(NCLIENTS * NREQ);
    bytes = service_shutdown(&svc);
    printf("%d entries, %ld bytes, %ld hits, index %x\n", svc.entries, bytes, atomic_load(&hits), crc);
    return svc.entries == NCLIENTS * NREQ ? 0 : 1;
}
