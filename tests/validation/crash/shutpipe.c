#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NITEMS 4

struct stage {
    pthread_t thread;
    pthread_mutex_t work_lock;
    pthread_cond_t work;
    pthread_mutex_t state_lock;
    int stopping;
    int items[NITEMS];
    int n;
    long sum;
    char name[8];
};

static int is_stopping(struct stage *s)
{
    int v;
    pthread_mutex_lock(&s->state_lock);
    v = s->stopping;
    pthread_mutex_unlock(&s->state_lock);
    return v;
}

static int stage_take(struct stage *s, int *item)
{
    int ok = 0;
    pthread_mutex_lock(&s->work_lock);
    while (s->n == 0 && !is_stopping(s)) {
        pthread_cond_wait(&s->work, &s->work_lock);
    }
    if (s->n > 0) {
        *item = s->items[--s->n];
        ok = 1;
    }
    pthread_mutex_unlock(&s->work_lock);
    return ok;
}

static void *stage_main(void *arg)
{
    struct stage *s = arg;
    int item;
    while (stage_take(s, &item))
        s->sum += item;
    return NULL;
}

static void stage_push(struct stage *s, int item)
{
    pthread_mutex_lock(&s->work_lock);
    s->items[s->n++] = item;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->work_lock);
}

static void stage_start(struct stage *s, const char *name)
{
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    pthread_mutex_init(&s->work_lock, NULL);
    pthread_mutex_init(&s->state_lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_create(&s->thread, NULL, stage_main, s);
}

static void stage_stop(struct stage *s)
{
    pthread_mutex_lock(&s->state_lock);
    s->stopping = 1;
    pthread_mutex_unlock(&s->state_lock);
    pthread_cond_broadcast(&s->work);
    pthread_join(s->thread, NULL);
}

int main(void)
{
    static struct stage parse, emit;
    int i;
    stage_start(&parse, "parse");
    stage_start(&emit, "emit");
    for (i = 0; i < NITEMS; i++) {
        stage_push(&parse, i);
        stage_push(&emit, 10 * i);
    }
    stage_stop(&parse);
    stage_stop(&emit);
    printf("%s %ld, %s %ld\n", parse.name, parse.sum, emit.name, emit.sum);
    return parse.sum == 6 && emit.sum == 60 ? 0 : 1;
}
