#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NPAGES 3
#define NCURSORS 2

struct page_lock {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int readers;
    int writer;
};

struct page {
    struct page_lock latch;
    int number;
    int dirty;
    int garbage;
    int keys[8];
};

struct cursor {
    int id;
    int compacted;
    long sum;
    pthread_t thread;
};

static struct page pages[NPAGES];

static void latch_init(struct page_lock *l)
{
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
}

static void latch_shared(struct page_lock *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->writer)
        pthread_cond_wait(&l->changed, &l->lock);
    l->readers++;
    pthread_mutex_unlock(&l->lock);
}

static void latch_upgrade(struct page_lock *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->writer || l->readers > 1)
        pthread_cond_wait(&l->changed, &l->lock);
    l->readers = 0;
    l->writer = 1;
    pthread_mutex_unlock(&l->lock);
}

static void latch_release(struct page_lock *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->writer)
        l->writer = 0;
    else
        l->readers--;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void page_compact(struct page *p)
{
    int i, k = 0;
    for (i = 0; i < 8; i++)
        if (p->keys[i] != 0)
            p->keys[k++] = p->keys[i];
    while (k < 8)
        p->keys[k++] = 0;
    p->garbage = 0;
    p->dirty = 1;
}

static int page_visit(struct page *p, long *sum)
{
    int i, compacted = 0;
    latch_shared(&p->latch);
    for (i = 0; i < 8; i++)
        *sum += p->keys[i];
    if (p->garbage > 2) {
        latch_upgrade(&p->latch);
        page_compact(p);
        compacted = 1;
    }
    latch_release(&p->latch);
    return compacted;
}

static void *cursor_main(void *arg)
{
    struct cursor *c = arg;
    int i;
    for (i = 0; i < NPAGES; i++)
        c->compacted += page_visit(&pages[i], &c->sum);
    return NULL;
}

int main(void)
{
    struct cursor cursors[NCURSORS];
    int i, k, compacted = 0;
    for (i = 0; i < NPAGES; i++) {
        latch_init(&pages[i].latch);
        pages[i].number = i;
        for (k = 0; k < 8; k++) {
            pages[i].keys[k] = k % 2 ? 0 : 10 * i + k;
            pages[i].garbage += pages[i].keys[k] == 0;
        }
    }
    for (i = 0; i < NCURSORS; i++) {
        cursors[i] = (struct cursor) { .id = i };
        pthread_create(&cursors[i].thread, NULL, cursor_main, &cursors[i]);
    }
    for (i = 0; i < NCURSORS; i++) {
        pthread_join(cursors[i].thread, NULL);
        compacted += cursors[i].compacted;
        printf("cursor %d: sum %ld\n", cursors[i].id, cursors[i].sum);
    }
    printf("%d pages compacted\n", compacted);
    return cursors[0].sum != cursors[1].sum;
}
