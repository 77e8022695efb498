/* A download accelerator's first step: ask several mirrors for the same file at
 * once and find out its size. Mirrors are simulated by functions that answer
 * like a server; a mirror may send the client on to another address. An
 * address on the command line is asked as one more mirror. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define MAX_MIRRORS 4
#define REPLY_BYTES 2048
#define HOST_BYTES 64

struct request {
    const char *url;
    pthread_t thread;
    long size;
    int redirects;
};

struct summary {
    pthread_mutex_t lock;
    int answered;
    long size;
};

static struct summary summary = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = -1};

static const char *after_scheme(const char *url)
{
    const char *p = strstr(url, "://");

    return p != NULL ? p + 3 : url;
}

/* The server side: the first host redirects to its mirror host of the same
 * name, every mirror host knows the file. */
static void serve(const char *host, const char *url, char *reply, size_t size)
{
    if (strncmp(host, "mirror.", 7) == 0)
        snprintf(reply, size, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                 strlen("a file of no great length") + strlen(strrchr(url, '/')));
    else
        snprintf(reply, size, "HTTP/1.1 302 Found\r\nLocation: http://mirror.%s\r\n\r\n",
                 after_scheme(url));
}

/* The text of a header field, up to the end of its line; NULL if absent. */
static char *header_field(char *reply, const char *name)
{
    char *p = strstr(reply, name);

    if (p == NULL)
        return NULL;
    p += strlen(name);
    p[strcspn(p, "\r\n")] = '\0';
    return p;
}

/* Asks the host of the url; the reply replaces the contents of the buffer,
 * which may hold the url itself. */
__attribute__((noinline)) static void ask_host(const char *url, char *reply, size_t size)
{
    char host[HOST_BYTES];
    char *target = strdup(url);
    const char *p = after_scheme(url);
    int n = 0;

    if (target == NULL)
        abort();
    while (*p != '\0' && *p != '/')
        host[n++] = *p++;
    host[n] = '\0';
    serve(host, target, reply, size);
    free(target);
}

static void *request_main(void *arg)
{
    struct request *rq = arg;
    char *reply = malloc(REPLY_BYTES);
    const char *url = rq->url;
    char *field;

    if (reply == NULL)
        abort();
    for (;;) {
        ask_host(url, reply, REPLY_BYTES);
        field = header_field(reply, "Location: ");
        if (field == NULL || rq->redirects == 3)
            break;
        rq->redirects++;
        url = field;
    }
    field = header_field(reply, "Content-Length: ");
    rq->size = field != NULL ? strtol(field, NULL, 10) : -1;
    free(reply);

    pthread_mutex_lock(&summary.lock);
    summary.answered++;
    if (rq->size > summary.size)
        summary.size = rq->size;
    pthread_mutex_unlock(&summary.lock);
    return NULL;
}

int main(int argc, char **argv)
{
    struct request request[MAX_MIRRORS] = {
        {.url = "http://downloads.example.org/pub/tools/archive.tar"},
        {.url = "http://ftp.example.net/mirror/tools/archive.tar"},
    };
    int mirrors = 2;

    for (int i = 1; i < argc && mirrors < MAX_MIRRORS; i++) {
        if (strchr(after_scheme(argv[i]), '/') == NULL) {
            fprintf(stderr, "%s: no path\n", argv[i]);
            return 2;
        }
        request[mirrors++].url = argv[i];
    }
    for (int i = 0; i < mirrors; i++)
        if (pthread_create(&request[i].thread, NULL, request_main, &request[i]) != 0)
            return 2;
    for (int i = 0; i < mirrors; i++)
        pthread_join(request[i].thread, NULL);
    for (int i = 0; i < mirrors; i++)
        printf("%s: %ld bytes after %d redirects\n", request[i].url, request[i].size,
               request[i].redirects);
    printf("%d mirrors, size %ld\n", summary.answered, summary.size);
    return 0;
}
