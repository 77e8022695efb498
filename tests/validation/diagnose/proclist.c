/* Server with a thread for each connection and a list of them, which
 * SHOW PROCESSLIST walks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCONNS  4
#define NSHOWS  6
#define NQUERY  3

struct thd {
    struct thd *prev, *next;
    int         id;
    char       *user;
    char       *host;
    atomic_int  command;            /* what it does now, for display only */
    long        queries;
};

struct server {
    pthread_mutex_t thread_count_lock;
    struct thd      threads;        /* head of the list */
    int             thread_count;
    int             max_used;
};

struct vio {
    int         id;
    const char *peer;
};

static struct server server = { .thread_count_lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long questions;
static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static long slow_queries;

static void thread_list_add(struct server *s, struct thd *t)
{
    pthread_mutex_lock(&s->thread_count_lock);
    t->next = &s->threads;
    t->prev = s->threads.prev;
    t->prev->next = t;
    s->threads.prev = t;
    if (++s->thread_count > s->max_used)
        s->max_used = s->thread_count;
    pthread_mutex_unlock(&s->thread_count_lock);
}

static void thread_list_remove(struct server *s, struct thd *t)
{
    pthread_mutex_lock(&s->thread_count_lock);
    t->prev->next = t->next;
    t->next->prev = t->prev;
    s->thread_count--;
    pthread_mutex_unlock(&s->thread_count_lock);
}

static struct thd *thd_create(int id)
{
    struct thd *t = calloc(1, sizeof(*t));

    t->id = id;
    return t;
}

static void thd_destroy(struct thd *t)
{
    free(t->user);
    free(t->host);
    free(t);
}

/* Who is at the other end. */
static void check_connection(struct thd *t, const struct vio *v)
{
    char user[32];

    snprintf(user, sizeof(user), "user%d", v->id);
    t->user = strdup(user);
    t->host = strdup(v->peer);
}

static void do_query(struct thd *t, int n)
{
    atomic_store_explicit(&t->command, n + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&questions, 1, memory_order_relaxed);
    t->queries++;
    if (n == NQUERY - 1) {
        pthread_mutex_lock(&slow_lock);
        slow_queries++;
        pthread_mutex_unlock(&slow_lock);
    }
    atomic_store_explicit(&t->command, 0, memory_order_relaxed);
}

static void *connection_main(void *arg)
{
    struct vio *v = arg;
    struct thd *t = thd_create(v->id);

    thread_list_add(&server, t);
    check_connection(t, v);
    for (int i = 0; i < NQUERY; i++)
        do_query(t, i);
    thread_list_remove(&server, t);
    thd_destroy(t);
    return NULL;
}

static size_t list_one(char *out, size_t size, const struct thd *t)
{
    size_t width = strlen(t->host) + strlen(t->user);

    snprintf(out, size, "%d %s@%s %d", t->id, t->user, t->host,
             atomic_load_explicit(&t->command, memory_order_relaxed));
    return width;
}

static void *show_processlist_main(void *arg)
{
    long *listed = arg;
    char line[128];

    for (int i = 0; i < NSHOWS; i++) {
        pthread_mutex_lock(&server.thread_count_lock);
        for (struct thd *t = server.threads.next; t != &server.threads; t = t->next)
            if (list_one(line, sizeof(line), t) > 0)
                ++*listed;
        pthread_mutex_unlock(&server.thread_count_lock);
    }
    return NULL;
}

int main(void)
{
    static const char *const peers[NCONNS] = { "10.0.0.1", "10.0.0.2", "db.example", "localhost" };
    struct vio v[NCONNS];
    pthread_t conn[NCONNS], show;
    long listed = 0;

    server.threads.next = server.threads.prev = &server.threads;
    for (int i = 0; i < NCONNS; i++) {
        v[i] = (struct vio){ i, peers[i] };
        pthread_create(&conn[i], NULL, connection_main, &v[i]);
        if (i == 1)
            pthread_create(&show, NULL, show_processlist_main, &listed);
    }
    for (int i = 0; i < NCONNS; i++)
        pthread_join(conn[i], NULL);
    pthread_join(show, NULL);
    printf("%ld questions, %ld listed, %d at once, %ld slow\n", atomic_load(&questions), listed,
           server.max_used, slow_queries);
    return server.thread_count;
}
