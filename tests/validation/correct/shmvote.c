/* Two child processes and two threads of the parent vote in shared memory:
   process-shared barrier, read-write lock and robust mutex, and a seqlock for
   the display.  One child ends while it holds the robust mutex. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define VOTERS 4
#define VOTES 40
#define SHORT_VOTES 10

struct hall {
    pthread_barrier_t doors;
    pthread_rwlock_t rules_lock;
    int weight, edition;
    pthread_mutex_t urn;
    long cast, weighed, recovered;
    atomic_uint seq;
    atomic_long shown_cast, shown_weighed;
};

static struct hall *hall;
static atomic_int watching = 1;

static void urn_lock(void)
{
    if (pthread_mutex_lock(&hall->urn) == EOWNERDEAD) {
        hall->weighed = 2 * hall->cast;
        hall->recovered++;
        pthread_mutex_consistent(&hall->urn);
    }
}

static void show(void)
{
    atomic_fetch_add(&hall->seq, 1);
    atomic_store(&hall->shown_cast, hall->cast);
    atomic_store(&hall->shown_weighed, hall->weighed);
    atomic_fetch_add(&hall->seq, 1);
}

static void vote(int n)
{
    int i, w;

    pthread_barrier_wait(&hall->doors);
    for (i = 0; i < n; i++) {
        pthread_rwlock_rdlock(&hall->rules_lock);
        w = hall->weight;
        pthread_rwlock_unlock(&hall->rules_lock);
        urn_lock();
        hall->cast++;
        hall->weighed += w;
        show();
        pthread_mutex_unlock(&hall->urn);
        if (i % 16 == 5) {
            pthread_rwlock_wrlock(&hall->rules_lock);
            hall->edition++;
            hall->weight = 2;
            pthread_rwlock_unlock(&hall->rules_lock);
        }
    }
}

static void *voter(void *arg)
{
    (void)arg;
    vote(VOTES);
    return NULL;
}

static void *display(void *arg)
{
    long *torn = arg, c, w;
    unsigned a, b;

    while (atomic_load(&watching)) {
        do {
            while ((a = atomic_load(&hall->seq)) & 1)
                sched_yield();
            c = atomic_load(&hall->shown_cast);
            w = atomic_load(&hall->shown_weighed);
            b = atomic_load(&hall->seq);
        } while (a != b);
        if (w != 2 * c)
            ++*torn;
        sched_yield();
    }
    return NULL;
}

static void hall_init(void)
{
    pthread_barrierattr_t ba;
    pthread_rwlockattr_t ra;
    pthread_mutexattr_t ma;

    pthread_barrierattr_init(&ba);
    pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&hall->doors, &ba, VOTERS);
    pthread_rwlockattr_init(&ra);
    pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&hall->rules_lock, &ra);
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&hall->urn, &ma);
    hall->weight = 2;
}

int main(void)
{
    pthread_t th[2], dis;
    pid_t pid[2];
    long torn = 0, want = 3 * VOTES + SHORT_VOTES + 1;
    int i, st, codes = 0;

    hall = mmap(NULL, sizeof *hall, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (hall == MAP_FAILED)
        return 2;
    hall_init();
    for (i = 0; i < 2; i++) {
        pid[i] = fork();
        if (pid[i] < 0)
            return 2;
        if (pid[i] == 0) {
            vote(i == 0 ? VOTES : SHORT_VOTES);
            if (i == 1) {
                urn_lock();
                hall->cast++;
                _exit(9);       /* the next owner finishes this vote */
            }
            _exit(8);
        }
    }
    pthread_create(&dis, NULL, display, &torn);
    for (i = 0; i < 2; i++)
        pthread_create(&th[i], NULL, voter, NULL);
    for (i = 0; i < 2; i++) {
        while (waitpid(pid[i], &st, 0) < 0)
            if (errno != EINTR)
                return 3;
        codes += WIFEXITED(st) ? WEXITSTATUS(st) : 1000;
    }
    for (i = 0; i < 2; i++)
        pthread_join(th[i], NULL);
    urn_lock();
    show();
    pthread_mutex_unlock(&hall->urn);
    atomic_store(&watching, 0);
    pthread_join(dis, NULL);
    printf("cast %ld of %ld, recovered %ld, torn %ld\n", hall->cast, want,
           hall->recovered, torn);
    return hall->cast == want && hall->weighed == 2 * want && torn == 0 &&
           hall->recovered == 1 && codes == 17 ? 0 : 1;
}
