/* Buffered access log of a server: request threads append records, the
   buffer goes to the sink when the next record does not fit. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOGBUF 64
#define NWORKER 2

struct sink {
    const char *name;
    unsigned long bytes;
    unsigned crc;
    void (*emit)(struct sink *, const char *, size_t);
};

struct buffered_log {
    volatile size_t outcnt;
    char outbuf[LOGBUF];
    struct sink *sink;
    unsigned flushes;
};

struct worker {
    pthread_t tid;
    int no;
    int records;
    struct buffered_log *log;
};

static void mem_emit(struct sink *s, const char *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        s->crc = (s->crc << 1) ^ (s->crc >> 27) ^ (unsigned char)p[i];
    s->bytes += n;
}

static struct sink mem_sink = { "memory", 0, 0, mem_emit };

static struct buffered_log *log_open(struct sink *s)
{
    struct buffered_log *b = calloc(1, sizeof *b);

    if (b)
        b->sink = s;
    return b;
}

static void log_flush(struct buffered_log *b)
{
    struct sink *s = b->sink;

    if (b->outcnt > 0) {
        s->emit(s, b->outbuf, b->outcnt);
        b->outcnt = 0;
        b->flushes++;
    }
}

static void log_append(struct buffered_log *b, const char *rec, size_t len)
{
    if (len > LOGBUF)
        return;
    if (b->outcnt + len > LOGBUF)
        log_flush(b);
    memcpy(b->outbuf + b->outcnt, rec, len);
    b->outcnt += len;
}

static unsigned handle_request(unsigned seed)
{
    unsigned i;

    for (i = 0; i < 2000; i++)
        seed = seed * 1103515245u + 12345u;
    return seed >> 16;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    char rec[32];
    int i;

    for (i = 0; i < w->records; i++) {
        unsigned code = handle_request((unsigned)(w->no * 100 + i));
        int n = snprintf(rec, sizeof rec, "GET /w%d/item%02d %08u\n",
                         w->no, i, code % 100000000u);
        log_append(w->log, rec, (size_t)n);
    }
    return NULL;
}

int main(void)
{
    struct worker w[NWORKER];
    struct buffered_log *log = log_open(&mem_sink);
    int i;

    if (!log)
        return 1;
    for (i = 0; i < NWORKER; i++) {
        w[i].no = i;
        w[i].records = 4;
        w[i].log = log;
        pthread_create(&w[i].tid, NULL, worker_main, &w[i]);
    }
    for (i = 0; i < NWORKER; i++)
        pthread_join(w[i].tid, NULL);
    log_flush(log);
    printf("sink %s done\n", mem_sink.name);
    free(log);
    return 0;
}
