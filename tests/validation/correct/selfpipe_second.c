/* Signals by the self-pipe trick: the handler writes a byte, the loop polls. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NSENDS 10

static int self_pipe[2];
static int ack_pipe[2];

static void on_signal(int sig)
{
    int saved = errno;
    char c = sig == SIGUSR1 ? 'u' : 't';

    if (write(self_pipe[1], &c, 1) != 1 && errno != EAGAIN)
        _exit(3);
    errno = saved;
}

/* One signal at a time: the next one after the acknowledgement. */
static void *sender(void *arg)
{
    sigset_t set;
    char c;

    (void)arg;
    sigfillset(&set);           /* signals are for the main thread */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < NSENDS; i++) {
        kill(getpid(), SIGUSR1);
        while (read(ack_pipe[0], &c, 1) != 1)
            ;
    }
    kill(getpid(), SIGTERM);
    return NULL;
}

static void acknowledge(void)
{
    while (write(ack_pipe[1], "a", 1) != 1)
        ;
}

int main(void)
{
    struct sigaction sa;
    pthread_t t;
    int usr = 0, done = 0;

    if (pipe(self_pipe) || pipe(ack_pipe))
        return 2;
    fcntl(self_pipe[0], F_SETFL, O_NONBLOCK);
    fcntl(self_pipe[1], F_SETFL, O_NONBLOCK);
    memset(&sa, 0, sizeof sa);
    sigemptyset(&sa.sa_mask);
    sa.sa_handler = on_signal;
    sa.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    pthread_create(&t, NULL, sender, NULL);
    while (!done) {
        struct pollfd p = { .fd = self_pipe[0], .events = POLLIN };
        char c;

        if (poll(&p, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return 2;
        }
        while (read(self_pipe[0], &c, 1) == 1) {
            if (c == 't') {
                done = 1;
            } else {
                usr++;
                acknowledge();
            }
        }
    }
    pthread_join(t, NULL);
    printf("%d signals\n", usr);
    return usr == NSENDS ? 0 : 1;
}
