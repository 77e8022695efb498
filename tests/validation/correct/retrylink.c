/* Requests over an unreliable link to a child process.  The child drops the
   first copy of each request, so the poll here always runs into its time-out
   and sends again; duplicates are told by their number.  A thread reaps the
   child. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS 6
#define WAIT_MS 3

struct msg {
    int no;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reaped = PTHREAD_COND_INITIALIZER;
static int child_done, child_code, patience;

static void child(int fd)
{
    int seen[REQUESTS] = { 0 }, served = 0;
    struct msg m;
    ssize_t n;

    for (;;) {
        n = recv(fd, &m, sizeof m, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (n != (ssize_t)sizeof m || m.no < 0 || m.no >= REQUESTS)
            _exit(100);
        if (seen[m.no]++ == 0)
            continue;           /* "lost" */
        if (seen[m.no] == 2)
            served++;
        m.value = m.value * m.value + m.no;
        if (send(fd, &m, sizeof m, MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(served);
}

static void *reaper(void *arg)
{
    pid_t pid = *(pid_t *)arg;
    int st;

    while (waitpid(pid, &st, 0) < 0)
        if (errno != EINTR)
            return NULL;
    pthread_mutex_lock(&lock);
    child_code = WIFEXITED(st) ? WEXITSTATUS(st) : -1;
    child_done = 1;
    pthread_cond_signal(&reaped);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Sends until the answer to this number comes; returns how often it sent. */
static int ask(int fd, int no, int *value)
{
    struct msg q = { no, *value }, a;
    int sent = 0;

    for (;;) {
        struct pollfd p = { fd, POLLIN, 0 };
        int r;

        if (send(fd, &q, sizeof q, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof q)
            sent++;
        while ((r = poll(&p, 1, WAIT_MS)) > 0) {
            if (recv(fd, &a, sizeof a, MSG_DONTWAIT) != (ssize_t)sizeof a)
                break;
            if (a.no == no) {
                *value = a.value;
                return sent;
            }
            /* a late answer to an earlier number */
        }
        if (r > 0 && (p.revents & POLLHUP))
            return 0;
    }
}

int main(void)
{
    int fd[2], i, good = 0, sends = 0;
    struct timespec until;
    pthread_t t;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) != 0)
        return 2;
    pid = fork();
    if (pid < 0)
        return 2;
    if (pid == 0) {
        close(fd[0]);
        child(fd[1]);
    }
    close(fd[1]);
    pthread_create(&t, NULL, reaper, &pid);
    for (i = 0; i < REQUESTS; i++) {
        int v = i + 10, s = ask(fd[0], i, &v);

        sends += s;
        if (s >= 2 && v == (i + 10) * (i + 10) + i)
            good++;
    }
    close(fd[0]);
    pthread_mutex_lock(&lock);
    while (!child_done) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        if (pthread_cond_timedwait(&reaped, &lock, &until) == ETIMEDOUT)
            patience++;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("%d of %d good, child served %d\n", good, REQUESTS, child_code);
    return good == REQUESTS && sends >= 2 * REQUESTS && child_code == REQUESTS ? 0 : 1;
}
