/* Reads all standard input with getline in one thread, hands the lines to
   three counting threads through a bounded queue. */
#include <ctype.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCOUNT 3
#define QUEUE 4

static char *queue[QUEUE];
static int qin, qout;
static sem_t slots, items;
static pthread_mutex_t qlock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tlock = PTHREAD_MUTEX_INITIALIZER;
static long words, bytes, longest, lines;

static void xwait(sem_t *s)
{
    while (sem_wait(s) != 0)
        ;
}

static void put(char *line)
{
    xwait(&slots);
    pthread_mutex_lock(&qlock);
    queue[qin] = line;
    qin = (qin + 1) % QUEUE;
    pthread_mutex_unlock(&qlock);
    sem_post(&items);
}

static char *take(void)
{
    char *line;

    xwait(&items);
    pthread_mutex_lock(&qlock);
    line = queue[qout];
    qout = (qout + 1) % QUEUE;
    pthread_mutex_unlock(&qlock);
    sem_post(&slots);
    return line;
}

static void *reader(void *arg)
{
    char *line = NULL;
    size_t cap = 0;
    int i;

    (void)arg;
    while (getline(&line, &cap, stdin) != -1) {
        char *copy = strdup(line);
        if (!copy)
            abort();
        put(copy);
    }
    free(line);
    for (i = 0; i < NCOUNT; i++)
        put(NULL);
    return NULL;
}

static void *counter(void *arg)
{
    char *line;

    (void)arg;
    while ((line = take()) != NULL) {
        long w = 0, n = 0, in = 0;
        char *p;
        for (p = line; *p; p++, n++) {
            int a = !isspace((unsigned char)*p);
            w += a && !in;
            in = a;
        }
        free(line);
        pthread_mutex_lock(&tlock);
        words += w;
        bytes += n;
        lines++;
        if (n > longest)
            longest = n;
        pthread_mutex_unlock(&tlock);
    }
    return NULL;
}

int main(void)
{
    pthread_t r, c[NCOUNT];
    int i;

    sem_init(&slots, 0, QUEUE);
    sem_init(&items, 0, 0);
    for (i = 0; i < NCOUNT; i++)
        pthread_create(&c[i], NULL, counter, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(r, NULL);
    for (i = 0; i < NCOUNT; i++)
        pthread_join(c[i], NULL);
    printf("lines %ld, words %ld, bytes %ld, longest %ld\n", lines, words, bytes, longest);
    return 0;
}
