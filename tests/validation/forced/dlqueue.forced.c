/* Download queue: one thread parses a page and queues links, another one
 * takes them; the taker waits when nothing is queued. */
#include <unistd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
    char url[40];
    struct link *next;
};

struct dlq {
    pthread_mutex_t m;
    pthread_cond_t c;
    struct link *head, **tailp;
    int queued;
    int finished;
};

static struct dlq dq;

static const char page[] =
    "<a href=/index.html><p>text<a href=/img/logo.png>"
    "<b>more</b><a href=/about.html>";

static void dlq_push(struct dlq *q, const char *s, size_t n)
{
    struct link *l = calloc(1, sizeof *l);
    memcpy(l->url, s, n < sizeof l->url ? n : sizeof l->url - 1);
    pthread_mutex_lock(&q->m);
    *q->tailp = l;
    q->tailp = &l->next;
    q->queued++;
    pthread_cond_signal(&q->c);
    pthread_mutex_unlock(&q->m);
}

static void dlq_finish(struct dlq *q)
{
    pthread_mutex_lock(&q->m);
    q->finished = 1;
    pthread_cond_signal(&q->c);
    pthread_mutex_unlock(&q->m);
}

static int dlq_idle(struct dlq *q)
{
    int idle;
    pthread_mutex_lock(&q->m);
    idle = q->queued == 0 && !q->finished;
    pthread_mutex_unlock(&q->m);
    return idle;
}

static struct link *dlq_pop(struct dlq *q)
{
    struct link *l;

    while (dlq_idle(q)) {
 usleep(20000);
        pthread_mutex_lock(&q->m);
        pthread_cond_wait(&q->c, &q->m);
        pthread_mutex_unlock(&q->m);
    }
    pthread_mutex_lock(&q->m);
    l = q->head;
    if (l) {
        q->head = l->next;
        if (!q->head)
            q->tailp = &q->head;
        q->queued--;
    }
    pthread_mutex_unlock(&q->m);
    return l;
}

static void *parser(void *arg)
{
    const char *p = page;
    (void)arg;
 usleep(10000);
    while ((p = strstr(p, "href=")) != NULL) {
        p += 5;
        dlq_push(&dq, p, strcspn(p, ">"));
    }
    dlq_finish(&dq);
    return NULL;
}

static void *taker(void *arg)
{
    struct link *l;
    int *bytes = arg;
    while ((l = dlq_pop(&dq)) != NULL) {
        *bytes += (int)strlen(l->url);
        free(l);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int bytes = 0;

    pthread_mutex_init(&dq.m, NULL);
    pthread_cond_init(&dq.c, NULL);
    dq.tailp = &dq.head;
    pthread_create(&a, NULL, parser, NULL);
    pthread_create(&b, NULL, taker, &bytes);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("took %d bytes of links\n", bytes);
    return 0;
}
