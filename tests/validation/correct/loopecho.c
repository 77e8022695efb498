/* Checksum service on a fixed loopback port with client threads in the same
   program.  The server polls with a time-out, clients send in fragments,
   close their sending side and read the answer until end of file. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_PORT 47631
#define LAST_PORT 47679
#define CLIENTS 3
#define BYTES 300

struct peer {
    int fd;
    unsigned long sum;
};

static int port, server_idle;
static int answered[CLIENTS];

static int listen_loopback(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in a;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    for (port = FIRST_PORT; port <= LAST_PORT; port++) {
        memset(&a, 0, sizeof a);
        a.sin_family = AF_INET;
        a.sin_port = htons((unsigned short)port);
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 8) == 0)
            return fd;
        close(fd);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    return -1;
}

static void send_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return;
        p += k;
        n -= (size_t)k;
    }
}

/* Returns 1 when the peer has sent all and was answered. */
static int serve_peer(struct peer *p)
{
    char buf[64];
    ssize_t i, n = recv(p->fd, buf, sizeof buf, 0);

    if (n < 0)
        return errno != EINTR && errno != EAGAIN;
    for (i = 0; i < n; i++)
        p->sum = p->sum * 31 + (unsigned char)buf[i];
    if (n > 0)
        return 0;
    n = snprintf(buf, sizeof buf, "%lu\n", p->sum);
    send_all(p->fd, buf, (size_t)n);
    close(p->fd);
    return 1;
}

static void *server(void *arg)
{
    int lfd = *(int *)arg, done = 0, n = 0, i;
    struct peer peer[CLIENTS];

    while (done < CLIENTS) {
        struct pollfd pf[CLIENTS + 1];

        pf[0].fd = lfd;
        pf[0].events = POLLIN;
        for (i = 0; i < n; i++) {
            pf[i + 1].fd = peer[i].fd;
            pf[i + 1].events = POLLIN;
        }
        if (poll(pf, (nfds_t)n + 1, 2) <= 0) {
            server_idle++;
            continue;
        }
        for (i = n - 1; i >= 0; i--)
            if (pf[i + 1].revents && serve_peer(&peer[i])) {
                peer[i] = peer[--n];
                done++;
            }
        if (pf[0].revents & POLLIN && n < CLIENTS) {
            int fd = accept(lfd, NULL, NULL);
            if (fd >= 0) {
                peer[n].fd = fd;
                peer[n++].sum = 7;
            }
        }
    }
    return NULL;
}

static void *client(void *arg)
{
    int me = (int)(long)arg, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i;
    unsigned long sum = 7;
    char out[BYTES], in[64];
    size_t got = 0;
    struct sockaddr_in a;
    ssize_t n;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((unsigned short)port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        return NULL;
    for (i = 0; i < BYTES; i++) {
        out[i] = (char)('a' + (i * (me + 3)) % 26);
        sum = sum * 31 + (unsigned char)out[i];
    }
    for (i = 0; i < BYTES; i += BYTES / 3) {
        send_all(fd, out + i, BYTES / 3);
        if (i == 0)
            usleep(3000 * (unsigned)me);
    }
    shutdown(fd, SHUT_WR);
    while (got < sizeof in - 1 &&
           ((n = recv(fd, in + got, sizeof in - 1 - got, 0)) > 0 ||
            (n < 0 && errno == EINTR)))
        if (n > 0)
            got += (size_t)n;
    in[got] = '\0';
    snprintf(out, sizeof out, "%lu\n", sum);
    answered[me] = strcmp(in, out) == 0;
    close(fd);
    return NULL;
}

int main(void)
{
    pthread_t s, c[CLIENTS];
    int lfd = listen_loopback(), good = 0;
    long i;

    if (lfd < 0)
        return 2;
    pthread_create(&s, NULL, server, &lfd);
    for (i = 0; i < CLIENTS; i++)
        pthread_create(&c[i], NULL, client, (void *)i);
    for (i = 0; i < CLIENTS; i++) {
        pthread_join(c[i], NULL);
        good += answered[i];
    }
    if (good == CLIENTS)
        pthread_join(s, NULL);
    close(lfd);
    printf("%d of %d answers right\n", good, CLIENTS);
    return good == CLIENTS ? 0 : 1;
}
