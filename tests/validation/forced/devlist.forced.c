/* Device list in the manner of a kernel driver: circular doubly linked list;
 * deleted entries get poisoned links. Hot-unplug handlers remove entries. */
#include <unistd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define POISON1 ((struct list_head *)(uintptr_t)0x100)
#define POISON2 ((struct list_head *)(uintptr_t)0x200)
#define container(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))

struct list_head {
    struct list_head *next, *prev;
};

struct device {
    int minor;
    struct list_head link;
};

static struct list_head devices = { &devices, &devices };
static pthread_mutex_t stat_mutex = PTHREAD_MUTEX_INITIALIZER;
static int unplugged;

static void list_add_tail(struct list_head *n, struct list_head *head)
{
    n->prev = head->prev;
    n->next = head;
    head->prev->next = n;
    head->prev = n;
}

static void list_del(struct list_head *e)
{
    struct list_head *p = e->prev, *n = e->next;
 usleep(container(e, struct device, link)->minor == 2 ? 50000 : 10000);
    n->prev = p;
    p->next = n;
    e->next = POISON1;
    e->prev = POISON2;
}

static void *unplug(void *arg)
{
    struct device *d = arg;
    char msg[32];
    int len = snprintf(msg, sizeof msg, "device %d gone", d->minor);
    list_del(&d->link);
    pthread_mutex_lock(&stat_mutex);
    unplugged += len > 0;
    pthread_mutex_unlock(&stat_mutex);
    return NULL;
}

static int walk(void)
{
    int sum = 0;
    for (struct list_head *p = devices.next; p != &devices; p = p->next) {
        struct device *d = container(p, struct device, link);
        sum = sum * 10 + d->minor;
    }
    return sum;
}

int main(void)
{
    static struct device dev[6];
    pthread_t a, b;

    for (int i = 0; i < 6; i++) {
        dev[i].minor = i;
        list_add_tail(&dev[i].link, &devices);
    }
    unplug(&dev[5]);
    pthread_create(&a, NULL, unplug, &dev[2]);
    pthread_create(&b, NULL, unplug, &dev[3]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("unplugged %d, left %d\n", unplugged, walk());
    return 0;
}
