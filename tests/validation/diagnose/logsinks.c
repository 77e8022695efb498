/* Logger whose sinks can be configured anew while the program runs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NWORKERS  3
#define NMESSAGES 12
#define NRELOADS  3

struct sink {
    int             id;
    int             min_level;
    pthread_mutex_t lock;
    long            lines;
    unsigned        checksum;
    struct sink    *next;
    struct sink    *retired_next;
};

struct logger {
    pthread_mutex_t lock;
    struct sink    *sinks;
    int             generation;
    atomic_long     bypassed;
};

struct worker {
    int       id;
    long      sent;
    pthread_t thread;
};

static struct logger logger = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct sink *retired;
static long approx_messages;
static atomic_int verbose;

static struct sink *sink_new(int id)
{
    struct sink *s = calloc(1, sizeof(*s));

    if (s == NULL)
        abort();
    pthread_mutex_init(&s->lock, NULL);
    s->id = id;
    return s;
}

static void sink_write(struct sink *s, const char *text)
{
    pthread_mutex_lock(&s->lock);
    s->lines++;
    for (const char *p = text; *p != '\0'; p++)
        s->checksum = s->checksum * 31 + (unsigned char)*p;
    pthread_mutex_unlock(&s->lock);
}

static struct sink *logger_remove(struct logger *l)
{
    struct sink *old;

    pthread_mutex_lock(&l->lock);
    old = l->sinks;
    l->sinks = NULL;
    pthread_mutex_unlock(&l->lock);
    return old;
}

static void logger_add(struct logger *l, struct sink *s)
{
    pthread_mutex_lock(&l->lock);
    s->next = l->sinks;
    l->sinks = s;
    l->generation++;
    pthread_mutex_unlock(&l->lock);
}

static struct sink *logger_sinks(struct logger *l)
{
    struct sink *s;

    pthread_mutex_lock(&l->lock);
    s = l->sinks;
    pthread_mutex_unlock(&l->lock);
    return s;
}

static void log_message(struct logger *l, int level, const char *text)
{
    struct sink *s = logger_sinks(l);

    approx_messages++;
    if (s == NULL && atomic_load_explicit(&verbose, memory_order_relaxed))
        fprintf(stderr, "%s\n", text);
    for (; s != NULL; s = s->next)
        if (level >= s->min_level)
            sink_write(s, text);
}

/* Writers may still hold the old sink: it is kept until the end. */
static void configure_logging(struct logger *l, int id)
{
    struct sink *old = logger_remove(l);

    if (old != NULL) {
        old->retired_next = retired;
        retired = old;
    }
    logger_add(l, sink_new(id));
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    char text[40];

    for (int i = 0; i < NMESSAGES; i++) {
        snprintf(text, sizeof(text), "worker %d step %d", w->id, i);
        log_message(&logger, 1 + i % 2, text);
        w->sent++;
    }
    return NULL;
}

static void *config_main(void *arg)
{
    (void)arg;
    for (int i = 1; i <= NRELOADS; i++)
        configure_logging(&logger, i);
    return NULL;
}

int main(void)
{
    struct worker w[NWORKERS];
    pthread_t c;
    long sent = 0, written = 0;

    configure_logging(&logger, 0);
    memset(w, 0, sizeof(w));
    for (int i = 0; i < NWORKERS; i++) {
        w[i].id = i;
        pthread_create(&w[i].thread, NULL, worker_main, &w[i]);
    }
    pthread_create(&c, NULL, config_main, NULL);
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(w[i].thread, NULL);
        sent += w[i].sent;
    }
    pthread_join(c, NULL);

    for (struct sink *s = logger.sinks; s != NULL; s = s->next)
        written += s->lines;
    for (struct sink *s = retired; s != NULL; s = s->retired_next)
        written += s->lines;
    printf("%d configurations, %ld sent, %ld written\n", logger.generation, sent, written);
    return sent == written ? 0 : 1;
}
