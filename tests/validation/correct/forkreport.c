/* A multi-threaded counter service that forks reporter processes.  The
   fork handlers keep the registry lock consistent in the child; one thread
   waits for the child through a pipe and waitpid. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NWORK 3
#define ROUNDS 400

static pthread_mutex_t reg_lock = PTHREAD_MUTEX_INITIALIZER;
static long reg_sum, reg_twice;

static void reg_prepare(void) { pthread_mutex_lock(&reg_lock); }
static void reg_release(void) { pthread_mutex_unlock(&reg_lock); }

static void *worker(void *arg)
{
    long k = (long)arg;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&reg_lock);
        reg_sum += k;
        reg_twice += 2 * k;
        pthread_mutex_unlock(&reg_lock);
    }
    return NULL;
}

static ssize_t read_full(int fd, void *buf, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = read(fd, (char *)buf + got, n - got);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

static void *reporter(void *arg)
{
    int *good = arg, round;

    for (round = 0; round < 2; round++) {
        int fd[2], st;
        long v[2];
        pid_t pid;

        if (pipe(fd) != 0)
            return NULL;
        pid = fork();
        if (pid < 0)
            return NULL;
        if (pid == 0) {
            close(fd[0]);
            pthread_mutex_lock(&reg_lock);
            v[0] = reg_sum;
            v[1] = reg_twice;
            pthread_mutex_unlock(&reg_lock);
            _exit(write(fd[1], v, sizeof v) == (ssize_t)sizeof v ? 7 : 1);
        }
        close(fd[1]);
        if (read_full(fd[0], v, sizeof v) == (ssize_t)sizeof v && v[1] == 2 * v[0])
            ++*good;
        close(fd[0]);
        while (waitpid(pid, &st, 0) < 0)
            if (errno != EINTR)
                return NULL;
        if (!WIFEXITED(st) || WEXITSTATUS(st) != 7)
            *good = -100;
    }
    return NULL;
}

int main(void)
{
    pthread_t w[NWORK], r;
    int good = 0;
    long i;

    pthread_atfork(reg_prepare, reg_release, reg_release);
    for (i = 0; i < NWORK; i++)
        pthread_create(&w[i], NULL, worker, (void *)(i + 1));
    pthread_create(&r, NULL, reporter, &good);
    for (i = 0; i < NWORK; i++)
        pthread_join(w[i], NULL);
    pthread_join(r, NULL);
    printf("reports %d, sum %ld\n", good, reg_sum);
    return good == 2 && reg_sum == 6 * ROUNDS ? 0 : 1;
}
