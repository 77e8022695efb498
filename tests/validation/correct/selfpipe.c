/* Event loop woken from a signal handler through a pipe to itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int wake_fd[2];
static volatile sig_atomic_t usr1_seen;

static void on_signal(int sig)
{
    int saved = errno;
    char c = (char)sig;
    usr1_seen = 1;
    if (write(wake_fd[1], &c, 1) < 0) {
        /* pipe full: the loop has a wake-up pending anyway */
    }
    errno = saved;
}

static void *sender(void *arg)
{
    pthread_t loop = *(pthread_t *)arg;
    pthread_kill(loop, SIGUSR1);
    pthread_kill(loop, SIGUSR2);
    return NULL;
}

static int set_flags(int fd)
{
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int main(void)
{
    pthread_t self = pthread_self(), th;
    struct sigaction sa;
    int got1 = 0, got2 = 0;

    if (pipe(wake_fd) || set_flags(wake_fd[0]) || set_flags(wake_fd[1]))
        return 2;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGUSR1, &sa, NULL);
    sigaction(SIGUSR2, &sa, NULL);
    pthread_create(&th, NULL, sender, &self);
    while (!(got1 && got2)) {
        struct pollfd p = { .fd = wake_fd[0], .events = POLLIN };
        if (poll(&p, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return 2;
        }
        char buf[16];
        ssize_t n = read(wake_fd[0], buf, sizeof buf);
        for (ssize_t i = 0; i < n; i++) {
            got1 |= buf[i] == SIGUSR1;
            got2 |= buf[i] == SIGUSR2;
        }
    }
    while (pthread_join(th, NULL) == EINTR)
        ;
    printf("woken by both signals (%d)\n", (int)usr1_seen);
    return 0;
}
