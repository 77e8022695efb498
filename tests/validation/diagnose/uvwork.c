/* Loop thread with an async handle: other threads post work and wake the
 * loop (C11 threads). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#define NREQ 3

typedef struct req {
    int no;
    int out;
} req_t;

typedef struct loop {
    mtx_t mutex;
    cnd_t wake;
    atomic_int pending;
    atomic_int closing;
    req_t *slots[NREQ];
    int handled;
    long total;
} loop_t;

static loop_t *loop_create(void)
{
    loop_t *l = calloc(1, sizeof *l);
    if (!l || mtx_init(&l->mutex, mtx_plain) != thrd_success ||
        cnd_init(&l->wake) != thrd_success)
        exit(2);
    return l;
}

static void async_send(loop_t *l)
{
    if (atomic_exchange(&l->pending, 1) == 0)
        cnd_signal(&l->wake);
}

static void loop_close(loop_t *l)
{
    atomic_store(&l->closing, 1);
    async_send(l);
}

static void drain(loop_t *l)
{
    for (int i = 0; i < NREQ; i++)
        if (l->slots[i]) {
            req_t *r = l->slots[i];
            l->slots[i] = NULL;
            l->total += (long)r->no * r->no + r->out;
            l->handled++;
        }
}

static int loop_run(void *arg)
{
    loop_t *l = arg;
    mtx_lock(&l->mutex);
    for (;;) {
        while (atomic_load(&l->pending) == 0) {
            cnd_wait(&l->wake, &l->mutex);
        }
        atomic_store(&l->pending, 0);
        drain(l);
        if (atomic_load(&l->closing))
            break;
    }
    drain(l);
    mtx_unlock(&l->mutex);
    return 0;
}

static int poster(void *arg)
{
    loop_t *l = arg;
    static req_t reqs[NREQ];
    for (int i = 0; i < NREQ; i++) {
        reqs[i].no = i + 4;
        for (int k = 0; k < 200; k++)
            reqs[i].out = (reqs[i].out * 5 + k) % 97;
    }
    mtx_lock(&l->mutex);
    for (int i = 0; i < NREQ; i++)
        l->slots[i] = &reqs[i];
    mtx_unlock(&l->mutex);
    loop_close(l);
    return 0;
}

int main(void)
{
    thrd_t lt, pt;
    loop_t *l = loop_create();

    if (thrd_create(&lt, loop_run, l) != thrd_success ||
        thrd_create(&pt, poster, l) != thrd_success)
        return 2;
    thrd_join(pt, NULL);
    thrd_join(lt, NULL);
    printf("handled %d total %ld\n", l->handled, l->total);
    free(l);
    return 0;
}
