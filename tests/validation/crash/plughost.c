/* A host that runs audio plug-ins, one thread for each instance. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NPLUG 3
#define BLOCK 64
#define SETTLE_US 3000

struct plugin;

struct plugin_ops {
    int (*init)(struct plugin *);
    int (*process)(struct plugin *, int *block, int n);
    void (*fini)(struct plugin *);
};

struct plugin_desc {
    const char *label;
    const struct plugin_ops *ops;
    int blocks;
};

struct plugin {
    char label[16];
    const struct plugin_ops *ops;
    pthread_t tid;
    int blocks;
    int gain;
    long acc;
};

static int gain_init(struct plugin *p)
{
    p->gain = 3;
    return 0;
}

static int gain_process(struct plugin *p, int *block, int n)
{
    int i;

    for (i = 0; i < n; i++)
        p->acc += block[i] * p->gain;
    return n;
}

static void gain_fini(struct plugin *p)
{
    p->gain = 0;
}

static int clip_process(struct plugin *p, int *block, int n)
{
    int i;

    for (i = 0; i < n; i++)
        p->acc += block[i] > 20 ? 20 : block[i];
    return n;
}

static const struct plugin_ops gain_ops = { gain_init, gain_process, gain_fini };
static const struct plugin_ops clip_ops = { gain_init, clip_process, gain_fini };

static const struct plugin_desc catalogue[NPLUG] = {
    { "gain-left", &gain_ops, 4 },
    { "gain-right", &gain_ops, 4 },
    { "clip", &clip_ops, 6 },
};

static void *plugin_main(void *arg)
{
    struct plugin *p = arg;
    int *block = malloc(BLOCK * sizeof *block);
    int b, i;

    usleep(SETTLE_US);
    for (i = 0; i < BLOCK; i++)
        block[i] = (i * 7) % 31;
    if (p->ops->init(p) != 0) {
        free(block);
        return NULL;
    }
    for (b = 0; b < p->blocks; b++)
        p->ops->process(p, block, BLOCK);
    p->ops->fini(p);
    free(block);
    return NULL;
}

static struct plugin *plugin_start(const struct plugin_desc *d)
{
    struct plugin *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    strncpy(p->label, d->label, sizeof p->label - 1);
    p->blocks = d->blocks;
    if (pthread_create(&p->tid, NULL, plugin_main, p) != 0) {
        free(p);
        return NULL;
    }
    p->ops = d->ops;
    return p;
}

int main(void)
{
    struct plugin *inst[NPLUG];
    int i;

    for (i = 0; i < NPLUG; i++) {
        inst[i] = plugin_start(&catalogue[i]);
        if (!inst[i])
            return 1;
    }
    for (i = 0; i < NPLUG; i++) {
        pthread_join(inst[i]->tid, NULL);
        printf("%s: %ld\n", inst[i]->label, inst[i]->acc);
        free(inst[i]);
    }
    return 0;
}
