/* BitTorrent session: the main thread adds peers, the event thread pulses
 * their bandwidth allocation. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NPEERS     6
#define NPULSES    12
#define BW_MAGIC   43143

typedef struct {
    int  magic;
    int  limit;
    long bytes_left;
} bandwidth_t;

typedef struct peer_io {
    struct peer_io *next;
    pthread_mutex_t lock;
    int             id;
    bandwidth_t    *bandwidth;
    long            granted;
} peer_io;

typedef struct {
    pthread_mutex_t lock;
    peer_io        *peers;
    int             npeers;
    atomic_int      pulses;
} session_t;

static session_t session = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bandwidth_t *bandwidth_new(int limit)
{
    bandwidth_t *b = calloc(1, sizeof *b);

    b->magic = BW_MAGIC;
    b->limit = limit;
    b->bytes_left = limit;
    return b;
}

static void io_set_bandwidth(peer_io *io, bandwidth_t *b)
{
    pthread_mutex_lock(&io->lock);
    io->bandwidth = b;
    pthread_mutex_unlock(&io->lock);
}

static void io_allocate(peer_io *io, int period_ms)
{
    bandwidth_t *b;

    pthread_mutex_lock(&io->lock);
    b = io->bandwidth;
    assert(b != NULL && b->magic == BW_MAGIC);
    b->bytes_left = (long)b->limit * period_ms / 1000;
    io->granted += b->bytes_left;
    pthread_mutex_unlock(&io->lock);
}

static void session_link_peer(session_t *s, peer_io *io)
{
    pthread_mutex_lock(&s->lock);
    io->next = s->peers;
    s->peers = io;
    s->npeers++;
    pthread_mutex_unlock(&s->lock);
}

static peer_io *session_add_peer(session_t *s, int id)
{
    peer_io *io = calloc(1, sizeof *io);

    pthread_mutex_init(&io->lock, NULL);
    io->id = id;
    session_link_peer(s, io);
    io_set_bandwidth(io, bandwidth_new(1000 * (id + 1)));
    return io;
}

static void session_pulse(session_t *s, int period_ms)
{
    pthread_mutex_lock(&s->lock);
    for (peer_io *io = s->peers; io; io = io->next)
        io_allocate(io, period_ms);
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add(&s->pulses, 1);
}

static void *event_main(void *arg)
{
    session_t *s = arg;

    for (int i = 0; i < NPULSES; i++)
        session_pulse(s, 500);
    return NULL;
}

int main(void)
{
    pthread_t ev;
    long total = 0;

    pthread_create(&ev, NULL, event_main, &session);
    for (int i = 0; i < NPEERS; i++)
        session_add_peer(&session, i);
    pthread_join(ev, NULL);

    session_pulse(&session, 250);
    while (session.peers) {
        peer_io *io = session.peers;
        session.peers = io->next;
        total += io->granted;
        free(io->bandwidth);
        free(io);
    }
    printf("%d peers, %d pulses, granted %ld\n", session.npeers,
           atomic_load(&session.pulses), total);
    return total > 0 ? 0 : 1;
}
