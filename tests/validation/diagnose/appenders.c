/* A logger with a list of appenders.  All operations of the list are
 * synchronized, as those of java.util.Vector. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAXAPP 6
#define NEVENTS 3

struct appender {
    const char *name;
    atomic_long events;
};

struct vector {
    pthread_mutex_t  lock;
    struct appender *item[MAXAPP];
    int              count;
};

static struct vector list = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct appender apps[MAXAPP] = {
    { "console", 0 }, { "file", 0 }, { "syslog", 0 }, { "socket", 0 }, { "mail", 0 }, { "db", 0 },
};
static atomic_long forced;

static void vector_add(struct vector *v, struct appender *a)
{
    pthread_mutex_lock(&v->lock);
    assert(v->count < MAXAPP);
    v->item[v->count++] = a;
    pthread_mutex_unlock(&v->lock);
}

static int vector_size(struct vector *v)
{
    int n;

    pthread_mutex_lock(&v->lock);
    n = v->count;
    pthread_mutex_unlock(&v->lock);
    return n;
}

static struct appender *vector_get(struct vector *v, int i)
{
    struct appender *a = NULL;

    pthread_mutex_lock(&v->lock);
    if (i < v->count)
        a = v->item[i];
    pthread_mutex_unlock(&v->lock);
    return a;
}

static int vector_remove(struct vector *v, const char *name)
{
    int found = 0;

    pthread_mutex_lock(&v->lock);
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->item[i]->name, name) == 0) {
            memmove(&v->item[i], &v->item[i + 1],
                    (size_t)(v->count - i - 1) * sizeof v->item[0]);
            v->count--;
            found = 1;
            break;
        }
    pthread_mutex_unlock(&v->lock);
    return found;
}

/* Hands the event to all appenders, the last one first. */
static int append_loop(struct vector *v)
{
    int n = vector_size(v);

    for (int i = n - 1; i >= 0; i--) {
        struct appender *a = vector_get(v, i);

        if (!a) {
            fprintf(stderr, "no appender %d of %d\n", i, n);
            return -1;
        }
        atomic_fetch_add_explicit(&a->events, 1, memory_order_relaxed);
    }
    return n;
}

static void *logging_thread(void *arg)
{
    int *failed = arg;

    for (int i = 0; i < NEVENTS; i++)
        if (append_loop(&list) < 0)
            ++*failed;
    return NULL;
}

static void *config_thread(void *arg)
{
    (void)arg;
    atomic_fetch_add_explicit(&forced, 1, memory_order_relaxed);
    vector_remove(&list, "mail");
    vector_add(&list, &apps[4]);
    vector_remove(&list, "db");
    vector_remove(&list, "socket");
    return NULL;
}

int main(void)
{
    pthread_t log[2], conf;
    int failed[2] = { 0, 0 };
    long events = 0;

    for (int i = 0; i < MAXAPP; i++)
        vector_add(&list, &apps[i]);
    pthread_create(&log[0], NULL, logging_thread, &failed[0]);
    pthread_create(&log[1], NULL, logging_thread, &failed[1]);
    pthread_create(&conf, NULL, config_thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(log[i], NULL);
    pthread_join(conf, NULL);
    for (int i = 0; i < MAXAPP; i++)
        events += atomic_load(&apps[i].events);
    printf("%d appenders, %s\n", list.count, events ? "events logged" : "nothing logged");
    return failed[0] || failed[1];
}
