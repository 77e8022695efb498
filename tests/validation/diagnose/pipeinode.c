#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NPIPES 3

struct lock_site {
    const char *name;
    atomic_ulong releases;
};

struct klock {
    atomic_int state;
    struct lock_site *site;
};

struct pipe_info {
    struct klock lock;
    int files;
    int readers;
    int writers;
    char buf[32];
};

struct inode {
    pthread_mutex_t i_lock;
    struct pipe_info *pipe;
};

static struct lock_site pipe_site = { "pipe", 0 };
static struct pipe_info cache[NPIPES];
static int cache_used;
static atomic_int cache_freed;

static void klock_acquire(struct klock *l)
{
    int want = 0;
    while (!atomic_compare_exchange_weak(&l->state, &want, 1)) {
        want = 0;
        sched_yield();
    }
}

static void klock_release(struct klock *l)
{
    atomic_store(&l->state, 0);
    atomic_fetch_add(&l->site->releases, 1);
}

static struct pipe_info *pipe_alloc(void)
{
    struct pipe_info *p = &cache[cache_used++];
    p->lock.site = &pipe_site;
    p->files = 2;
    p->readers = 1;
    p->writers = 1;
    return p;
}

static void pipe_free(struct pipe_info *p)
{
    p->lock.site = NULL;
    p->buf[0] = 0;
    atomic_fetch_add(&cache_freed, 1);
}

static void pipe_release(struct inode *in, struct pipe_info *p, int writer)
{
    int kill = 0;
    klock_acquire(&p->lock);
    if (writer)
        p->writers--;
    else
        p->readers--;
    pthread_mutex_lock(&in->i_lock);
    if (--p->files == 0) {
        in->pipe = NULL;
        kill = 1;
    }
    pthread_mutex_unlock(&in->i_lock);
    klock_release(&p->lock);
    if (kill)
        pipe_free(p);
}

static void *reader_close(void *arg)
{
    struct inode *in = arg;
    struct pipe_info *p = in->pipe;
    klock_acquire(&p->lock);
    p->buf[0] = 'r';
    klock_release(&p->lock);
    pipe_release(in, p, 0);
    return NULL;
}

int main(void)
{
    struct inode in;
    unsigned long want = 0;
    int i;
    pthread_mutex_init(&in.i_lock, NULL);
    for (i = 0; i < NPIPES; i++) {
        pthread_t t;
        struct pipe_info *p = pipe_alloc();
        in.pipe = p;
        pthread_create(&t, NULL, reader_close, &in);
        klock_acquire(&p->lock);
        p->buf[1] = 'w';
        klock_release(&p->lock);
        pthread_mutex_lock(&in.i_lock);
        pthread_mutex_unlock(&in.i_lock);
        pipe_release(&in, p, 1);
        pthread_join(t, NULL);
        want += 4;
    }
    pthread_mutex_destroy(&in.i_lock);
    printf("%d freed, %lu releases\n", atomic_load(&cache_freed),
           atomic_load(&pipe_site.releases));
    return atomic_load(&pipe_site.releases) == want ? 0 : 1;
}
