/* A signal desk: requests come in as queued real-time signals, taken by one
   thread with sigwaitinfo and by another through a signalfd, and as plain
   SIGUSR1 whose handler writes into a self-pipe. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SENDERS 2
#define EACH 25
#define KNOCKS 20

static int self_pipe[2], sfd;
static sem_t answered;
static long waited_sum, fd_sum;
static int waited_n, fd_n, knocks;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void on_usr1(int sig)
{
    int keep = errno;
    char c = (char)sig;

    while (write(self_pipe[1], &c, 1) < 0 && errno == EINTR) {
    }
    errno = keep;
}

static void post_signal(int sig, int value)
{
    union sigval v;

    v.sival_int = value;
    while (sigqueue(getpid(), sig, v) != 0) {
        if (errno != EAGAIN)
            die("sigqueue");
        sched_yield();
    }
}

static void *desk_wait(void *arg)
{
    sigset_t set;
    siginfo_t si;

    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    for (;;) {
        if (sigwaitinfo(&set, &si) < 0) {
            if (errno == EINTR)
                continue;
            die("sigwaitinfo");
        }
        if (si.si_value.sival_int < 0)
            return NULL;
        waited_sum += si.si_value.sival_int;
        waited_n++;
    }
}

static void *desk_fd(void *arg)
{
    struct signalfd_siginfo si;
    ssize_t n;

    (void)arg;
    for (;;) {
        n = read(sfd, &si, sizeof si);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof si)
            die("signalfd");
        if (si.ssi_int < 0)
            return NULL;
        fd_sum += si.ssi_int;
        fd_n++;
    }
}

static void *desk_pipe(void *arg)
{
    struct pollfd p = { self_pipe[0], POLLIN, 0 };
    sigset_t set;
    char c;

    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (knocks < KNOCKS) {
        if (poll(&p, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            die("poll");
        }
        while (read(self_pipe[0], &c, 1) == 1) {
            knocks++;
            sem_post(&answered);
        }
    }
    return NULL;
}

static void *sender(void *arg)
{
    int base = *(int *)arg, i;

    for (i = 0; i < EACH; i++) {
        post_signal(SIGRTMIN, base + i);
        post_signal(SIGRTMIN + 1, 2 * (base + i));
    }
    return NULL;
}

int main(void)
{
    struct sigaction sa = { 0 };
    pthread_t a, b, c, s[SENDERS];
    int base[SENDERS], i, k;
    sigset_t all, one;
    long want = 0;

    sigemptyset(&all);
    sigaddset(&all, SIGRTMIN);
    sigaddset(&all, SIGRTMIN + 1);
    sigaddset(&all, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN + 1);
    sfd = signalfd(-1, &one, SFD_CLOEXEC);
    if (sfd < 0 || pipe2(self_pipe, O_NONBLOCK | O_CLOEXEC) != 0)
        die("signalfd");
    sa.sa_handler = on_usr1;
    sigaction(SIGUSR1, &sa, NULL);
    sem_init(&answered, 0, 0);
    if (pthread_create(&a, NULL, desk_wait, NULL) ||
        pthread_create(&b, NULL, desk_fd, NULL) ||
        pthread_create(&c, NULL, desk_pipe, NULL))
        die("pthread_create");
    for (i = 0; i < SENDERS; i++) {
        base[i] = 100 * (i + 1);
        if (pthread_create(&s[i], NULL, sender, &base[i]))
            die("pthread_create");
        for (k = 0; k < EACH; k++)
            want += base[i] + k;
    }
    /* The next knock only after the previous was answered: none is merged. */
    for (i = 0; i < KNOCKS; i++) {
        kill(getpid(), SIGUSR1);
        while (sem_wait(&answered) != 0) {
        }
    }
    for (i = 0; i < SENDERS; i++)
        pthread_join(s[i], NULL);
    post_signal(SIGRTMIN, -1);
    post_signal(SIGRTMIN + 1, -1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    printf("waited %d, by descriptor %d, knocks %d\n", waited_n, fd_n, knocks);
    return waited_n == SENDERS * EACH && fd_n == SENDERS * EACH &&
           waited_sum == want && fd_sum == 2 * want && knocks == KNOCKS ? 0 : 1;
}
