/* A small record server on a fixed loopback port; only one instance runs at a
 * time (lock file), clients send lines, the server appends them to a file. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 47613
#define CLIENTS 3
#define LINES 4

static FILE *book;

static int listen_local(void)
{
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 8)) {
        perror("listen");
        exit(2);
    }
    return fd;
}

static void *client(void *arg)
{
    int no = *(int *)arg;
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) {
        perror("connect");
        exit(2);
    }
    FILE *f = fdopen(fd, "w");
    for (int i = 0; i < LINES; i++)
        fprintf(f, "client %d entry %d\n", no, i);
    fclose(f);
    return NULL;
}

static void serve(int lfd)
{
    for (int i = 0; i < CLIENTS; i++) {
        char line[64];
        int fd = accept(lfd, NULL, NULL);
        FILE *f = fdopen(fd, "r");
        while (fgets(line, sizeof line, f))
            fputs(line, book);
        fclose(f);
    }
}

int main(void)
{
    pthread_t t[CLIENTS];
    int no[CLIENTS], n = 0, c;
    int lock = open("/tmp/.notary-47613.lock", O_RDWR | O_CREAT, 0666);

    if (lock < 0 || flock(lock, LOCK_EX)) {
        perror("lock file");
        return 2;
    }
    book = tmpfile();
    int lfd = listen_local();
    for (int i = 0; i < CLIENTS; i++) {
        no[i] = i;
        pthread_create(&t[i], NULL, client, &no[i]);
    }
    serve(lfd);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(t[i], NULL);
    close(lfd);
    rewind(book);
    while ((c = getc(book)) != EOF)
        n += c == '\n';
    fclose(book);
    printf("book has %d entries\n", n);
    flock(lock, LOCK_UN);
    close(lock);
    return n != CLIENTS * LINES;
}
