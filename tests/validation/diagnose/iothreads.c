/* Threaded input: the main thread gives every I/O thread a list of clients,
 * says how many there are and waits until all is done. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NIO      2
#define NCLIENTS 5
#define NROUNDS  2

struct client {
    int         id;
    int         tid;
    atomic_long reads;
};

struct io_thread {
    int         id;
    atomic_long pending;                /* clients to do, 0: nothing */
    struct client *_Atomic list[NCLIENTS];
    long        served;
    pthread_t   thread;
};

static struct io_thread io[NIO];
static struct client clients[NCLIENTS];
static atomic_int stop;
static atomic_long total_reads, skipped;

static void read_query(struct client *c)
{
    atomic_fetch_add_explicit(&c->reads, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&total_reads, 1, memory_order_relaxed);
}

static void *io_main(void *arg)
{
    struct io_thread *t = arg;

    for (;;) {
        long n;

        while ((n = atomic_load(&t->pending)) == 0) {
            if (atomic_load(&stop))
                return NULL;
            sched_yield();
        }
        for (long i = 0; i < n; i++) {
            struct client *c = atomic_exchange(&t->list[i], NULL);

            if (c)
                read_query(c);
            else
                atomic_fetch_add(&skipped, 1);
            t->served++;
        }
        atomic_store(&t->pending, 0);
    }
}

static void assign(struct io_thread *t, int first, int count)
{
    atomic_store(&t->pending, count);
    for (int i = 0; i < count; i++) {
        struct client *c = &clients[first + i];

        c->tid = t->id;
        atomic_store(&t->list[i], c);
    }
}

static int wait_all(void)
{
    for (;;) {
        long left = 0;

        for (int i = 0; i < NIO; i++)
            left += atomic_load(&io[i].pending);
        if (left == 0)
            return 1;
        sched_yield();
    }
}

int main(void)
{
    int bad = 0;

    for (int i = 0; i < NCLIENTS; i++)
        clients[i].id = i;
    for (int i = 0; i < NIO; i++) {
        io[i].id = i;
        pthread_create(&io[i].thread, NULL, io_main, &io[i]);
    }
    for (int r = 0; r < NROUNDS; r++) {
        int first = 0;

        for (int i = 0; i < NIO; i++) {
            int count = NCLIENTS / NIO + (i < NCLIENTS % NIO);

            assign(&io[i], first, count);
            first += count;
        }
        wait_all();
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < NIO; i++)
        pthread_join(io[i].thread, NULL);
    for (int i = 0; i < NCLIENTS; i++)
        if (atomic_load(&clients[i].reads) != NROUNDS)
            bad = 1;
    printf("%d rounds, %ld reads\n", NROUNDS, atomic_load(&total_reads));
    if (bad)
        fprintf(stderr, "%ld clients were not there yet\n", atomic_load(&skipped));
    return bad;
}
