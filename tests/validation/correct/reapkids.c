/* Several child processes, collected by a SIGCHLD handler with waitpid;
 * the main thread waits with sigsuspend. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIDS 5

static volatile sig_atomic_t reaped;
static volatile sig_atomic_t status_sum;

static void chld(int sig)
{
    int st, e = errno;
    (void)sig;
    while (waitpid(-1, &st, WNOHANG) > 0) {
        if (WIFEXITED(st))
            status_sum += WEXITSTATUS(st);
        reaped++;
    }
    errno = e;
}

static int kid(int n)
{
    int v = 0;
    for (int i = 0; i < 1000 * (KIDS - n); i++)
        v = (v + i) % 7919;
    return v >= 0 ? n + 1 : 99;
}

int main(void)
{
    struct sigaction sa;
    sigset_t block, old;

    memset(&sa, 0, sizeof sa);
    sa.sa_handler = chld;
    sa.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGCHLD, &sa, NULL);

    sigemptyset(&block);
    sigaddset(&block, SIGCHLD);
    sigprocmask(SIG_BLOCK, &block, &old);
    for (int i = 0; i < KIDS; i++) {
        pid_t p = fork();
        if (p < 0) {
            perror("fork");
            return 2;
        }
        if (p == 0)
            _exit(kid(i));
    }
    sigdelset(&old, SIGCHLD);
    while (reaped < KIDS)
        sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("%d children, status sum %d\n", (int)reaped, (int)status_sum);
    return status_sum == 15 ? 0 : 1;
}
