/* TCP over loopback, fixed port: an epoll server thread with an eventfd for
   its end, three blocking clients.  Waits while the port is in use. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 18473
#define NCLIENT 3
#define NREQ 15
#define MAXFD 1024

static int listener, stopfd;
static unsigned char part[MAXFD][4];
static int have[MAXFD];

static struct sockaddr_in address(void)
{
    struct sockaddr_in a;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons(PORT);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

static int send_all(int fd, const void *p, size_t n)
{
    const char *c = p;

    while (n > 0) {
        ssize_t r = send(fd, c, n, MSG_NOSIGNAL);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return -1;
        c += r;
        n -= (size_t)r;
    }
    return 0;
}

static void add_fd(int ep, int fd)
{
    struct epoll_event e;

    memset(&e, 0, sizeof e);
    e.events = EPOLLIN;
    e.data.fd = fd;
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}

static void serve_fd(int fd)
{
    ssize_t r = recv(fd, part[fd] + have[fd], 4 - (size_t)have[fd], 0);
    uint32_t v;

    if (r < 0 && errno == EINTR)
        return;
    if (r <= 0) {
        close(fd);
        return;
    }
    have[fd] += (int)r;
    if (have[fd] < 4)
        return;
    have[fd] = 0;
    memcpy(&v, part[fd], 4);
    v = htonl(ntohl(v) * ntohl(v));
    if (send_all(fd, &v, 4) != 0)
        close(fd);
}

static void *server(void *arg)
{
    struct epoll_event ev[8];
    int ep = epoll_create1(0), i, n, stop = 0;

    (void)arg;
    add_fd(ep, listener);
    add_fd(ep, stopfd);
    while (!stop) {
        n = epoll_wait(ep, ev, 8, -1);
        for (i = 0; i < n; i++) {
            int fd = ev[i].data.fd;
            if (fd == stopfd) {
                stop = 1;
            } else if (fd == listener) {
                int c = accept(listener, NULL, NULL);
                if (c >= MAXFD)
                    close(c);
                else if (c >= 0) {
                    have[c] = 0;
                    add_fd(ep, c);
                }
            } else {
                serve_fd(fd);
            }
        }
    }
    close(ep);
    return NULL;
}

static void *client(void *arg)
{
    long base = *(int *)arg, sum = 0;
    struct sockaddr_in a = address();
    int fd = socket(AF_INET, SOCK_STREAM, 0), i;

    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        perror("connect");
        close(fd);
        return (void *)-1;
    }
    for (i = 0; i < NREQ; i++) {
        uint32_t v = htonl((uint32_t)(base + i));
        if (send_all(fd, &v, 4) != 0 || recv(fd, &v, 4, MSG_WAITALL) != 4) {
            sum = -1;
            break;
        }
        sum += (long)ntohl(v);
    }
    close(fd);
    return (void *)sum;
}

int main(void)
{
    struct sockaddr_in a = address();
    pthread_t s, c[NCLIENT];
    int base[NCLIENT], one = 1, i;
    uint64_t go = 1;
    long total = 0;
    void *r;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    stopfd = eventfd(0, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    while (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 8) != 0) {
        if (errno != EADDRINUSE) {
            perror("bind");
            return 2;
        }
        close(listener);
        usleep(20000);
        listener = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    }
    pthread_create(&s, NULL, server, NULL);
    for (i = 0; i < NCLIENT; i++) {
        base[i] = 10 * i;
        pthread_create(&c[i], NULL, client, &base[i]);
    }
    for (i = 0; i < NCLIENT; i++) {
        pthread_join(c[i], &r);
        total += (long)r;
    }
    if (write(stopfd, &go, sizeof go) != sizeof go)
        return 2;
    pthread_join(s, NULL);
    close(listener);
    close(stopfd);
    printf("total %ld\n", total);
    return total == 16845 ? 0 : 1;
}
