#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EV_KEY 1
#define EV_MOTION 2
#define EV_CLOSE 4

struct watch;
struct display;

typedef void (*watch_fn)(struct display *d, struct watch *w, int ev);

struct watch {
    char *label;
    int mask;
    int fired;
    int group;
    watch_fn fn;
    struct watch *next;
};

struct display {
    struct watch *watches;
    int dispatched;
    int removed;
};

static struct watch *watch_add(struct display *d, const char *label,
                               int group, int mask, watch_fn fn)
{
    struct watch *w = calloc(1, sizeof(*w));
    w->label = strdup(label);
    w->group = group;
    w->mask = mask;
    w->fn = fn;
    w->next = d->watches;
    d->watches = w;
    return w;
}

static void watch_remove(struct display *d, struct watch *w)
{
    struct watch **pp = &d->watches;
    while (*pp != NULL && *pp != w)
        pp = &(*pp)->next;
    if (*pp == NULL)
        return;
    *pp = w->next;
    d->removed++;
    free(w->label);
    free(w);
}

static struct watch *find_group(struct display *d, int group,
                                struct watch *except)
{
    struct watch *w;
    for (w = d->watches; w != NULL; w = w->next) {
        if (w->group == group && w != except)
            return w;
    }
    return NULL;
}

static void on_key(struct display *d, struct watch *w, int ev)
{
    (void)d;
    (void)ev;
    w->fired++;
}

static void on_motion(struct display *d, struct watch *w, int ev)
{
    (void)d;
    w->fired += ev;
}

static void on_close(struct display *d, struct watch *w, int ev)
{
    struct watch *peer;
    (void)ev;
    w->fired++;
    while ((peer = find_group(d, w->group, w)) != NULL)
        watch_remove(d, peer);
}

static size_t describe(const struct watch *w)
{
    return strlen(w->label) + (size_t)w->mask;
}

static size_t dispatch(struct display *d, int ev)
{
    size_t trace = 0;
    struct watch *w = d->watches;
    while (w != NULL) {
        struct watch *next = w->next;
        if (w->mask & ev) {
            w->fn(d, w, ev);
            d->dispatched++;
        }
        trace += describe(w);
        w = next;
    }
    return trace;
}

static void display_close(struct display *d)
{
    while (d->watches != NULL)
        watch_remove(d, d->watches);
}

int main(void)
{
    static struct display d;
    size_t trace = 0;

    watch_add(&d, "window-1 keys", 1, EV_KEY, on_key);
    watch_add(&d, "window-1 pointer", 1, EV_MOTION, on_motion);
    watch_add(&d, "window-2 keys", 2, EV_KEY, on_key);
    watch_add(&d, "window-2 pointer", 2, EV_MOTION, on_motion);
    watch_add(&d, "window-2 close", 2, EV_CLOSE, on_close);
    watch_add(&d, "window-3 keys", 3, EV_KEY | EV_MOTION, on_key);

    trace += dispatch(&d, EV_KEY);
    trace += dispatch(&d, EV_MOTION);
    trace += dispatch(&d, EV_CLOSE);
    trace += dispatch(&d, EV_KEY);

    printf("dispatched %d, removed %d, trace %zu\n",
           d.dispatched, d.removed, trace);
    display_close(&d);
    return 0;
}
