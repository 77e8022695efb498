/* Update log with rotation: a rotation closes the current segment and opens
 * the next one; statements are recorded when the log is open. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_EVENTS 32

typedef enum { LOG_CLOSED, LOG_TO_BE_OPENED, LOG_OPENED } log_type;

struct segment {
    char name[16];
    int n;
    int ev[MAX_EVENTS];
};

static struct {
    pthread_mutex_t LOCK_log;
    log_type type;
    int segno;
    struct segment seg[4];
} bin = { .LOCK_log = PTHREAD_MUTEX_INITIALIZER, .segno = -1 };

static void log_close(void)
{
    pthread_mutex_lock(&bin.LOCK_log);
    bin.type = LOG_CLOSED;
    pthread_mutex_unlock(&bin.LOCK_log);
}

static void log_open(void)
{
    pthread_mutex_lock(&bin.LOCK_log);
    bin.segno++;
    snprintf(bin.seg[bin.segno].name, sizeof bin.seg[0].name,
             "bin.%06d", bin.segno + 1);
    bin.seg[bin.segno].n = 0;
    bin.type = LOG_OPENED;
    pthread_mutex_unlock(&bin.LOCK_log);
}

static void rotate(void)
{
    log_close();
    log_open();
}

static bool log_write(int event)
{
    bool done = false;
    pthread_mutex_lock(&bin.LOCK_log);
    if (bin.type == LOG_OPENED) {
        struct segment *s = &bin.seg[bin.segno];
        if (s->n < MAX_EVENTS) {
            s->ev[s->n++] = event;
            done = true;
        }
    }
    pthread_mutex_unlock(&bin.LOCK_log);
    return done;
}

static void *client(void *arg)
{
    int base = *(int *)arg;
    for (int i = 0; i < 5; i++)
        (void)log_write(base + i);
    return NULL;
}

static void *flusher(void *arg)
{
    (void)arg;
    rotate();
    rotate();
    return NULL;
}

int main(void)
{
    pthread_t c[2], f;
    int base[2] = { 100, 200 };
    int total = 0, sum = 0;

    log_open();
    pthread_create(&c[0], NULL, client, &base[0]);
    pthread_create(&f, NULL, flusher, NULL);
    pthread_create(&c[1], NULL, client, &base[1]);
    pthread_join(c[0], NULL);
    pthread_join(c[1], NULL);
    pthread_join(f, NULL);
    for (int s = 0; s <= bin.segno; s++)
        for (int i = 0; i < bin.seg[s].n; i++) {
            total++;
            sum += bin.seg[s].ev[i];
        }
    if (total != 10) {
        fprintf(stderr, "only %d events in the update log\n", total);
        return 1;
    }
    printf("segments %d events %d sum %d\n", bin.segno + 1, total, sum);
    return 0;
}
