/* Job runner of a build server: a job is put into the queue, its hooks say
   what to do when it is over. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NJOBS 6
#define NWORKERS 2

struct job;

struct hooks {
    void (*finished)(struct job *);
    const char *label;
};

struct job {
    int number;
    int work;
    unsigned result;
    const struct hooks *hooks;
    struct job *next;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job *head, **tail;
    int closed;
};

static struct queue queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                              NULL, &queue.head, 0 };
static atomic_int finished, important;
static struct job jobs[NJOBS];

static void on_plain(struct job *j)
{
    (void)j;
    atomic_fetch_add(&finished, 1);
}

static void on_important(struct job *j)
{
    on_plain(j);
    atomic_fetch_add(&important, 1);
}

static const struct hooks plain = { on_plain, "plain" };
static const struct hooks urgent = { on_important, "urgent" };

static void queue_put(struct queue *q, struct job *j)
{
    pthread_mutex_lock(&q->lock);
    j->next = NULL;
    *q->tail = j;
    q->tail = &j->next;
    if (q->head == j)
        pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static struct job *queue_get(struct queue *q)
{
    struct job *j;

    pthread_mutex_lock(&q->lock);
    while (!q->head && !q->closed)
        pthread_cond_wait(&q->filled, &q->lock);
    j = q->head;
    if (j) {
        q->head = j->next;
        if (!q->head)
            q->tail = &q->head;
        else
            pthread_cond_signal(&q->filled);
    }
    pthread_mutex_unlock(&q->lock);
    return j;
}

static void run_job(struct job *j)
{
    unsigned h = 1;
    int i;

    for (i = 0; i < j->work * 40000; i++)
        h = h * 1664525u + 1013904223u;
    j->result = h;
}

static void complete(struct job *j)
{
    const struct hooks *h = j->hooks;

    h->finished(j);
}

static void *worker(void *arg)
{
    struct job *j;

    (void)arg;
    while ((j = queue_get(&queue)) != NULL) {
        run_job(j);
        complete(j);
    }
    return NULL;
}

static void submit(int n)
{
    struct job *j = &jobs[n];

    j->number = n;
    j->work = 1 + n % 3;
    queue_put(&queue, j);
    j->hooks = n % 2 ? &urgent : &plain;
}

int main(void)
{
    pthread_t t[NWORKERS];
    int i;

    for (i = 0; i < NWORKERS; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (i = 0; i < NJOBS; i++)
        submit(i);
    pthread_mutex_lock(&queue.lock);
    queue.closed = 1;
    pthread_cond_broadcast(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(t[i], NULL);
    printf("%d finished, %d important\n", atomic_load(&finished), atomic_load(&important));
    return 0;
}
