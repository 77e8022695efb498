/* Print spooler: jobs move between spools in both directions; the locks of
 * two spools are taken by trying the second one. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NSPOOLS 3
#define NTHREADS 3
#define NMOVES   12

struct spool {
    pthread_mutex_t lock;
    int             id;
    int             jobs;
    int             held;
    long            moved_in;
};

struct mover {
    int       id;
    int       moved;
    long      backoffs;
    pthread_t thread;
};

static struct spool spools[NSPOOLS];
static atomic_long total_moves;
static atomic_int sync_wanted, sync_done;
static pthread_mutex_t sync_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sync_cond = PTHREAD_COND_INITIALIZER;
static int synced_jobs;

static long lock_both(struct spool *a, struct spool *b)
{
    long backoffs = 0;

    for (;;) {
        struct spool *t;

        pthread_mutex_lock(&a->lock);
        if (pthread_mutex_trylock(&b->lock) == 0)
            return backoffs;
        pthread_mutex_unlock(&a->lock);
        backoffs++;
        t = a;
        a = b;
        b = t;
        sched_yield();
    }
}

static int move_job(struct spool *from, struct spool *to, long *backoffs)
{
    int ok = 0;

    *backoffs += lock_both(from, to);
    if (from->jobs > 0) {
        from->jobs--;
        to->jobs++;
        to->moved_in++;
        if (from->held > from->jobs) {
            from->held--;
            to->held++;
        }
        ok = 1;
    }
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    if (ok)
        atomic_fetch_add_explicit(&total_moves, 1, memory_order_relaxed);
    return ok;
}

static void *mover_main(void *arg)
{
    struct mover *m = arg;

    for (int i = 0; i < NMOVES; i++) {
        int from = (m->id + i) % NSPOOLS;
        int to = (from + 1 + m->id % 2) % NSPOOLS;

        m->moved += move_job(&spools[from], &spools[to], &m->backoffs);
        if (i == NMOVES / 2)
            atomic_store(&sync_wanted, 1);
    }
    pthread_mutex_lock(&sync_lock);
    while (!atomic_load(&sync_done))
        pthread_cond_wait(&sync_cond, &sync_lock);
    pthread_mutex_unlock(&sync_lock);
    return NULL;
}

/* Counts everything: always in the order of the array, so that movers, which
 * never wait for a second lock, cannot block it for ever. */
static void *sync_main(void *arg)
{
    int n = 0;

    (void)arg;
    while (!atomic_load(&sync_wanted))
        sched_yield();
    for (int i = 0; i < NSPOOLS; i++)
        pthread_mutex_lock(&spools[i].lock);
    for (int i = 0; i < NSPOOLS; i++)
        n += spools[i].jobs;
    for (int i = NSPOOLS - 1; i >= 0; i--)
        pthread_mutex_unlock(&spools[i].lock);

    pthread_mutex_lock(&sync_lock);
    synced_jobs = n;
    atomic_store(&sync_done, 1);
    pthread_cond_broadcast(&sync_cond);
    pthread_mutex_unlock(&sync_lock);
    return NULL;
}

int main(void)
{
    struct mover m[NTHREADS];
    pthread_t s;
    int jobs = 0, moved = 0;

    for (int i = 0; i < NSPOOLS; i++) {
        pthread_mutex_init(&spools[i].lock, NULL);
        spools[i].id = i;
        spools[i].jobs = 5;
        spools[i].held = 2;
    }
    pthread_create(&s, NULL, sync_main, NULL);
    for (int i = 0; i < NTHREADS; i++) {
        m[i] = (struct mover){ .id = i };
        pthread_create(&m[i].thread, NULL, mover_main, &m[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(m[i].thread, NULL);
        moved += m[i].moved;
    }
    pthread_join(s, NULL);
    for (int i = 0; i < NSPOOLS; i++)
        jobs += spools[i].jobs;
    printf("%d jobs, %d moved, %ld counted\n", jobs, moved, atomic_load(&total_moves));
    return jobs == 5 * NSPOOLS && synced_jobs == jobs ? 0 : 1;
}
