#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define LOGSIZE 32
#define NPRINTERS 3
#define NLINES 3

static struct {
    pthread_mutex_t lock;
    int lines[LOGSIZE];
    int head;
    int tail;
} log_buf = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
    pthread_mutex_t lock;
    int shown[LOGSIZE];
    int count;
    unsigned checksum;
} console = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_int deferred;

static void emit(int line)
{
    console.shown[console.count++] = line;
    console.checksum = console.checksum * 31 + (unsigned)line;
}

static int next_line(int *line)
{
    int some;
    pthread_mutex_lock(&log_buf.lock);
    some = log_buf.tail != log_buf.head;
    if (some)
        *line = log_buf.lines[log_buf.tail++ % LOGSIZE];
    pthread_mutex_unlock(&log_buf.lock);
    return some;
}

static void console_flush(void)
{
    int line;
    while (next_line(&line))
        emit(line);
    pthread_mutex_unlock(&console.lock);
}

static void log_append(int line)
{
    pthread_mutex_lock(&log_buf.lock);
    log_buf.lines[log_buf.head % LOGSIZE] = line;
    log_buf.head++;
    pthread_mutex_unlock(&log_buf.lock);
}

static void print(int line)
{
    log_append(line);
    if (pthread_mutex_trylock(&console.lock) == 0) {
        console_flush();
    } else {
        atomic_fetch_add_explicit(&deferred, 1, memory_order_relaxed);
    }
}

static void *printer_main(void *arg)
{
    int id = *(int *)arg;
    int i;
    for (i = 0; i < NLINES; i++)
        print(id * 100 + i);
    return NULL;
}

static int in_order(int id)
{
    int i, next = id * 100;
    for (i = 0; i < console.count; i++)
        if (console.shown[i] / 100 == id && console.shown[i] != next++)
            return 0;
    return 1;
}

int main(void)
{
    pthread_t t[NPRINTERS];
    int ids[NPRINTERS];
    int i, ordered = 1;
    for (i = 0; i < NPRINTERS; i++) {
        ids[i] = i + 1;
        pthread_create(&t[i], NULL, printer_main, &ids[i]);
    }
    for (i = 0; i < NPRINTERS; i++)
        pthread_join(t[i], NULL);
    for (i = 0; i < NPRINTERS; i++)
        ordered &= in_order(ids[i]);
    printf("%d lines of %d on the console, %d\n", console.count, log_buf.head, ordered);
    return console.count != NPRINTERS * NLINES || !ordered;
}
