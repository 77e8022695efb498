/* Buffered transfer log of a small web server: request handlers append
 * formatted lines to a shared buffer that is written out when it fills. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BUFSIZE 4096
#define NWORKER 3
#define NREQ 2

typedef struct {
    char outbuf[LOG_BUFSIZE];
    size_t outcnt;
    size_t flushed_lines;
} buffered_log;

typedef struct {
    int id;
    unsigned long digest;
} worker_rec;

static buffered_log *access_log;

static size_t count_lines(const char *p, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] == '\n')
            k++;
    return k;
}

static void flush_log(buffered_log *b)
{
    if (b->outcnt) {
        b->flushed_lines += count_lines(b->outbuf, b->outcnt);
        b->outcnt = 0;
    }
}

static void log_writer(buffered_log *b, const char *const *strs,
                       const int *strl, int nelts, size_t len)
{
    if (len + b->outcnt > LOG_BUFSIZE)
        flush_log(b);
    char *s = b->outbuf + b->outcnt;
    for (int i = 0; i < nelts; i++) {
        memcpy(s, strs[i], (size_t)strl[i]);
        s += strl[i];
    }
    b->outcnt = (size_t)(s - b->outbuf);
}

static unsigned long serve(int worker, int req)
{
    unsigned long h = 5381u + (unsigned)worker;
    for (int i = 0; i < 100 + req; i++)
        h = h * 33 + (unsigned)i;
    return h;
}

static void *handler(void *arg)
{
    worker_rec *w = arg;
    for (int r = 0; r < NREQ; r++) {
        char host[32], what[64];
        unsigned long h = serve(w->id, r);
        int l0 = snprintf(host, sizeof host, "10.0.0.%d - - ", w->id);
        int l1 = snprintf(what, sizeof what, "\"GET /doc%d\" 200 %lu", r, h % 9973);
        const char *strs[3] = { host, what, "\n" };
        int strl[3] = { l0, l1, 1 };
        log_writer(access_log, strs, strl, 3, (size_t)(l0 + l1 + 1));
        w->digest ^= h;
    }
    return NULL;
}

int main(void)
{
    pthread_t tid[NWORKER];
    worker_rec rec[NWORKER];

    access_log = malloc(sizeof *access_log);
    memset(access_log, 0, sizeof *access_log);
    worker_rec startup = { 0, 0 };
    handler(&startup);
    for (int i = 0; i < NWORKER; i++) {
        rec[i].id = i + 1;
        rec[i].digest = 0;
        pthread_create(&tid[i], NULL, handler, &rec[i]);
    }
    for (int i = 0; i < NWORKER; i++)
        pthread_join(tid[i], NULL);
    flush_log(access_log);
    size_t n = access_log->flushed_lines;
    free(access_log);
    if (n != (NWORKER + 1) * NREQ) {
        fprintf(stderr, "log has %zu lines, expected %d\n", n, (NWORKER + 1) * NREQ);
        return 1;
    }
    printf("logged %zu lines\n", n);
    return 0;
}
