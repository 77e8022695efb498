#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXMSG 16
#define NMSG 8
#define NVIEWS 4

struct message {
    int uid;
    int size;
    int deleted;
};

struct folder {
    pthread_mutex_t lock;
    struct message *messages[MAXMSG];
    int count;
    int generation;
};

struct request {
    struct folder *folder;
    int number;
    int flags;
};

struct view {
    int shown;
    long bytes;
    int generation;
};

static struct message store[MAXMSG];

static void folder_fill(struct folder *f)
{
    int i;
    for (i = 0; i < NMSG; i++) {
        store[i] = (struct message){ 100 + i, 10 * i + 1, i % 3 == 0 };
        f->messages[i] = &store[i];
    }
    f->count = NMSG;
}

static void expunge(struct folder *f)
{
    int i, n = 0;
    pthread_mutex_lock(&f->lock);
    for (i = 0; i < f->count; i++)
        if (!f->messages[i]->deleted)
            f->messages[n++] = f->messages[i];
    for (i = n; i < f->count; i++)
        f->messages[i] = NULL;
    f->count = n;
    f->generation++;
    pthread_mutex_unlock(&f->lock);
}

static void mark(struct folder *f, int every)
{
    int i;
    pthread_mutex_lock(&f->lock);
    for (i = 0; i < f->count; i++)
        f->messages[i]->deleted = i % every == 0;
    pthread_mutex_unlock(&f->lock);
}

static void pick(struct folder *f, struct request *r, int back)
{
    pthread_mutex_lock(&f->lock);
    r->folder = f;
    r->number = f->count > back ? f->count - 1 - back : 0;
    pthread_mutex_unlock(&f->lock);
    r->flags = back % 2;
}

static const struct message *load(const struct request *r)
{
    const struct message *m;
    pthread_mutex_lock(&r->folder->lock);
    m = r->folder->messages[r->number];
    pthread_mutex_unlock(&r->folder->lock);
    return m;
}

static void summarise(struct view *v, const struct message *m)
{
    v->bytes += m->size;
    v->shown++;
}

static void *sync_main(void *arg)
{
    struct folder *f = arg;
    expunge(f);
    mark(f, 4);
    expunge(f);
    return NULL;
}

int main(void)
{
    static struct folder inbox = { .lock = PTHREAD_MUTEX_INITIALIZER };
    struct view view = { 0, 0, 0 };
    pthread_t sync;
    int i;
    folder_fill(&inbox);
    pthread_create(&sync, NULL, sync_main, &inbox);
    for (i = 0; i < NVIEWS; i++) {
        struct request r;
        pick(&inbox, &r, i % 2);
        summarise(&view, load(&r));
        view.generation = inbox.generation;
    }
    pthread_join(sync, NULL);
    printf("%d shown, %d left, %s\n", view.shown, inbox.count, view.bytes > 0 ? "good" : "empty");
    return view.shown != NVIEWS;
}
