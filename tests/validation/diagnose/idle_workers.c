#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NWORKERS 2
#define NCONNS 8
#define QUEUE_CAP 8

struct queue_info {
    atomic_int idlers;
    pthread_mutex_t idlers_mutex;
    pthread_cond_t wait_for_idler;
};

struct fd_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    int conns[QUEUE_CAP];
    unsigned in;
    unsigned out;
    int terminated;
};

struct server {
    struct queue_info info;
    struct fd_queue queue;
    atomic_int served;
};

static void set_idle(struct queue_info *qi)
{
    int prev = atomic_fetch_add(&qi->idlers, 1);
    if (prev == 0) {
        pthread_mutex_lock(&qi->idlers_mutex);
        pthread_cond_signal(&qi->wait_for_idler);
        pthread_mutex_unlock(&qi->idlers_mutex);
    }
}

static void reserve_idler(struct queue_info *qi)
{
    while (atomic_load(&qi->idlers) == 0) {
        pthread_mutex_lock(&qi->idlers_mutex);
        pthread_cond_wait(&qi->wait_for_idler, &qi->idlers_mutex);
        pthread_mutex_unlock(&qi->idlers_mutex);
    }
    atomic_fetch_sub(&qi->idlers, 1);
}

static void queue_push(struct fd_queue *q, int conn)
{
    pthread_mutex_lock(&q->mutex);
    q->conns[q->in % QUEUE_CAP] = conn;
    q->in++;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

static int queue_pop(struct fd_queue *q)
{
    int conn = -1;
    pthread_mutex_lock(&q->mutex);
    while (q->in == q->out && !q->terminated)
        pthread_cond_wait(&q->not_empty, &q->mutex);
    if (q->in != q->out) {
        conn = q->conns[q->out % QUEUE_CAP];
        q->out++;
    }
    pthread_mutex_unlock(&q->mutex);
    return conn;
}

static void queue_term(struct fd_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->terminated = 1;
    pthread_cond_broadcast(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

static void process_connection(struct server *s, int conn)
{
    char reply[32];
    snprintf(reply, sizeof reply, "HTTP/1.1 200 c%d", conn);
    if (strlen(reply) > 12)
        atomic_fetch_add(&s->served, 1);
}

static void *worker_main(void *arg)
{
    struct server *s = arg;
    int conn;
    for (;;) {
        set_idle(&s->info);
        conn = queue_pop(&s->queue);
        if (conn < 0)
            break;
        process_connection(s, conn);
    }
    return NULL;
}

static void listen_loop(struct server *s)
{
    int conn;
    for (conn = 0; conn < NCONNS; conn++) {
        reserve_idler(&s->info);
        queue_push(&s->queue, conn);
    }
}

int main(void)
{
    static struct server s;
    pthread_t tid[NWORKERS];
    int served;
    int i;
    pthread_mutex_init(&s.info.idlers_mutex, NULL);
    pthread_cond_init(&s.info.wait_for_idler, NULL);
    pthread_mutex_init(&s.queue.mutex, NULL);
    pthread_cond_init(&s.queue.not_empty, NULL);
    for (i = 0; i < NWORKERS; i++)
        pthread_create(&tid[i], NULL, worker_main, &s);
    listen_loop(&s);
    queue_term(&s.queue);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(tid[i], NULL);
    served = atomic_load(&s.served);
    printf("served %d\n", served);
    return served == NCONNS ? 0 : 1;
}
