/* Grid painter: a loader thread reads the grid's layout from a header text,
 * a painter thread plans its rows from the layout and fills them. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layout {
    int rows;
    int stride;
};

struct plan {
    int cells;
    int shade;
};

struct window {
    size_t count;
    unsigned char *cell;
};

static unsigned char *store[4];         /* 128, 256, 384 bytes */
static struct layout layout = { .rows = 6 };
static const char header[] = "grid v2; rows=6; stride=32; depth=8";

static int field(const char *text, const char *key)
{
    const char *p = strstr(text, key);
    return p ? atoi(p + strlen(key)) : -1;
}

static void *loader(void *arg)
{
    const char *text = arg;
    layout.rows = field(text, "rows=");
    layout.stride = field(text, "stride=");
    return NULL;
}

static struct plan make_plan(int shade)
{
    struct plan p;
    int stride = layout.stride;
    p.cells = stride * 6;
    p.shade = shade;
    return p;
}

static struct window *window_open(const struct plan *p)
{
    struct window *w = malloc(sizeof *w);
    w->count = (size_t)p->cells;
    w->cell = store[(w->count + 127) / 128];
    return w;
}

__attribute__((noinline))
static void window_fill(struct window *w, int shade)
{
    w->cell[0] = 1;
    for (size_t i = 1; i < w->count; i++)
        w->cell[i] = (unsigned char)(w->cell[i - 1] * 3 + shade);
}

static void *painter(void *arg)
{
    unsigned *sum = arg;
    poll(NULL, 0, 6);               /* display settles */
    struct plan p = make_plan(5);
    struct window *w = window_open(&p);
    window_fill(w, p.shade);
    for (size_t i = 0; i < w->count; i++)
        *sum = *sum * 17 + w->cell[i];
    free(w);
    return NULL;
}

int main(void)
{
    pthread_t l, p;
    unsigned sum = 0;

    for (size_t i = 1; i < 4; i++)
        store[i] = calloc(i, 128);
    pthread_create(&l, NULL, loader, (void *)header);
    pthread_create(&p, NULL, painter, &sum);
    pthread_join(l, NULL);
    pthread_join(p, NULL);
    for (size_t i = 1; i < 4; i++)
        free(store[i]);
    printf("painted %d x %d: %08x\n", layout.rows, layout.stride, sum);
    return 0;
}
