#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NKIDS 3
#define NROUNDS 20

struct meter {
    atomic_long total;
    atomic_int started;
    pthread_mutex_t lock;
    long plain;
    long slots[NKIDS];
};

static struct meter *meter_map(void)
{
    pthread_mutexattr_t a;
    struct meter *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        return NULL;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m->lock, &a);
    pthread_mutexattr_destroy(&a);
    return m;
}

static void child_main(struct meter *m, int id)
{
    int i;
    atomic_fetch_add(&m->started, 1);
    for (i = 0; i < NROUNDS; i++) {
        atomic_fetch_add(&m->total, id + 1);
        m->slots[id] += i;
        pthread_mutex_lock(&m->lock);
        m->plain += id + 1;
        pthread_mutex_unlock(&m->lock);
    }
}

static int reap(pid_t *kids)
{
    int bad = 0;
    int i;
    for (i = 0; i < NKIDS; i++) {
        int st;
        if (waitpid(kids[i], &st, 0) != kids[i] || !WIFEXITED(st) || WEXITSTATUS(st))
            bad++;
    }
    return bad;
}

int main(void)
{
    struct meter *m = meter_map();
    pid_t kids[NKIDS];
    long slots = 0;
    long total, plain;
    int bad;
    int i;
    if (!m)
        return 0;
    for (i = 0; i < NKIDS; i++) {
        kids[i] = fork();
        if (kids[i] < 0)
            return 0;
        if (kids[i] == 0) {
            child_main(m, i);
            _exit(0);
        }
    }
    bad = reap(kids);
    for (i = 0; i < NKIDS; i++)
        slots += m->slots[i];
    total = atomic_load(&m->total);
    plain = m->plain;
    printf("total %ld, plain %ld, slots %ld\n", total, plain, slots);
    munmap(m, sizeof *m);
    return bad || total != 6 * NROUNDS || plain != total || slots != NKIDS * 190 ? 1 : 0;
}
