/* Segmented fetch: every segment thread adds its bytes; the last one fills in
 * the summary, which the main thread prints. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGS 3
#define SEGLEN 700

struct summary {
    long bytes;
    int segments;
    const char *verdict;
};

struct job {
    int idx;
    const unsigned char *base;
};

static unsigned char remote[SEGS * SEGLEN];
static unsigned char local[SEGS * SEGLEN];
static struct summary report;
static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static long got;
static int left = SEGS;
static sem_t finished;

static void finish(long total)
{
    sem_post(&finished);
    report.bytes = total;
    report.segments = SEGS;
    report.verdict = "complete";
}

static void *fetch(void *arg)
{
    struct job *j = arg;
    long n = 0;
    int last;

    for (int i = 0; i < SEGLEN; i++, n++)
        local[j->idx * SEGLEN + i] = j->base[i];
    pthread_mutex_lock(&mtx);
    got += n;
    last = --left == 0;
    n = got;
    pthread_mutex_unlock(&mtx);
    if (last)
        finish(n);
    return NULL;
}

int main(void)
{
    pthread_t t[SEGS];
    struct job jobs[SEGS];
    int rc = 0;

    for (size_t i = 0; i < sizeof remote; i++)
        remote[i] = (unsigned char)(i ^ i >> 3);
    sem_init(&finished, 0, 0);
    for (int i = 0; i < SEGS; i++) {
        jobs[i].idx = i;
        jobs[i].base = remote + i * SEGLEN;
        pthread_create(&t[i], NULL, fetch, &jobs[i]);
    }
    poll(NULL, 0, 3);               /* redraw the progress bar */
    sem_wait(&finished);
    long b = report.bytes;
    int s = report.segments;
    if (b != SEGS * SEGLEN || s != SEGS) {
        fprintf(stderr, "summary says %ld bytes in %d segments\n", b, s);
        rc = 1;
    } else {
        printf("%ld bytes, %d segments\n", b, s);
    }
    for (int i = 0; i < SEGS; i++)
        pthread_join(t[i], NULL);
    return rc || memcmp(local, remote, sizeof remote) != 0;
}
