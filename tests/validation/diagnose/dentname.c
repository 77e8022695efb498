#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 32
#define NDENTRIES 2
#define NEVENTS 4
#define NRENAMES 4

struct dentry {
    pthread_mutex_t lock;
    char name[NAME_SIZE];
    unsigned length;
    unsigned renames;
};

struct event {
    struct event *next;
    unsigned mask;
    unsigned length;
    char name[];
};

struct group {
    pthread_mutex_t lock;
    struct event *first, *last;
    int pending;
};

struct watch {
    struct dentry *dentry;
    pthread_t thread;
    unsigned mask;
};

static struct group group = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct dentry dentries[NDENTRIES];

static unsigned dentry_name_length(struct dentry *d)
{
    unsigned n;
    pthread_mutex_lock(&d->lock);
    n = d->length;
    pthread_mutex_unlock(&d->lock);
    return n;
}

static void dentry_copy_name(struct dentry *d, char *to)
{
    pthread_mutex_lock(&d->lock);
    strcpy(to, d->name);
    pthread_mutex_unlock(&d->lock);
}

static void dentry_rename(struct dentry *d, const char *name)
{
    pthread_mutex_lock(&d->lock);
    strcpy(d->name, name);
    d->length = (unsigned)strlen(name);
    d->renames++;
    pthread_mutex_unlock(&d->lock);
}

static void group_add(struct group *g, struct event *e)
{
    pthread_mutex_lock(&g->lock);
    if (g->last != NULL)
        g->last->next = e;
    else
        g->first = e;
    g->last = e;
    g->pending++;
    pthread_mutex_unlock(&g->lock);
}

static void notify(struct group *g, struct dentry *d, unsigned mask)
{
    unsigned n = dentry_name_length(d);
    struct event *e = malloc(sizeof *e + NAME_SIZE);
    if (e == NULL)
        abort();
    e->next = NULL;
    e->mask = mask;
    e->length = n;
    dentry_copy_name(d, e->name);
    group_add(g, e);
}

static void *watch_main(void *arg)
{
    struct watch *w = arg;
    int i;
    for (i = 0; i < NEVENTS; i++)
        notify(&group, w->dentry, w->mask << i);
    return NULL;
}

static void *rename_main(void *arg)
{
    static const char *names[] = { "part", "download.tmp", "x", "download" };
    int i, k;
    (void)arg;
    for (i = 0; i < NRENAMES; i++)
        for (k = 0; k < NDENTRIES; k++)
            dentry_rename(&dentries[k], names[(i + k) % 4]);
    return NULL;
}

int main(void)
{
    struct watch watches[NDENTRIES];
    struct event *e, *next;
    pthread_t renamer;
    int i, bad = 0;
    for (i = 0; i < NDENTRIES; i++) {
        pthread_mutex_init(&dentries[i].lock, NULL);
        dentry_rename(&dentries[i], "new file");
        watches[i].dentry = &dentries[i];
        watches[i].mask = 1;
        pthread_create(&watches[i].thread, NULL, watch_main, &watches[i]);
    }
    pthread_create(&renamer, NULL, rename_main, NULL);
    for (i = 0; i < NDENTRIES; i++)
        pthread_join(watches[i].thread, NULL);
    pthread_join(renamer, NULL);
    for (e = group.first; e != NULL; e = next) {
        next = e->next;
        if (strlen(e->name) != e->length) {
            fprintf(stderr, "event %x: name \"%s\" in a record of %u bytes\n", e->mask, e->name, e->length);
            bad = 1;
        }
        free(e);
    }
    printf("%d events\n", group.pending);
    return bad;
}
