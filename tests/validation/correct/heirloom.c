/* An account in shared memory, used by two processes with threads under a
   robust process-shared mutex.  One child process and one thread die while
   they hold it with the account half changed; the next holder repairs. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS 30

struct account {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    sem_t start;
    long left, right;           /* the same outside of the lock */
    int repairs, finished;
};

static struct account *acc;

static void fail(const char *what, int err)
{
    fprintf(stderr, "heirloom: %s: %d\n", what, err);
    _exit(1);
}

/* With the lock held, whatever way it came: repair if the owner died. */
static void settle(int err)
{
    if (err == EOWNERDEAD) {
        acc->right = acc->left;
        acc->repairs++;
        err = pthread_mutex_consistent(&acc->lock);
    }
    if (err)
        fail("lock", err);
    if (acc->left != acc->right)
        fail("account out of balance", 0);
}

static void enter(void) { settle(pthread_mutex_lock(&acc->lock)); }

static void leave(void)
{
    int err = pthread_mutex_unlock(&acc->lock);
    if (err)
        fail("unlock", err);
}

static void *teller(void *arg)
{
    int i;

    (void)arg;
    for (i = 0; i < STEPS; i++) {
        enter();
        acc->left++;
        acc->right++;
        leave();
    }
    enter();
    acc->finished++;
    pthread_cond_broadcast(&acc->moved);
    leave();
    return NULL;
}

static void *careless(void *arg)
{
    (void)arg;
    enter();
    acc->left += 1000;
    return NULL;                /* still the owner */
}

static pid_t branch(int doomed)
{
    pid_t pid = fork();
    pthread_t t[2];
    int i;

    if (pid < 0)
        fail("fork", errno);
    if (pid > 0)
        return pid;
    while (sem_wait(&acc->start) != 0) {
    }
    if (doomed) {
        enter();
        acc->left += 500;
        _exit(7);               /* still the owner */
    }
    for (i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, teller, NULL))
            fail("pthread_create", 0);
    for (i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    _exit(0);
}

int main(void)
{
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    pid_t a, b;
    pthread_t t[3];
    int i, sa = 0, sb = 0, ok;

    acc = mmap(NULL, sizeof *acc, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (acc == MAP_FAILED)
        fail("mmap", errno);
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_condattr_init(&ca);
    pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
    if (pthread_mutex_init(&acc->lock, &ma) ||
        pthread_cond_init(&acc->moved, &ca) || sem_init(&acc->start, 1, 0))
        fail("init", 0);

    a = branch(0);
    b = branch(1);
    sem_post(&acc->start);
    sem_post(&acc->start);
    if (pthread_create(&t[0], NULL, teller, NULL) ||
        pthread_create(&t[1], NULL, careless, NULL) ||
        pthread_create(&t[2], NULL, teller, NULL))
        fail("pthread_create", 0);
    enter();
    while (acc->finished < 4)
        settle(pthread_cond_wait(&acc->moved, &acc->lock));
    leave();
    for (i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    while (waitpid(a, &sa, 0) < 0 && errno == EINTR) {
    }
    while (waitpid(b, &sb, 0) < 0 && errno == EINTR) {
    }
    enter();                    /* repairs if the dead were the last holders */
    printf("left %ld, right %ld, repairs %d\n", acc->left, acc->right,
           acc->repairs);
    ok = acc->left == 4 * STEPS + 1500 && acc->repairs == 2 &&
         WIFEXITED(sa) && WEXITSTATUS(sa) == 0 &&
         WIFEXITED(sb) && WEXITSTATUS(sb) == 7;
    leave();
    return ok ? 0 : 1;
}
