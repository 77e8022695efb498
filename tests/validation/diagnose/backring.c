#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_SIZE 4
#define MAX_SEGMENTS 4
#define NPOLLS 6
#define GUARD 0x67756172u

struct ring_request {
    atomic_uint nr_segments;
    atomic_uint id;
    atomic_uint sectors[16];
};

struct shared_ring {
    atomic_uint producer;
    struct ring_request slots[RING_SIZE];
};

struct pending_request {
    unsigned id;
    unsigned count;
    unsigned sectors[MAX_SEGMENTS];
    unsigned guard;
    unsigned spare[16];
};

struct backend {
    struct shared_ring *ring;
    struct pending_request pending;
    long handled;
    long refused;
    long sectors;
};

static void ring_init(struct shared_ring *r)
{
    unsigned i, k;
    memset(r, 0, sizeof *r);
    for (i = 0; i < RING_SIZE; i++)
        for (k = 0; k < 16; k++)
            atomic_init(&r->slots[i].sectors[k], 8 * k);
}

static void frontend_put(struct shared_ring *r, unsigned slot, unsigned id, unsigned segments)
{
    struct ring_request *q = &r->slots[slot % RING_SIZE];
    atomic_store_explicit(&q->id, id, memory_order_relaxed);
    atomic_store_explicit(&q->nr_segments, segments, memory_order_release);
    atomic_fetch_add_explicit(&r->producer, 1, memory_order_release);
}

static int backend_check(const struct ring_request *q)
{
    unsigned n = atomic_load_explicit(&q->nr_segments, memory_order_acquire);
    return n > 0 && n <= MAX_SEGMENTS;
}

static void backend_map(struct backend *b, struct ring_request *q)
{
    struct pending_request *p = &b->pending;
    unsigned i;
    p->id = atomic_load_explicit(&q->id, memory_order_relaxed);
    p->count = atomic_load_explicit(&q->nr_segments, memory_order_acquire);
    for (i = 0; i < p->count; i++)
        memcpy((char *)p->sectors + i * sizeof(unsigned), &q->sectors[i], sizeof(unsigned));
}

static void backend_submit(struct backend *b)
{
    if (b->pending.guard != GUARD) {
        fprintf(stderr, "backend: request %u with %u segments overran its slot\n", b->pending.id, b->pending.count);
        abort();
    }
    b->sectors += b->pending.count;
    b->handled++;
}

static void *backend_main(void *arg)
{
    struct backend *b = arg;
    unsigned i;
    for (i = 0; i < NPOLLS; i++) {
        struct ring_request *q = &b->ring->slots[i % RING_SIZE];
        if (!backend_check(q)) {
            b->refused++;
            continue;
        }
        backend_map(b, q);
        backend_submit(b);
    }
    return NULL;
}

static void *frontend_main(void *arg)
{
    static const unsigned segments[] = { 2, 4, 1, 3, 9, 12, 11, 2 };
    struct shared_ring *r = arg;
    unsigned i;
    for (i = 0; i < sizeof segments / sizeof segments[0]; i++)
        frontend_put(r, i, 100 + i, segments[i]);
    return NULL;
}

int main(void)
{
    static struct shared_ring ring;
    static struct backend backend;
    pthread_t front, back;
    ring_init(&ring);
    backend.ring = &ring;
    backend.pending.guard = GUARD;
    frontend_put(&ring, 0, 99, 1);
    frontend_put(&ring, 1, 98, 1);
    pthread_create(&back, NULL, backend_main, &backend);
    pthread_create(&front, NULL, frontend_main, &ring);
    pthread_join(front, NULL);
    pthread_join(back, NULL);
    printf("%ld handled, %ld refused, %ld segments, %u produced\n", backend.handled, backend.refused,
           backend.sectors, atomic_load(&ring.producer));
    return 0;
}
