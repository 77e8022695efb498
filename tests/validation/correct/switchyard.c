/* An epoll loop takes requests from socketpairs, hands them to a pool of
   workers and is told through an eventfd when answers are ready. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 3
#define WORKERS 2
#define REQUESTS 24
#define WINDOW 4

struct wagon { int line, id; unsigned load; struct wagon *next; };
struct msg { int id; unsigned load; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct wagon *todo, *ready;  /* under lock */
static int closing;
static int bell, line_fd[CLIENTS], client_fd[CLIENTS];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static unsigned process(unsigned v)
{
    int i;
    for (i = 0; i < 50; i++)
        v = v * 1664525u + 1013904223u;
    return v;
}

static void *worker(void *arg)
{
    uint64_t one = 1;

    for (;;) {
        struct wagon *w;

        pthread_mutex_lock(&lock);
        while (!todo && !closing)
            pthread_cond_wait(&work, &lock);
        w = todo;
        if (w)
            todo = w->next;
        pthread_mutex_unlock(&lock);
        if (!w)
            return arg;
        w->load = process(w->load);
        pthread_mutex_lock(&lock);
        w->next = ready;
        ready = w;
        pthread_mutex_unlock(&lock);
        while (write(bell, &one, sizeof one) < 0)
            if (errno != EINTR)
                die("eventfd");
    }
}

/* Answers may come in any order; never more than WINDOW under way. */
static void *client(void *arg)
{
    int fd = *(int *)arg, sent = 0, got = 0, bad = 0;
    char seen[REQUESTS] = { 0 };
    struct msg m;

    while (got < REQUESTS) {
        if (sent < REQUESTS && sent - got < WINDOW) {
            m.id = sent;
            m.load = (unsigned)(sent * 77 + fd);
            sent++;
            if (send(fd, &m, sizeof m, MSG_NOSIGNAL) != sizeof m)
                die("send");
            continue;
        }
        if (recv(fd, &m, sizeof m, 0) != sizeof m)
            die("recv");
        if (m.id < 0 || m.id >= sent || seen[m.id]++ ||
            m.load != process((unsigned)(m.id * 77 + fd)))
            bad++;
        got++;
    }
    close(fd);
    return bad ? arg : NULL;
}

static void take_request(int line, int ep, int *open_lines)
{
    struct wagon *w;
    struct msg m;
    ssize_t n = recv(line_fd[line], &m, sizeof m, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n == 0) {
        epoll_ctl(ep, EPOLL_CTL_DEL, line_fd[line], NULL);
        close(line_fd[line]);
        --*open_lines;
        return;
    }
    w = malloc(sizeof *w);
    if (n != sizeof m || !w)
        die("request");
    w->line = line;
    w->id = m.id;
    w->load = m.load;
    pthread_mutex_lock(&lock);
    w->next = todo;
    todo = w;
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
}

static void send_answers(void)
{
    struct wagon *w, *next;
    uint64_t n;

    if (read(bell, &n, sizeof n) != sizeof n)
        return;
    pthread_mutex_lock(&lock);
    w = ready;
    ready = NULL;
    pthread_mutex_unlock(&lock);
    for (; w; w = next) {
        struct msg m = { w->id, w->load };
        next = w->next;
        if (send(line_fd[w->line], &m, sizeof m, MSG_NOSIGNAL) != sizeof m)
            die("answer");
        free(w);
    }
}

int main(void)
{
    pthread_t c[CLIENTS], wk[WORKERS];
    int i, n, ep = epoll_create1(EPOLL_CLOEXEC), open_lines = CLIENTS, bad = 0;
    struct epoll_event ev = { 0 }, evs[4];
    void *res;

    bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (ep < 0 || bell < 0)
        die("epoll");
    ev.events = EPOLLIN;
    ev.data.u32 = CLIENTS;
    epoll_ctl(ep, EPOLL_CTL_ADD, bell, &ev);
    for (i = 0; i < CLIENTS; i++) {
        int sv[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
            die("socketpair");
        line_fd[i] = sv[0];
        client_fd[i] = sv[1];
        ev.data.u32 = (uint32_t)i;
        if (epoll_ctl(ep, EPOLL_CTL_ADD, sv[0], &ev) != 0)
            die("epoll_ctl");
    }
    for (i = 0; i < WORKERS; i++)
        if (pthread_create(&wk[i], NULL, worker, NULL))
            die("pthread_create");
    for (i = 0; i < CLIENTS; i++)
        if (pthread_create(&c[i], NULL, client, &client_fd[i]))
            die("pthread_create");
    while (open_lines > 0) {
        n = epoll_wait(ep, evs, 4, -1);
        if (n < 0 && errno != EINTR)
            die("epoll_wait");
        for (i = 0; i < n; i++) {
            if (evs[i].data.u32 == CLIENTS)
                send_answers();
            else
                take_request((int)evs[i].data.u32, ep, &open_lines);
        }
    }
    pthread_mutex_lock(&lock);
    closing = 1;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    for (i = 0; i < WORKERS; i++)
        pthread_join(wk[i], NULL);
    for (i = 0; i < CLIENTS; i++) {
        pthread_join(c[i], &res);
        bad += res != NULL;
    }
    printf("clients %d, wrong %d\n", CLIENTS, bad);
    return bad || todo || ready ? 1 : 0;
}
