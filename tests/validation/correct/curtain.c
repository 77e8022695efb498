/* A tree of 200 detached threads.  Each starts two more and passes them a
   job; main leaves by pthread_exit at once and the thread that finishes last
   checks the result and ends the program. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 200

struct job {
    int no;
    int depth;
    long path;                  /* sum of the numbers above */
};

static atomic_int running = 1;
static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static long total, entries;
static int deepest;
static pthread_attr_t attr;

static void *act(void *arg);

static void start(int no, const struct job *from)
{
    struct job *j;
    pthread_t t;

    if (no >= THREADS)
        return;
    j = malloc(sizeof *j);
    if (!j)
        abort();
    j->no = no;
    j->depth = from->depth + 1;
    j->path = from->path + from->no;
    atomic_fetch_add(&running, 1);
    if (pthread_create(&t, &attr, act, j) != 0)
        act(j);                 /* no more threads to be had: do it here */
}

static void leave(void)
{
    long want = (long)THREADS * (THREADS - 1) / 2;
    int ok;

    if (atomic_fetch_sub(&running, 1) != 1)
        return;
    pthread_mutex_lock(&book);
    ok = total == want && entries == THREADS && deepest == 8;
    printf("entries %ld, total %ld, depth %d\n", entries, total, deepest);
    pthread_mutex_unlock(&book);
    exit(ok ? 0 : 1);
}

static void *act(void *arg)
{
    struct job j = *(struct job *)arg;
    long up = 0;
    int n;

    free(arg);
    start(2 * j.no + 1, &j);
    start(2 * j.no + 2, &j);
    for (n = j.no; n > 0; ) {
        n = (n - 1) / 2;
        up += n;
    }
    pthread_mutex_lock(&book);
    entries++;
    if (up == j.path)
        total += j.no;
    if (j.depth > deepest)
        deepest = j.depth;
    pthread_mutex_unlock(&book);
    leave();
    return NULL;
}

int main(void)
{
    struct job root = { 0, 0, 0 };

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    start(0, &root);
    leave();
    pthread_exit(NULL);
}
