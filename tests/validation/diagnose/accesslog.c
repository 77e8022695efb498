/* Web server workers writing to a buffered access log. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BUFSIZE 8192
#define NWORKERS    2
#define NREQS       4

typedef struct {
    size_t outcnt;
    char   outbuf[LOG_BUFSIZE];
} buffered_log;

typedef struct {
    int  id;
    char uri[64];
    int  status;
} request_rec;

static buffered_log *access_log;

static pthread_mutex_t conn_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_conn_id;
static atomic_int requests_served;

static int conn_id_alloc(void)
{
    int id;

    pthread_mutex_lock(&conn_lock);
    id = next_conn_id++;
    pthread_mutex_unlock(&conn_lock);
    return id;
}

static void log_write(buffered_log *log, const char *str, size_t len)
{
    if (len > LOG_BUFSIZE - 1)
        return;
    char *s = &log->outbuf[log->outcnt];
    memcpy(s, str, len);
    log->outcnt += len;
}

static void log_transaction(const request_rec *r)
{
    char line[128];
    int n = snprintf(line, sizeof line, "%d GET %s %d\n", r->id, r->uri, r->status);

    log_write(access_log, line, (size_t)n);
}

static void process_request(request_rec *r, int worker, int seq)
{
    r->id = conn_id_alloc();
    snprintf(r->uri, sizeof r->uri, "/w%d/%.*s%d", worker, 2 * worker, "docs/", seq);
    r->status = seq % 5 == 4 ? 404 : 200;
    atomic_fetch_add(&requests_served, 1);
}

static void *worker_main(void *arg)
{
    int worker = (int)(long)arg;

    for (int i = 0; i < NREQS; i++) {
        request_rec r;
        process_request(&r, worker, i);
        log_transaction(&r);
    }
    return NULL;
}

static int log_verify(buffered_log *log, int expected)
{
    int seen[NWORKERS * NREQS + 1] = { 0 };
    int lines = 0;
    char *p = log->outbuf, *end = log->outbuf + log->outcnt;

    while (p < end) {
        int id, status, used = 0;
        char uri[32];
        char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            return 0;
        *nl = '\0';
        if (sscanf(p, "%d GET %31s %d%n", &id, uri, &status, &used) != 3 || p + used != nl)
            return 0;
        if (id < 0 || id >= expected || seen[id]++)
            return 0;
        lines++;
        p = nl + 1;
    }
    return lines == expected;
}

int main(void)
{
    pthread_t t[NWORKERS];
    request_rec first;

    access_log = calloc(1, sizeof *access_log);
    process_request(&first, NWORKERS, 0);
    log_transaction(&first);
    for (long i = 0; i < NWORKERS; i++)
        pthread_create(&t[i], NULL, worker_main, (void *)i);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(t[i], NULL);

    printf("served %d, log %zu bytes\n", atomic_load(&requests_served), access_log->outcnt);
    if (!log_verify(access_log, NWORKERS * NREQS + 1)) {
        fprintf(stderr, "access log is corrupted\n");
        return 1;
    }
    free(access_log);
    return 0;
}
