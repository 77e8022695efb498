/* Asynchronous queue between an I/O thread and a set of handlers. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NHANDLERS 2
#define NTASKS    12

typedef struct node {
    struct node *next;
    int          kind;
    int          value;
} node_t;

enum { TASK_RUN, TASK_QUIT };

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t  cond;
    node_t         *head, **tail;
    unsigned        length;
    unsigned        waiting_threads;
} async_queue;

typedef struct {
    pthread_t tid;
    int       handled;
    long      sum;
} handler_t;

static async_queue queue;
static atomic_long progress;
static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_handler_no;

static void queue_init(async_queue *q)
{
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->cond, NULL);
    q->tail = &q->head;
}

static void queue_push(async_queue *q, int kind, int value)
{
    node_t *n = calloc(1, sizeof *n);

    n->kind = kind;
    n->value = value;
    pthread_mutex_lock(&q->mutex);
    *q->tail = n;
    q->tail = &n->next;
    q->length++;
    if (q->waiting_threads > 0)
        pthread_cond_signal(&q->cond);
    pthread_mutex_unlock(&q->mutex);
}

static node_t *queue_try_pop(async_queue *q)
{
    node_t *n = NULL;

    pthread_mutex_lock(&q->mutex);
    if (q->length > 0) {
        n = q->head;
        q->head = n->next;
        if (!q->head)
            q->tail = &q->head;
        q->length--;
    }
    pthread_mutex_unlock(&q->mutex);
    return n;
}

static void queue_wait(async_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->waiting_threads++;
    pthread_cond_wait(&q->cond, &q->mutex);
    q->waiting_threads--;
    pthread_mutex_unlock(&q->mutex);
}

static node_t *queue_pop(async_queue *q)
{
    node_t *n;

    while ((n = queue_try_pop(q)) == NULL)
        queue_wait(q);
    return n;
}

static void *handler_main(void *arg)
{
    handler_t *h = arg;

    pthread_mutex_lock(&name_lock);
    next_handler_no++;
    pthread_mutex_unlock(&name_lock);
    for (;;) {
        node_t *n = queue_pop(&queue);
        int kind = n->kind, value = n->value;

        free(n);
        if (kind == TASK_QUIT)
            return NULL;
        h->handled++;
        h->sum += value;
        atomic_fetch_add_explicit(&progress, 1, memory_order_relaxed);
    }
}

static void *io_main(void *arg)
{
    (void)arg;
    for (int i = 1; i <= NTASKS; i++)
        queue_push(&queue, TASK_RUN, i);
    for (int i = 0; i < NHANDLERS; i++)
        queue_push(&queue, TASK_QUIT, 0);
    return NULL;
}

int main(void)
{
    handler_t h[NHANDLERS] = { 0 };
    pthread_t io;
    long sum = 0;
    int handled = 0;

    queue_init(&queue);
    for (int i = 0; i < NHANDLERS; i++)
        pthread_create(&h[i].tid, NULL, handler_main, &h[i]);
    pthread_create(&io, NULL, io_main, NULL);
    pthread_join(io, NULL);
    for (int i = 0; i < NHANDLERS; i++) {
        pthread_join(h[i].tid, NULL);
        sum += h[i].sum;
        handled += h[i].handled;
    }
    printf("%d handlers, %d tasks, sum %ld, progress %ld\n", next_handler_no, handled,
           sum, atomic_load(&progress));
    return sum == NTASKS * (NTASKS + 1) / 2 ? 0 : 1;
}
