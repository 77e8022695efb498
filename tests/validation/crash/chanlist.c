/* Subscribers of a channel: publishing walks along the list, subscribers that
   leave are taken out of it and their record goes back to the pool. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSUBS 6
#define NPUBLISH 4

struct subscriber {
    int id;
    long received;
    char *buffer;
    struct subscriber *next;
};

struct channel {
    const char *name;
    pthread_mutex_t lock;
    struct subscriber *head;
    int count;
};

static struct channel news = { "news", PTHREAD_MUTEX_INITIALIZER, NULL, 0 };
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct subscriber *pool;
static atomic_long delivered;

static void subscribe(struct channel *c, int id)
{
    struct subscriber *s = calloc(1, sizeof *s);

    if (!s)
        exit(1);
    s->id = id;
    s->buffer = calloc(1, 64);
    pthread_mutex_lock(&c->lock);
    s->next = c->head;
    c->head = s;
    c->count++;
    pthread_mutex_unlock(&c->lock);
}

static void release(struct subscriber *s)
{
    free(s->buffer);
    s->buffer = NULL;
    pthread_mutex_lock(&pool_lock);
    s->next = pool;
    pool = s;
    pthread_mutex_unlock(&pool_lock);
}

static void unsubscribe(struct channel *c, int id)
{
    struct subscriber **p, *s = NULL;

    pthread_mutex_lock(&c->lock);
    for (p = &c->head; *p; p = &(*p)->next)
        if ((*p)->id == id) {
            s = *p;
            *p = s->next;
            c->count--;
            break;
        }
    pthread_mutex_unlock(&c->lock);
    if (s)
        release(s);
}

static void deliver(struct subscriber *s, const char *text)
{
    memcpy(s->buffer, text, strlen(text) + 1);
    s->received++;
    atomic_fetch_add(&delivered, 1);
}

static struct subscriber *first(struct channel *c)
{
    struct subscriber *s;

    pthread_mutex_lock(&c->lock);
    s = c->head;
    pthread_mutex_unlock(&c->lock);
    return s;
}

static void publish(struct channel *c, const char *text)
{
    struct subscriber *s;

    for (s = first(c); s; s = s->next)
        deliver(s, text);
}

static void *publisher(void *arg)
{
    int i;

    (void)arg;
    for (i = 0; i < NPUBLISH; i++)
        publish(&news, "breaking news");
    return NULL;
}

static void *leaver(void *arg)
{
    long id = (long)arg;

    unsubscribe(&news, (int)id + 4);
    unsubscribe(&news, (int)id + 2);
    return NULL;
}

int main(void)
{
    pthread_t p, l[2];
    long i;

    for (i = 0; i < NSUBS; i++)
        subscribe(&news, (int)i);
    pthread_create(&p, NULL, publisher, NULL);
    for (i = 0; i < 2; i++)
        pthread_create(&l[i], NULL, leaver, (void *)i);
    pthread_join(p, NULL);
    for (i = 0; i < 2; i++)
        pthread_join(l[i], NULL);
    printf("%s: %d subscribers left\n", news.name, news.count);
    return 0;
}
