/* Request dispatcher: every backend server has a limit of connections; a
 * request goes to the first one with a free slot, else to the queue. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NSERVERS 2
#define NTASKS   4
#define NREQS    5
#define MAXCONN  1

struct server {
    const char     *name;
    pthread_mutex_t lock;
    int             cur_conns;
    int             max_seen;
    long            served;
};

struct task {
    int       id;
    long      queued, sent;
    pthread_t thread;
};

static struct server servers[NSERVERS] = {
    { .name = "web1", .lock = PTHREAD_MUTEX_INITIALIZER },
    { .name = "web2", .lock = PTHREAD_MUTEX_INITIALIZER },
};
static atomic_long requests;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static long queue_total;

static int srv_has_room(struct server *s)
{
    int room;

    pthread_mutex_lock(&s->lock);
    room = s->cur_conns < MAXCONN;
    pthread_mutex_unlock(&s->lock);
    return room;
}

static void srv_take_slot(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    s->cur_conns++;
    if (s->cur_conns > s->max_seen)
        s->max_seen = s->cur_conns;
    pthread_mutex_unlock(&s->lock);
}

static void srv_release(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    s->cur_conns--;
    s->served++;
    pthread_mutex_unlock(&s->lock);
}

static struct server *pick_server(const struct task *t, int n)
{
    for (int i = 0; i < NSERVERS; i++) {
        struct server *s = &servers[(t->id + n + i) % NSERVERS];

        if (srv_has_room(s)) {
            srv_take_slot(s);
            return s;
        }
    }
    return NULL;
}

static void enqueue(struct task *t)
{
    pthread_mutex_lock(&queue_lock);
    queue_total++;
    pthread_mutex_unlock(&queue_lock);
    t->queued++;
}

static unsigned forward(const struct task *t, int n)
{
    unsigned h = 2166136261u;

    for (int i = 0; i < 40; i++)
        h = (h ^ (unsigned)(t->id * 64 + n + i)) * 16777619u;
    return h;
}

static void *task_main(void *arg)
{
    struct task *t = arg;
    unsigned sum = 0;

    for (int n = 0; n < NREQS; n++) {
        struct server *s = pick_server(t, n);

        atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
        if (!s) {
            enqueue(t);
            continue;
        }
        sum ^= forward(t, n);
        srv_release(s);
        t->sent++;
    }
    return sum == 1 ? arg : NULL;
}

int main(void)
{
    struct task t[NTASKS];
    long total = 0;
    int bad = 0;

    for (int i = 0; i < NTASKS; i++) {
        t[i] = (struct task){ .id = i };
        pthread_create(&t[i].thread, NULL, task_main, &t[i]);
    }
    for (int i = 0; i < NTASKS; i++) {
        pthread_join(t[i].thread, NULL);
        total += t[i].queued + t[i].sent;
    }
    for (int i = 0; i < NSERVERS; i++)
        if (servers[i].max_seen > MAXCONN) {
            fprintf(stderr, "%s: %d connections\n", servers[i].name, servers[i].max_seen);
            bad = 1;
        }
    printf("%ld of %ld requests\n", total, atomic_load(&requests));
    return bad || total != NTASKS * NREQS;
}
