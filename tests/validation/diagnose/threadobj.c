/* Thread wrapper objects: the creator keeps the object in a table and the
 * new thread registers itself with the object's event target. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event_target {
    int accepted;
    const char *owner;
} event_target;

typedef struct thread_obj {
    pthread_t handle;
    char name[16];
    event_target *target;
    int status;
    unsigned seed;
} thread_obj;

static event_target *target_new(const char *owner)
{
    event_target *t = calloc(1, sizeof *t);
    t->owner = owner;
    return t;
}

static unsigned warm_up(unsigned seed)
{
    /* fill and mix a small private table before serving events */
    unsigned tab[512], x = seed;
    for (int round = 0; round < 60; round++)
        for (int i = 0; i < 512; i++) {
            x = x * 1664525u + 1013904223u;
            tab[i] = round ? tab[i] ^ x : x;
        }
    for (int i = 0; i < 512; i++)
        x += tab[i];
    return x;
}

static void *thread_main(void *arg)
{
    thread_obj *self = arg;
    self->seed = warm_up(self->seed);
    poll(NULL, 0, 3);               /* let the device settle */
    event_target *t = self->target;
    t->accepted++;
    self->status = 1;
    return NULL;
}

static int thread_init(thread_obj *o, const char *name, unsigned seed)
{
    memset(o, 0, sizeof *o);
    snprintf(o->name, sizeof o->name, "%s", name);
    o->seed = seed;
    if (pthread_create(&o->handle, NULL, thread_main, o))
        return -1;
    o->target = target_new(o->name);
    return 0;
}

int main(void)
{
    static const char *const names[] = { "socket", "timer" };
    thread_obj objs[2];
    int accepted = 0;

    for (int i = 0; i < 2; i++)
        if (thread_init(&objs[i], names[i], 17u * (unsigned)i + 3)) {
            perror("thread_init");
            return 2;
        }
    for (int i = 0; i < 2; i++) {
        pthread_join(objs[i].handle, NULL);
        accepted += objs[i].target->accepted * objs[i].status;
        free(objs[i].target);
    }
    printf("%d threads registered\n", accepted);
    return accepted == 2 ? 0 : 1;
}
