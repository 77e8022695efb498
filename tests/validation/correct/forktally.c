/* Map and reduce with child processes and pipes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 4
#define NUMBERS  400

struct part {
    int  index;
    int  primes;
    long sum;
};

static int is_prime(int n)
{
    if (n < 2)
        return 0;
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

static void child(int index, int fd)
{
    struct part p = { index, 0, 0 };

    for (int n = index; n < NUMBERS; n += CHILDREN)
        if (is_prime(n)) {
            p.primes++;
            p.sum += n;
        }
    /* less than PIPE_BUF: one piece */
    _exit(write(fd, &p, sizeof p) == sizeof p ? 10 + index : 1);
}

int main(void)
{
    struct part p, all[CHILDREN];
    pid_t pid[CHILDREN];
    int fds[2], got = 0, primes = 0, bad = 0;
    long sum = 0;

    if (pipe(fds))
        return 2;
    for (int i = 0; i < CHILDREN; i++) {
        pid[i] = fork();
        if (pid[i] < 0)
            return 2;
        if (pid[i] == 0) {
            close(fds[0]);
            child(i, fds[1]);
        }
    }
    close(fds[1]);
    while (read(fds[0], &p, sizeof p) == sizeof p) {
        all[p.index] = p;
        got++;
    }
    close(fds[0]);
    for (int i = 0; i < CHILDREN; i++) {
        int status;

        if (waitpid(pid[i], &status, 0) != pid[i] || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 10 + i)
            bad = 1;
    }
    for (int i = 0; i < CHILDREN && got == CHILDREN; i++) {
        primes += all[i].primes;
        sum += all[i].sum;
    }
    printf("%d parts, %d primes, sum %ld\n", got, primes, sum);
    return bad || got != CHILDREN;
}
