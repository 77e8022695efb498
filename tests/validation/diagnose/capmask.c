#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define NMODULES 3
#define CAP_CORE 1u

struct registry {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    unsigned caps;
    int modules;
    int finished;
    const char *names[NMODULES + 1];
};

struct module {
    struct registry *registry;
    const char *name;
    unsigned cap;
    pthread_t thread;
};

static void registry_add(struct registry *r, const struct module *m)
{
    pthread_mutex_lock(&r->lock);
    r->caps |= m->cap;
    r->names[r->modules + 1] = m->name;
    r->modules++;
    pthread_mutex_unlock(&r->lock);
}

static void registry_done(struct registry *r)
{
    pthread_mutex_lock(&r->lock);
    r->finished++;
    pthread_cond_signal(&r->ready);
    pthread_mutex_unlock(&r->lock);
}

static void *module_main(void *arg)
{
    struct module *m = arg;
    sched_yield();
    registry_add(m->registry, m);
    registry_done(m->registry);
    return NULL;
}

static void registry_reset(struct registry *r)
{
    pthread_mutex_lock(&r->lock);
    r->caps = CAP_CORE;
    r->modules = 0;
    pthread_mutex_unlock(&r->lock);
}

static int registry_start(struct registry *r, struct module *modules)
{
    int i;
    pthread_mutex_lock(&r->lock);
    r->names[0] = "core";
    for (i = 0; i < NMODULES; i++) {
        modules[i].registry = r;
        if (pthread_create(&modules[i].thread, NULL, module_main, &modules[i]) != 0)
            return -1;
    }
    pthread_mutex_unlock(&r->lock);
    registry_reset(r);
    return 0;
}

static void registry_wait(struct registry *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->finished < NMODULES)
        pthread_cond_wait(&r->ready, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

int main(void)
{
    static struct registry r = { .lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER };
    static struct module modules[NMODULES] = {
        { .name = "codec", .cap = 2 }, { .name = "sip", .cap = 4 }, { .name = "voicemail", .cap = 8 }
    };
    unsigned want = CAP_CORE;
    int i;
    if (registry_start(&r, modules) < 0)
        return 2;
    registry_wait(&r);
    for (i = 0; i < NMODULES; i++) {
        want |= modules[i].cap;
        pthread_join(modules[i].thread, NULL);
    }
    printf("capabilities %x of %x, %d modules\n", r.caps, want, r.modules);
    return r.caps != want || r.modules != NMODULES;
}
