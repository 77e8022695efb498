#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NPRODUCERS 3
#define NTASKS 5

struct task {
    struct task *next;
    int cost;
};

struct event_loop {
    _Atomic(struct task *) inbox;
    atomic_flag awake;
    int rfd;
    int wfd;
    int ran;
    long cost;
};

struct producer {
    pthread_t tid;
    struct event_loop *loop;
    int base;
};

static int loop_open(struct event_loop *l)
{
    int fds[2];
    if (pipe(fds) != 0)
        return -1;
    l->rfd = fds[0];
    l->wfd = fds[1];
    atomic_init(&l->inbox, NULL);
    atomic_flag_clear(&l->awake);
    l->ran = 0;
    l->cost = 0;
    return 0;
}

static void loop_wake(struct event_loop *l)
{
    char c = 1;
    if (atomic_flag_test_and_set(&l->awake))
        return;
    while (write(l->wfd, &c, 1) < 0 && errno == EINTR)
        continue;
}

static void loop_submit(struct event_loop *l, int cost)
{
    struct task *t = malloc(sizeof *t);
    struct task *head = atomic_load(&l->inbox);
    t->cost = cost;
    do {
        t->next = head;
    } while (!atomic_compare_exchange_weak(&l->inbox, &head, t));
    loop_wake(l);
}

static void loop_drain(struct event_loop *l)
{
    struct task *t = atomic_exchange(&l->inbox, NULL);
    while (t) {
        struct task *next = t->next;
        l->cost += t->cost;
        l->ran++;
        free(t);
        t = next;
    }
}

static void loop_run(struct event_loop *l, int expected)
{
    char c;
    ssize_t n;
    while (l->ran < expected) {
        n = read(l->rfd, &c, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1)
            break;
        atomic_flag_clear(&l->awake);
        loop_drain(l);
    }
}

static void *producer_main(void *arg)
{
    struct producer *p = arg;
    int i;
    for (i = 0; i < NTASKS; i++)
        loop_submit(p->loop, p->base + i);
    return NULL;
}

int main(void)
{
    struct event_loop loop;
    struct producer p[NPRODUCERS];
    int i;
    if (loop_open(&loop) != 0)
        return 2;
    for (i = 0; i < NPRODUCERS; i++) {
        p[i].loop = &loop;
        p[i].base = i * 10;
        pthread_create(&p[i].tid, NULL, producer_main, &p[i]);
    }
    loop_run(&loop, NPRODUCERS * NTASKS);
    for (i = 0; i < NPRODUCERS; i++)
        pthread_join(p[i].tid, NULL);
    close(loop.rfd);
    close(loop.wfd);
    printf("ran %d cost %ld\n", loop.ran, loop.cost);
    return loop.cost == 180 ? 0 : 1;
}
