#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NDEVICES 4
#define NSCREENS 2
#define NROUNDS 3

struct winsys;

struct winsys_ops {
    int (*submit)(struct winsys *, int);
    const char *name;
};

struct winsys {
    pthread_mutex_t lock;
    int fd;
    int references;
    atomic_int submissions;
    const struct winsys_ops *ops;
    struct winsys *next_free;
};

struct screen {
    int fd;
    long work;
    pthread_t thread;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct winsys *table[NDEVICES];
static struct winsys *free_list;
static atomic_int created, destroyed;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static long frames_presented;

static int submit_ring(struct winsys *ws, int size)
{
    atomic_fetch_add_explicit(&ws->submissions, 1, memory_order_relaxed);
    return size * 2;
}

static const struct winsys_ops ring_ops = { submit_ring, "ring" };

static struct winsys *winsys_new(int fd)
{
    struct winsys *ws = free_list;
    if (ws != NULL)
        free_list = ws->next_free;
    else if ((ws = calloc(1, sizeof *ws)) == NULL)
        abort();
    ws->fd = fd;
    ws->references = 1;
    ws->ops = &ring_ops;
    atomic_fetch_add(&created, 1);
    return ws;
}

static struct winsys *winsys_get(int fd)
{
    struct winsys *ws;
    pthread_mutex_lock(&table_lock);
    ws = table[fd];
    if (ws != NULL)
        ws->references++;
    else
        ws = table[fd] = winsys_new(fd);
    pthread_mutex_unlock(&table_lock);
    return ws;
}

static int winsys_put(struct winsys *ws)
{
    int last;
    pthread_mutex_lock(&table_lock);
    last = --ws->references == 0;
    pthread_mutex_unlock(&table_lock);
    return last;
}

static void winsys_destroy(struct winsys *ws)
{
    pthread_mutex_lock(&table_lock);
    if (table[ws->fd] == ws)
        table[ws->fd] = NULL;
    ws->ops = NULL;
    ws->next_free = free_list;
    free_list = ws;
    pthread_mutex_unlock(&table_lock);
    atomic_fetch_add(&destroyed, 1);
}

static void screen_run(struct screen *s)
{
    struct winsys *ws = winsys_get(s->fd);
    s->work += ws->ops->submit(ws, 16);
    if (winsys_put(ws)) {
        winsys_destroy(ws);
    }
}

static void present(struct screen *s, int frame)
{
    pthread_mutex_lock(&log_lock);
    frames_presented++;
    pthread_mutex_unlock(&log_lock);
    s->work += frame;
}

static void *screen_main(void *arg)
{
    struct screen *s = arg;
    int i;
    for (i = 0; i < NROUNDS; i++) {
        screen_run(s);
        present(s, i);
    }
    return NULL;
}

int main(void)
{
    struct screen screens[NSCREENS];
    int i;
    for (i = 0; i < NSCREENS; i++) {
        screens[i] = (struct screen) { .fd = 3 };
        pthread_create(&screens[i].thread, NULL, screen_main, &screens[i]);
    }
    for (i = 0; i < NSCREENS; i++) {
        pthread_join(screens[i].thread, NULL);
        printf("screen %d: %ld\n", i, screens[i].work);
    }
    printf("%ld frames, %d created, %d destroyed\n", frames_presented, atomic_load(&created), atomic_load(&destroyed));
    return atomic_load(&created) != atomic_load(&destroyed);
}
