/* Event-driven server: a listener hands connections to workers; workers put
 * kept-alive connections back on a timeout list. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NWORKERS 2
#define NCONNS   6
#define QUEUE    8

struct conn {
    int          id;
    int          requests;
    int          keepalive;
    struct conn *next;
};

/* Idle workers. */
struct queue_info {
    pthread_mutex_t idlers_mutex;
    pthread_cond_t  wait_for_idler;
    int             idlers;
};

/* Connections on their way to a worker. */
struct fd_queue {
    pthread_mutex_t mutex;
    pthread_cond_t  not_empty;
    struct conn    *data[QUEUE];
    int             in, out, nelts;
    int             terminated;
};

static struct queue_info info = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0
};
static struct fd_queue queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER
};

static pthread_mutex_t timeout_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct conn *timeout_head;       /* guarded by timeout_mutex */
static int timeout_count;

static struct conn conns[NCONNS];
static atomic_int served;
static long scoreboard[NWORKERS];

static void set_idle(struct queue_info *qi)
{
    pthread_mutex_lock(&qi->idlers_mutex);
    qi->idlers++;
    pthread_cond_signal(&qi->wait_for_idler);
    pthread_mutex_unlock(&qi->idlers_mutex);
}

static void wait_for_idler(struct queue_info *qi)
{
    pthread_mutex_lock(&qi->idlers_mutex);
    while (qi->idlers == 0)
        pthread_cond_wait(&qi->wait_for_idler, &qi->idlers_mutex);
    qi->idlers--;
    pthread_mutex_unlock(&qi->idlers_mutex);
}

static void queue_push(struct fd_queue *q, struct conn *c)
{
    pthread_mutex_lock(&q->mutex);
    q->data[q->in] = c;
    q->in = (q->in + 1) % QUEUE;
    q->nelts++;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

static struct conn *queue_pop(struct fd_queue *q)
{
    struct conn *c = NULL;

    pthread_mutex_lock(&q->mutex);
    while (q->nelts == 0 && !q->terminated)
        pthread_cond_wait(&q->not_empty, &q->mutex);
    if (q->nelts > 0) {
        c = q->data[q->out];
        q->out = (q->out + 1) % QUEUE;
        q->nelts--;
    }
    pthread_mutex_unlock(&q->mutex);
    return c;
}

static void queue_term(struct fd_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->terminated = 1;
    pthread_cond_broadcast(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

static void process_socket(int worker, struct conn *c)
{
    c->requests++;
    scoreboard[worker]++;
    atomic_fetch_add(&served, 1);
    if (c->keepalive) {
        c->keepalive = 0;
        pthread_mutex_lock(&timeout_mutex);
        c->next = timeout_head;
        timeout_head = c;
        timeout_count++;
        pthread_mutex_unlock(&timeout_mutex);
    }
}

static void *worker_main(void *arg)
{
    int id = *(int *)arg;
    struct conn *c;

    for (;;) {
        set_idle(&info);
        c = queue_pop(&queue);
        if (c == NULL)
            return NULL;
        process_socket(id, c);
    }
}

static void push2worker(struct conn *c)
{
    wait_for_idler(&info);
    queue_push(&queue, c);
}

/* Kept-alive connections that have something to read again. */
static int process_timeouts(void)
{
    int n = 0;

    pthread_mutex_lock(&timeout_mutex);
    while (timeout_head != NULL) {
        struct conn *c = timeout_head;

        timeout_head = c->next;
        timeout_count--;
        push2worker(c);
        n++;
    }
    pthread_mutex_unlock(&timeout_mutex);
    return n;
}

static void *listener_main(void *arg)
{
    int done = 0;

    (void)arg;
    for (int i = 0; i < NCONNS; i++) {
        push2worker(&conns[i]);
        done++;
        if (i % 2 == 1)
            done += process_timeouts();
    }
    for (int i = 0; i < NWORKERS; i++)
        wait_for_idler(&info);
    printf("%d connections handed out\n", done);
    return NULL;
}

int main(void)
{
    pthread_t w[NWORKERS], l;
    int ids[NWORKERS];

    for (int i = 0; i < NCONNS; i++) {
        conns[i].id = i;
        conns[i].keepalive = i < NCONNS - 1;
    }
    for (int i = 0; i < NWORKERS; i++) {
        ids[i] = i;
        pthread_create(&w[i], NULL, worker_main, &ids[i]);
    }
    pthread_create(&l, NULL, listener_main, NULL);
    pthread_join(l, NULL);
    queue_term(&queue);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(w[i], NULL);
    printf("%d requests, %d kept alive\n", atomic_load(&served), timeout_count);
    return 0;
}
