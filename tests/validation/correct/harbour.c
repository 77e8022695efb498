/* Ships call at a fixed TCP port of the loopback with random cargo, which
   must come back inverted; clocks are read on the way and never go back. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 23917
#define SHIPS 4
#define TRIPS 6
#define CARGO 1500

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long latest;        /* the latest time anybody noted */
static int clock_back, unloaded;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void note_time(void)
{
    struct timespec ts;
    long long now;

    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_MONOTONIC, &ts);
    now = ts.tv_sec * 1000000000LL + ts.tv_nsec;
    clock_back += now < latest;
    latest = now;
    pthread_mutex_unlock(&lock);
}

/* 1 when all is there, 0 at the end of the stream. */
static int get_all(int fd, unsigned char *p, size_t n)
{
    while (n > 0) {
        ssize_t r = recv(fd, p, n, 0);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            die("recv");
        if (r == 0)
            return 0;
        p += r;
        n -= (size_t)r;
    }
    return 1;
}

static void put_all(int fd, const unsigned char *p, size_t n)
{
    while (n > 0) {
        ssize_t r = send(fd, p, n, MSG_NOSIGNAL);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            die("send");
        p += r;
        n -= (size_t)r;
    }
}

static void *berth(void *arg)
{
    int fd = *(int *)arg, i;
    unsigned char buf[CARGO];

    free(arg);
    while (get_all(fd, buf, sizeof buf)) {
        for (i = 0; i < CARGO; i++)
            buf[i] = (unsigned char)~buf[i];
        put_all(fd, buf, sizeof buf);
        note_time();
        pthread_mutex_lock(&lock);
        unloaded++;
        pthread_mutex_unlock(&lock);
    }
    close(fd);
    return NULL;
}

static void *ship(void *arg)
{
    struct sockaddr_in to = { 0 };
    unsigned char out[CARGO], back[CARGO];
    int *bad = arg, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i, t;

    to.sin_family = AF_INET;
    to.sin_port = htons(PORT);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("connect");
    for (t = 0; t < TRIPS; t++) {
        for (i = 0; i < CARGO; i += 250)
            while (getrandom(out + i, 250, 0) != 250) {
            }
        note_time();
        put_all(fd, out, sizeof out);
        if (!get_all(fd, back, sizeof back))
            die("harbour closed");
        for (i = 0; i < CARGO; i++)
            *bad += back[i] != (unsigned char)~out[i];
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in at = { 0 };
    pthread_t s[SHIPS], b[SHIPS];
    int bad[SHIPS] = { 0 }, fd, on = 1, i, tries, wrong = 0;

    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    at.sin_family = AF_INET;
    at.sin_port = htons(PORT);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* Another copy may be running; it will not take long. */
    for (tries = 0; bind(fd, (struct sockaddr *)&at, sizeof at) != 0; tries++) {
        struct timespec pause = { 0, 20000000 };
        if (errno != EADDRINUSE || tries == 3000)
            die("bind");
        nanosleep(&pause, NULL);
    }
    if (listen(fd, 16) != 0)
        die("listen");
    for (i = 0; i < SHIPS; i++)
        if (pthread_create(&s[i], NULL, ship, &bad[i]))
            die("pthread_create");
    for (i = 0; i < SHIPS; i++) {
        int *c = malloc(sizeof *c);
        if (!c)
            die("malloc");
        while ((*c = accept(fd, NULL, NULL)) < 0)
            if (errno != EINTR && errno != ECONNABORTED)
                die("accept");
        if (pthread_create(&b[i], NULL, berth, c))
            die("pthread_create");
    }
    for (i = 0; i < SHIPS; i++) {
        pthread_join(s[i], NULL);
        pthread_join(b[i], NULL);
        wrong += bad[i];
    }
    close(fd);
    printf("unloaded %d, wrong %d, clock back %d\n", unloaded, wrong, clock_back);
    return unloaded == SHIPS * TRIPS && wrong == 0 && clock_back == 0 ? 0 : 1;
}
