/* A robust mutex in shared memory: one child dies with the lock held, in the
 * middle of a change, the next one repairs. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 4
#define ROUNDS   10

struct ledger {
    pthread_mutex_t lock;
    long            debit, credit;
    int             repairs;
};

static struct ledger *l;

static void ledger_lock(void)
{
    int rc = pthread_mutex_lock(&l->lock);

    if (rc == EOWNERDEAD) {
        l->debit = l->credit;           /* take back the half change */
        l->repairs++;
        pthread_mutex_consistent(&l->lock);
    } else if (rc) {
        _exit(9);
    }
}

static void book(int die)
{
    ledger_lock();
    l->debit++;
    if (die)
        _exit(7);
    l->credit++;
    pthread_mutex_unlock(&l->lock);
}

int main(void)
{
    pthread_mutexattr_t a;
    int bad = 0, died = 0;

    l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l == MAP_FAILED)
        return 2;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&l->lock, &a);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();

        if (pid < 0)
            return 2;
        if (pid == 0) {
            for (int r = 0; r < ROUNDS; r++)
                book(i == 1 && r == ROUNDS / 2);
            _exit(0);
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;

        if (wait(&status) < 0 || !WIFEXITED(status))
            bad = 1;
        else if (WEXITSTATUS(status) == 7)
            died++;
        else if (WEXITSTATUS(status) != 0)
            bad = 1;
    }
    ledger_lock();
    printf("%ld booked, %d died, %d repaired\n", l->credit, died, l->repairs);
    bad |= l->debit != l->credit || died != 1 || l->repairs != 1;
    pthread_mutex_unlock(&l->lock);
    return bad;
}
