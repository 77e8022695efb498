/* A server keeps one session descriptor per client thread; a monitor
 * thread produces the process list from the descriptors. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thd {
    int id;
    const char *query;
    const char *proc_info;
    struct thd *next;
};

static struct thd *threads;
static pthread_mutex_t LOCK_thread_count = PTHREAD_MUTEX_INITIALIZER;
static int rows_total;

static struct thd *thd_new(int id, const char *q)
{
    struct thd *t = calloc(1, sizeof *t);
    t->id = id;
    t->query = q;
    pthread_mutex_lock(&LOCK_thread_count);
    t->next = threads;
    threads = t;
    pthread_mutex_unlock(&LOCK_thread_count);
    return t;
}

static int execute(struct thd *t)
{
    int rows = 0;
    t->proc_info = "Opening tables";
    for (const char *p = t->query; *p; p++)
        if (*p == ' ')
            rows++;
    t->proc_info = "Sending data";
    rows = rows * 7 + (int)strlen(t->query) % 5;
    t->proc_info = NULL;
    return rows;
}

static void *session(void *arg)
{
    struct thd *t = arg;
    int r = execute(t);
    pthread_mutex_lock(&LOCK_thread_count);
    rows_total += r;
    pthread_mutex_unlock(&LOCK_thread_count);
    return NULL;
}

static void *show_processlist(void *arg)
{
    char *out = arg;
    size_t pos = 0;
    pthread_mutex_lock(&LOCK_thread_count);
    for (struct thd *t = threads; t; t = t->next) {
        if (t->proc_info) {
            pos += (size_t)sprintf(out + pos, "%d|%.12s|", t->id, t->query);
            size_t n = strlen(t->proc_info);
            memcpy(out + pos, t->proc_info, n);
            pos += n;
            out[pos++] = '\n';
        }
    }
    pthread_mutex_unlock(&LOCK_thread_count);
    out[pos] = 0;
    return NULL;
}

int main(void)
{
    static const char *const q[3] = {
        "SELECT a FROM t1 WHERE b = 4",
        "UPDATE t2 SET c = c + 1",
        "SELECT count(*) FROM t1 , t2",
    };
    static char text[1024];
    pthread_t s[3], mon;
    struct thd *d[3];

    for (int i = 0; i < 3; i++) {
        d[i] = thd_new(i + 1, q[i]);
        d[i]->proc_info = "login";
    }
    show_processlist(text);
    pthread_create(&mon, NULL, show_processlist, text);
    for (int i = 0; i < 3; i++) {
        pthread_create(&s[i], NULL, session, d[i]);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(s[i], NULL);
    pthread_join(mon, NULL);
    for (int i = 0; i < 3; i++)
        free(d[i]);
    printf("rows %d\n", rows_total);
    return 0;
}
